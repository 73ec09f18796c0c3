r"""F1 with boards: which GPUs of which server each job has.

Beside F1's variables, :math:`y_{jsA} = 1` if job j has the GPUs A of server s, for all sets A of
GPUs of its board for one or more whole tasks, and :math:`c_j` is what an iteration pays for
communication. With :math:`b_s(A)` the ring over A,

.. math::
    & \sum_A y_{jsA} = w_{js}, \quad \sum_A |A|\, y_{jsA} = g_j x_{js}                    \tag{7} \\
    & \sum_j \sum_{A \ni g} y_{jsA} \le 1                                              \tag{8} \\
    & c_j \ge \beta^{rack}_j \mu_j + (\beta^{cross}_j - \beta^{rack}_j) \chi_j, \quad
      c_j \ge \sum_A V_j / b_s(A)\, y_{jsA} \ \ \forall s                                \tag{9}

and :math:`t_j \ge t^0_j (1 + \sigma_j) + c_j`. Without boards this is F1.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ...formulations.assignment import build_rows
from ...instance import PlacementInstance, PlacementSolution
from .patterns import add_comm, with_rings_s

#: Sets of GPUs of a job on a server, in all, for which a model is built. By definition.
MOST_SETS = 100_000


@formulation(model_class="MILP", equations="F1 (1)-(9) (reconstructed)")
def build(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Tasks of jobs on servers, and the GPUs of each job on boards.

    Raises
    ------
    ModelRefused
        If slowdowns are measured, or there are too many pairs of jobs or sets of GPUs.
    """
    m = build_rows(instance, "mccormick")
    ways = [(j, s, gpus) for j in m.J for s in m.S for gpus in _sets(instance, j, s)]
    if len(ways) > MOST_SETS:
        raise ModelRefused(f"{len(ways)} sets of GPUs, expected at most {MOST_SETS}")
    m.W = pyo.RangeSet(0, len(ways) - 1)
    m.y = pyo.Var(m.W, domain=pyo.Binary, doc="job j has the GPUs A of server s")
    m.ways = ways
    of_pair: dict[tuple[int, int], list[int]] = {}
    of_gpu: dict[tuple[int, int], list[int]] = {}
    for k, (j, s, gpus) in enumerate(ways):
        of_pair.setdefault((j, s), []).append(k)
        for g in gpus:
            of_gpu.setdefault((s, g), []).append(k)
    m.JSY = pyo.Set(dimen=2, initialize=sorted(of_pair))
    m.SG = pyo.Set(dimen=2, initialize=sorted(of_gpu))

    @m.Constraint(m.JSY, doc="(7): one set of GPUs on a server")
    def one_set(m: Any, j: int, s: int) -> Any:
        return sum(m.y[k] for k in of_pair[j, s]) == m.w[j, s]

    @m.Constraint(m.JSY, doc="(7): GPUs of all tasks there")
    def enough(m: Any, j: int, s: int) -> Any:
        had = sum(len(ways[k][2]) * m.y[k] for k in of_pair[j, s])
        return had == instance.jobs[j].gpus_per_task * m.x[j, s]

    @m.Constraint(m.SG, doc="(8): a GPU has one job")
    def shared(m: Any, s: int, g: int) -> Any:
        return sum(m.y[k] for k in of_gpu[s, g]) <= 1

    add_comm(m, instance)

    @m.Constraint(m.JSY, doc="(9): the ring inside a server")
    def ring(m: Any, j: int, s: int) -> Any:
        paid = [(instance.inside_s(j, {s: ways[k][2]}), k) for k in of_pair[j, s]]
        if not any(seconds for seconds, _ in paid):
            return pyo.Constraint.Skip
        return m.comm[j] >= sum(coefficient(x) * m.y[k] for x, k in paid if x != Fraction(0))

    m.mean_completion_s = pyo.Objective(expr=with_rings_s(m, instance), doc="(F1)")
    return m


def _sets(instance: PlacementInstance, j: int, s: int) -> list[tuple[int, ...]]:
    """Return the sets of GPUs that a job may have on a server."""
    each = instance.jobs[j].gpus_per_task
    if not instance.boards or not each:
        return []
    gpus = range(instance.servers[s].gpus)
    most = instance.most_tasks(j, s)
    sizes = range(each, each * most + 1, each)
    return [chosen for size in sizes for chosen in itertools.combinations(gpus, size)]


def decode(m: pyo.ConcreteModel, instance: PlacementInstance) -> PlacementSolution:
    """Return the tasks of every job on the servers, and its GPUs there."""
    found = PlacementSolution.of([{s: round(pyo.value(m.x[j, s])) for s in m.S} for j in m.J])
    if not instance.boards:
        return found
    had = {(j, s): gpus for k, (j, s, gpus) in enumerate(m.ways) if pyo.value(m.y[k]) > 0.5}
    return found.model_copy(
        update={
            "gpus": tuple(
                tuple(had.get((j, s), ()) for s, _ in pairs) for j, pairs in enumerate(found.tasks)
            )
        }
    )
