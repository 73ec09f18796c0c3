"""Bounds without branching, each with its certificate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import OneFlowSbpInstance
from ...subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from ...subproblems.label_graph import label_graph
from ..certificate.records import MOST_CELLS
from ..dominance import Undominated, undominated
from ..elimination import (
    OutOfTime,
    eliminate,
)
from ..lagrangian import Pricing
from ..messages import (
    Message,
    Reparametrisation,
    Reweighting,
)
from ..order import elimination_order
from ..proof import ProofWriter
from ..reweighted import MessageProof


@method(kind="relaxation", reference="3.8 (ii); reconstructed", formulation="elimination")
def lagrangian(instance: OneFlowSbpInstance, limits: Limits) -> MethodOutcome:
    r"""Elimination with memory priced in, at the best price.

    Return :math:`\max_\lambda L(\lambda)`, by elimination for each multiplier.

    Where elimination is too wide, by messages. An assignment met on the way that fits the memory is
    the incumbent.
    """
    clock = Clock(limits)
    graph = label_graph(instance)
    groups = len(instance.placements)
    pricing = Pricing(graph, groups, 2**26, lambda: clock.expired, limits.rel_gap)
    try:
        limit = instance.memory_limit_bytes
        crowded = (
            [] if limit is None else [g for g in range(groups) if pricing.lightest(g).value > limit]
        )
        if crowded:
            return MethodOutcome(proved=Status.INFEASIBLE)
        ascent = pricing.best()
    except OutOfTime:
        return MethodOutcome(limit_hit="time_s")
    if ascent.bound.bound >= FORBIDDEN:
        return MethodOutcome(proved=Status.INFEASIBLE)
    fitting = [p for p in ascent.points if p.fits(graph.limit_bytes)]
    best = min(fitting, key=lambda p: p.cost, default=None)
    writer = ProofWriter(graph)
    leaf = writer.leaf(ascent.bound)
    return MethodOutcome(
        solution=None if best is None else graph.solution(best.labels),
        dual_bound=Fraction(ascent.bound.bound, graph.scale),
        certificate=writer.certificate((leaf,)),
        limit_hit="time_s" if clock.expired else None,
        notes={"multipliers": [float(m) for m in leaf.multipliers]},
    )


@method(kind="relaxation", reference="TRW-S; reconstructed", formulation="messages")
def reparametrisation(
    instance: OneFlowSbpInstance, limits: Limits, *, sweeps: int = 100
) -> MethodOutcome:
    """Costs moved between tables by reweighted messages.

    Return the bound of reweighted messages, without the memory limit.

    It comes close to the linear relaxation (2), whatever the graph's width.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
    sweeps : int
        Passes along all operators, forward and backward.
    """
    clock = Clock(limits)
    graph = label_graph(instance)
    reduced, without = _reduced(graph)
    state = Reweighting(reduced)
    best: tuple[int, list[Message]] | None = None
    for sweep in range(1, sweeps + 1):
        state.sweep()
        if sweep % 10 == 0 or sweep == sweeps or clock.expired:
            messages = state.messages()
            bound = Reparametrisation(reduced, messages).bound
            if best is None or bound > best[0]:
                best = bound, messages
        if clock.expired:
            break
    bound, messages = best or (0, state.messages())
    proof = MessageProof(messages, [(u, v) for u, v, _ in reduced.edges], without.replaced)
    return _outcome(graph, bound, proof, "time_s" if clock.expired else None)


@method(kind="relaxation", reference="mini-buckets; reconstructed", formulation="elimination")
def mini_buckets(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    most_cells: int = 2**14,
) -> MethodOutcome:
    """Elimination whose large buckets are split.

    Return the bound of an elimination with split buckets, without the memory limit.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
    most_cells : int
        Sums of a bucket.
    """
    clock = Clock(limits)
    graph = label_graph(instance)
    order = elimination_order([len(d) for d in graph.domains], graph.edges)
    most_cells = min(most_cells, MOST_CELLS)
    try:
        done = eliminate(graph, order, most_cells, lambda: clock.expired)
    except OutOfTime:
        return MethodOutcome(limit_hit="time_s")
    if not done.feasible:
        return MethodOutcome(proved=Status.INFEASIBLE)
    writer = ProofWriter(graph)
    return MethodOutcome(
        dual_bound=Fraction(done.value, graph.scale),
        certificate=writer.certificate((writer.eliminated(done),)),
        notes={"split": len(done.split)},
    )


@method(kind="relaxation", reference="3.8 (iii); reconstructed", formulation="messages")
def compute_only(instance: OneFlowSbpInstance) -> MethodOutcome:
    """The cheapest compute of every operator."""
    graph = label_graph(instance)
    reduced, without = _reduced(graph)
    messages = [
        (np.zeros(len(reduced.domains[u]), np.int64), np.zeros(len(reduced.domains[v]), np.int64))
        for u, v, _ in reduced.edges
    ]
    proof = MessageProof(messages, [(u, v) for u, v, _ in reduced.edges], without.replaced)
    return _outcome(graph, Reparametrisation(reduced, messages).bound, proof, None)


def _reduced(graph: LabelGraph) -> tuple[LabelGraph, Undominated]:
    merged = graph.merged()
    without = undominated(merged)
    return merged.restricted(without.kept), without


def _outcome(
    graph: LabelGraph, bound: int, proof: MessageProof, limit_hit: str | None
) -> MethodOutcome:
    if bound >= FORBIDDEN:
        return MethodOutcome(proved=Status.INFEASIBLE)
    writer = ProofWriter(graph)
    return MethodOutcome(
        dual_bound=Fraction(bound, graph.scale),
        certificate=writer.certificate((writer.moved(proof),)),
        limit_hit=limit_hit,
    )
