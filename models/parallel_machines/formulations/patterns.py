r"""The pattern model: an integer variable for every set of jobs that a machine can have.

A pattern P is a multiset of processing times, :math:`a_{dP}` of each d, with
:math:`a_{dP} \le b_d`, the number of jobs of d, and a load :math:`\sum_d d\, a_{dP}` of at most U,
LPT's makespan. Parameters: L, the combinatorial bound; :math:`v_1 < v_2 < \dots` the loads above L,
:math:`v_0 = L`. Variables: :math:`\lambda_P`, the number of machines with pattern P;
:math:`y_k = 1` if the makespan is at least :math:`v_k`.

.. math::
    \min\ & L + \sum_k (v_k - v_{k-1})\, y_k                                       \tag{P1} \\
    & \sum_P a_{dP}\, \lambda_P = b_d                  \quad \forall d             \tag{P2} \\
    & \sum_P \lambda_P = m                                                         \tag{P3} \\
    & \sum_{P: \text{load} \ge v_k} \lambda_P \le m\, y_k   \quad \forall k        \tag{P4} \\
    & \lambda_P \in \mathbb{Z}_{\ge 0}                                             \tag{P5} \\
    & y_k \in \{0, 1\}                                                             \tag{P6}

The empty pattern is one of them. Patterns are the paths of the arc-flow model, less those with more
jobs of a processing time than there are; the linear relaxation is at least as strong. Patterns are
enumerated here; where they are too many, `proving/bounds/patterns.py` generates columns.

P. C. Gilmore, R. E. Gomory, "A Linear Programming Approach to the Cutting-Stock Problem",
Operations Research 9 (1961) 849-859.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..algorithms.graham import list_schedule, makespan_s
from ..counting import combinatorial_bound
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .makespan import add_makespan, jobs_by_time
from .numbers import check_digits

#: Patterns of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_PATTERNS = 50_000

#: Number of jobs of each distinct processing time, the longest first.
Pattern = tuple[int, ...]


def enumerate_patterns(instance: ParallelMachinesInstance, longest_s: int) -> list[Pattern]:
    """Return all patterns of at most this load.

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    found: list[tuple[Pattern, int]] = [((), 0)]
    for d, count in instance.demand.items():
        found = [
            ((*pattern, a), load_s + a * d)
            for pattern, load_s in found
            for a in range(min(count, (longest_s - load_s) // d) + 1)
        ]
        if len(found) > MOST_PATTERNS:
            raise ModelRefused(f"there are more than {MOST_PATTERNS} patterns")
    return [pattern for pattern, _ in found]


@formulation(model_class="ILP", equations="(P1)-(P6)", backends=("highs", "cpsat"))
def build(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """An integer variable for every set of jobs that a machine can have.

    Raises
    ------
    ModelRefused
        If there are too many patterns.
    """
    longest_s = makespan_s(instance, list_schedule(instance, instance.longest_first))
    patterns = enumerate_patterns(instance, longest_s)
    m = build_packing(instance, patterns)
    m.del_component(m.objective)
    of_load: dict[int, list[Any]] = defaultdict(list)
    for P in m.P:
        load_s = sum(a * d for a, d in zip(patterns[P], instance.demand, strict=True))
        of_load[load_s].append(m.count[P])
    # (P1), (P4)
    ending = {load_s: sum(counts) for load_s, counts in of_load.items()}
    add_makespan(m, ending, combinatorial_bound(instance), instance.used_machines, pyo.Binary)
    return m


def build_packing(
    instance: ParallelMachinesInstance, patterns: Sequence[Pattern]
) -> pyo.ConcreteModel:
    """Build (P2), (P3) and (P5) over some patterns, in which every processing time occurs."""
    check_digits(instance)
    times_s, machines = list(instance.demand), instance.used_machines
    with_time: list[list[int]] = [[] for _ in times_s]
    for P, pattern in enumerate(patterns):
        for t, a in enumerate(pattern):
            if a:
                with_time[t].append(P)

    m = pyo.ConcreteModel("patterns")
    m.P = pyo.RangeSet(0, len(patterns) - 1)
    m.D = pyo.RangeSet(0, len(times_s) - 1)
    m.patterns = list(patterns)
    m.count = pyo.Var(
        m.P, domain=pyo.NonNegativeIntegers, bounds=(0, machines), doc="(P5): machines with P"
    )

    @m.Constraint(m.D, doc="(P2): every job is on a machine")
    def demand(m: Any, t: int) -> Any:
        taken = sum(patterns[P][t] * m.count[P] for P in with_time[t])
        return taken == instance.demand[times_s[t]]

    m.all_machines = pyo.Constraint(
        expr=sum(m.count[P] for P in m.P) == machines, doc="(P3): every machine has a pattern"
    )
    m.objective = pyo.Objective(expr=0)
    return m


def decode(m: pyo.ConcreteModel, instance: ParallelMachinesInstance) -> ParallelMachinesSolution:
    """Give each machine jobs of the processing times of its pattern."""
    times_s = list(instance.demand)
    machines = [
        [d for d, a in zip(times_s, m.patterns[P], strict=True) for _ in range(a)]
        for P in m.P
        for _ in range(round(pyo.value(m.count[P])))
    ]
    return jobs_by_time(instance, machines)
