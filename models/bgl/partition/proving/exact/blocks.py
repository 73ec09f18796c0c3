"""Exact on contracted blocks: the best partition that keeps BGL's blocks together."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.coarsening import grow_blocks
from ...formulations.clauses import (
    ClauseModel,
    Units,
)
from ...instance import (
    BglPartitionInstance,
    BglPartitionSolution,
)


@method(kind="heuristic", reference="(2) on contracted blocks")
def blocks(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    most_blocks: int = 60,
) -> MethodOutcome:
    """The best partition that keeps BGL's blocks together (native CP-SAT).

    It is a restriction: its cost bounds the optimum from above. Where blocks cannot be divided
    within the caps there is none.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
    rng : numpy.random.Generator
        Draws the sources of the blocks.
    most_blocks : int, default 60
        Fronts that grow; components that none of them reaches become further blocks.
    """
    clock = Clock(limits)
    n = instance.num_nodes
    if most_blocks < instance.used_parts:
        raise ModelRefused(f"most_blocks: {most_blocks}, expected at least the number of parts")
    count = min(n, most_blocks)
    with clock.phase("build"):
        cap = max(1, min(-(-n // count), instance.node_cap))
        block = grow_blocks(instance.graph, cap, rng.permutation(n)[:count], 1)
        units = Units.of_blocks(instance, block)
        model = ClauseModel(units)
        model.complete()
    solved = solve_cp(model.model, clock.limits(), seed_of(rng))
    if solved.values is None:
        return MethodOutcome.of(solved, dual_bound=None, trace=(), phases_s=clock.phases_s)
    part = np.array(model.decode(solved.values))[block]
    return MethodOutcome.of(
        solved,
        BglPartitionSolution.of(part.tolist()),
        dual_bound=None,
        trace=(),
        claimed_objective=instance.pair_weights.cut(part),
        phases_s=clock.phases_s,
        notes={"blocks": len(units.nodes)},
    )
