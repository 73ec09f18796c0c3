"""Variants of BGL's caching: each changes one step of the paper's algorithm."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import CacheInstance
from ..subproblems.intervals import intervals_of, solution_of
from ..subproblems.replay import replay
from ..subproblems.sequences import MOST_SEQUENCES, proximity_order
from ..subproblems.sweep import keep_earliest_ends


@method(kind="heuristic", reference="BGL, one step changed (reconstructed)")
def bgl_policy(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    policy: Literal["lru", "lfu", "belady"] = "lru",
    sequences: int = 0,
    most_sequences: int = MOST_SEQUENCES,
) -> MethodOutcome:
    """BGL's order, and another cache than FIFO.

    Parameters
    ----------
    policy : "lru", "lfu" or "belady", default "lru"
        "belady" is the best that any cache can do with the order.
    sequences, most_sequences : int
        As of `bgl`.

    Raises
    ------
    ModelRefused
        As `bgl`; for "belady" also if sizes or weights differ, or there is a host's cache.
    """
    order, notes = proximity_order(instance, rng, sequences, most_sequences)
    if policy != "belady":
        return MethodOutcome(solution=replay(instance, order, policy), notes=notes)
    if not (instance.unit_sizes and instance.unit_weights) or (
        instance.host_capacity or instance.gpus is not None
    ):
        raise ModelRefused("policy: belady needs unit sizes, equal weights and one cache")
    intervals = intervals_of(instance.batches(tuple(order)))
    kept = keep_earliest_ends(intervals, instance.capacity)
    return MethodOutcome(solution=solution_of(instance, order, kept, intervals), notes=notes)


@method(kind="heuristic", reference="BGL, one step changed (reconstructed)")
def bgl_tolerance(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    tolerance: float = 10.0,
    most_sequences: int = MOST_SEQUENCES,
) -> MethodOutcome:
    r"""BGL with another limit on the shuffling error.

    Parameters
    ----------
    tolerance : float, default 10
        Times :math:`\sqrt{bw} / n`, the error that is allowed; 1 is the paper's.
    most_sequences : int, default 10
        As of `bgl`.

    Raises
    ------
    ModelRefused
        As `bgl`.
    """
    order, notes = proximity_order(
        instance, rng, most_sequences=most_sequences, tolerance=tolerance
    )
    return MethodOutcome(solution=replay(instance, order, "fifo"), notes=notes)
