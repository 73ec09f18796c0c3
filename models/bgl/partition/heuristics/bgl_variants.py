"""Variants of BGL's partition: each changes one step of the paper's algorithm."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.assignment import Order
from ..algorithms.bgl import repaired_and_refined, scored
from ..instance import BglPartitionInstance, BglPartitionSolution


@method(kind="heuristic", reference="Liu et al. 2023, section 3, refined (ours)")
def bgl_refined(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    block_cap: int = 0,
) -> MethodOutcome:
    """BGL's partition, then moves and swaps while the cost falls.

    Parameters
    ----------
    block_cap : int, default 0
        As of `bgl`.

    Raises
    ------
    ModelRefused
        As `bgl`.
    """
    clock = Clock(limits)
    with clock.phase("blocks and assignment"):
        part = scored(instance, rng, block_cap=block_cap)
    with clock.phase("repair and refinement"):
        part = repaired_and_refined(instance, part, clock, rng, refine=True)
    return MethodOutcome(solution=BglPartitionSolution.of(part.tolist()), phases_s=clock.phases_s)


@method(kind="heuristic", reference="Liu et al. 2023, section 3, other orders (reconstructed)")
def bgl_order(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    order: Order = "size",
    pops: int = 1,
    block_cap: int = 0,
    repair: bool = True,
) -> MethodOutcome:
    """BGL's partition with blocks visited in another order, or fronts that grow faster.

    Without the repair it is the partition as its score leaves it: loads may exceed the caps.

    Parameters
    ----------
    order : "bfs" or "size", default "size"
        Blocks in breadth-first order, as `bgl` visits them, or the largest first.
    pops : int, default 1
        Nodes that each front takes from its queue in a round.
    block_cap : int, default 0
        As of `bgl`.
    repair : bool, default True

    Raises
    ------
    ModelRefused
        As `bgl`.
    """
    clock = Clock(limits)
    with clock.phase("blocks and assignment"):
        part = scored(instance, rng, block_cap=block_cap, order=order, pops=pops)
    with clock.phase("repair"):
        part = repaired_and_refined(instance, part, clock, rng, repair=repair)
    return MethodOutcome(solution=BglPartitionSolution.of(part.tolist()), phases_s=clock.phases_s)
