"""Parts that arc flow and patterns share: the makespan, and decoding to jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyomo.core as pyo

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution


def add_makespan(
    m: pyo.ConcreteModel, ending: Mapping[int, Any], bound: int, machines: int, domain: Any
) -> None:
    r"""Add the makespan to a model that knows how many machines have which load.

    With :math:`v_1 < v_2 < \dots` the loads above the bound L, :math:`v_0 = L`, and :math:`e_v` the
    number of machines of load v, it is :math:`L + \sum_k (v_k - v_{k-1}) y_k` with
    :math:`\sum_{v \ge v_k} e_v \le m\, y_k`.
    """
    above = [bound, *sorted(v for v in ending if v > bound)]
    m.K = pyo.RangeSet(1, len(above) - 1)
    m.y = pyo.Var(m.K, domain=domain, doc="the makespan is at least v_k")

    @m.Constraint(m.K, doc="a machine of such a load makes the makespan so long")
    def reaches(m: Any, k: int) -> Any:
        return sum(x for v, x in ending.items() if v >= above[k]) <= machines * m.y[k]

    m.objective = pyo.Objective(
        expr=bound + sum((above[k] - above[k - 1]) * m.y[k] for k in m.K), doc="the makespan"
    )


def jobs_by_time(
    instance: ParallelMachinesInstance, times_of_machine: Iterable[Iterable[int]]
) -> ParallelMachinesSolution:
    """Return the solution in which each machine has jobs of these processing times."""
    jobs_of_time = defaultdict(list)
    for j in reversed(range(len(instance.processing_s))):
        jobs_of_time[instance.processing_s[j]].append(j)
    return ParallelMachinesSolution.of(
        [[jobs_of_time[d].pop() for d in times] for times in times_of_machine]
    )
