"""BGL's multi-level partition: blocks, merging, assignment, and what we add to it."""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..graph import Graph
from ..instance import BglPartitionInstance, BglPartitionSolution
from ..subproblems.balance import balanced
from ..subproblems.local_search import Weighted, improve
from .assignment import Order, assign_blocks
from .coarsening import grow_blocks, merge_blocks


@method(kind="heuristic", reference="Liu et al. 2023, section 3")
def bgl(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    block_cap: int = 0,
    least_block: int = 0,
    hops: int = 2,
) -> MethodOutcome:
    """Breadth-first blocks, small ones merged, assigned by the product score (4).

    Before the repair it is the same result as `plain`, tested (`bgl_order` may end there).

    1. Breadth-first fronts grow from random sources into blocks of at most `block_cap` nodes.
    2. Blocks of fewer than `least_block` nodes are merged into neighbours.
    3. Blocks go to the parts of the best score (4), one after the other.
    4. Every node inherits the part of its block.

    No ratio is proven. The score is soft: loads may exceed the caps, which is repaired (ours) by
    moving the nodes that lose the least.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        Its clock takes the phases' seconds.
    rng : numpy.random.Generator
        Draws the sources.
    block_cap : int, default 0
        Most nodes of a block; 0 is n / (2k), the paper has some 100,000.
    least_block : int, default 0
        0 is a quarter of `block_cap` (reconstructed).
    hops : int, default 2
        J of (4).

    Notes
    -----
    O(J |E|) a block for step 3 at worst, O(|E|) for the rest. Merging, order and ties are
    reconstructed.
    """
    clock = Clock(limits)
    with clock.phase("blocks and assignment"):
        part = scored(instance, rng, block_cap=block_cap, least_block=least_block, hops=hops)
    with clock.phase("repair"):
        part = repaired_and_refined(instance, part, clock, rng)
    return MethodOutcome(solution=BglPartitionSolution.of(part.tolist()), phases_s=clock.phases_s)


def scored(
    instance: BglPartitionInstance,
    rng: np.random.Generator,
    *,
    block_cap: int = 0,
    least_block: int = 0,
    hops: int = 2,
    order: Order = "bfs",
    pops: int = 1,
) -> Ints:
    """Return the part of every node by steps 1 to 4; loads may exceed the caps.

    Raises
    ------
    ModelRefused
        If a parameter is out of its range.
    """
    trained = np.zeros(instance.num_nodes, dtype=bool)
    trained[list(instance.train_nodes)] = True
    return bgl_parts(
        instance.graph, trained, instance.used_parts, rng,
        block_cap=block_cap, least_block=least_block, hops=hops, order=order, pops=pops,
    )  # fmt: skip


def bgl_parts(
    graph: Graph,
    trained: Bools,
    parts: int,
    rng: np.random.Generator,
    *,
    block_cap: int = 0,
    least_block: int = 0,
    hops: int = 2,
    order: Order = "bfs",
    pops: int = 1,
) -> Ints:
    """Return the part of every node by steps 1 to 4, on arrays of any size.

    Raises
    ------
    ModelRefused
        If a parameter is out of its range.
    """
    for name, value, least in (
        ("block_cap", block_cap, 0), ("least_block", least_block, 0), ("hops", hops, 1),
        ("pops", pops, 1),
    ):  # fmt: skip
        if value < least:
            raise ModelRefused(f"{name}: {value}, expected at least {least}")
    n = graph.num_nodes
    cap = block_cap or max(1, n // (2 * parts))
    sources = rng.permutation(n)[: min(n, max(parts, -(-n // cap)))]
    block = grow_blocks(graph, cap, sources, pops)
    block = merge_blocks(graph, block, cap, least_block or cap // 4)
    return assign_blocks(graph, block, trained, parts, hops, order)


def repaired_and_refined(
    instance: BglPartitionInstance,
    part: Ints,
    clock: Clock,
    rng: np.random.Generator,
    *,
    repair: bool = True,
    refine: bool = False,
) -> Ints:
    """Return a partition with its loads repaired and its cost refined, as wished."""
    if not repair and not refine:
        return part
    weighted = Weighted.of(instance)
    if repair:
        part = balanced(
            part, weighted.trained, weighted.pull(part), instance.node_cap, instance.train_cap
        )
    if refine:
        part = improve(weighted, part, clock, rng, memory=False)
    return part
