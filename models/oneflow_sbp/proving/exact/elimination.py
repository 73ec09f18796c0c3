"""One bucket elimination: the optimum without a memory limit, where no table is too large."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import OneFlowSbpInstance
from ...subproblems.label_graph import label_graph
from ..elimination import (
    MOST_CELLS,
    OutOfTime,
    TooWide,
    eliminate,
)
from ..order import elimination_order
from ..proof import ProofWriter


@method(kind="exact", reference="3.7; reconstructed", formulation="elimination")
def elimination(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    most_sums: int = 2**32,
) -> MethodOutcome:
    r"""Bucket elimination, smallest table first; without a memory limit.

    Return an optimal solution by dynamic programming.

    :math:`O(\sum_o \prod_{v \in N(o) \cup \{o\}} |K_v|)` with the neighbours N(o) at the time when
    o is eliminated; buckets of equal tables count once. OneFlow's node, edge and child eliminations
    are the steps with at most two neighbours.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
    most_sums : int
        Of all buckets together.

    Raises
    ------
    ModelRefused
        If there is a memory limit, or elimination would take too many sums.
    """
    if instance.memory_limit_bytes is not None:
        raise ModelRefused("memory_limit_bytes: elimination has no memory limit")
    clock = Clock(limits)
    with clock.phase("tables"):
        graph = label_graph(instance)
    with clock.phase("order"):
        order = elimination_order([len(d) for d in graph.domains], graph.edges)
    try:
        with clock.phase("eliminate"):
            done = eliminate(graph, order, MOST_CELLS, lambda: clock.expired, most_sums)
    except OutOfTime:
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    except TooWide:
        raise ModelRefused(f"most_sums: elimination takes more than {most_sums} sums") from None
    if not done.feasible:
        return MethodOutcome(proved=Status.INFEASIBLE, phases_s=clock.phases_s)
    bound = Fraction(done.value, graph.scale)
    writer = ProofWriter(graph)
    return MethodOutcome(
        solution=graph.solution(done.labels()),
        claimed_objective=bound if graph.exact else None,
        dual_bound=bound,
        certificate=writer.certificate((writer.eliminated(done),)),
        phases_s=clock.phases_s,
    )
