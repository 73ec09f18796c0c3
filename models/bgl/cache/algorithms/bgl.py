"""BGL's caching: a proximity-aware order of the training nodes, and a FIFO cache."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import CacheInstance
from ..subproblems.intervals import intervals_of, solution_of
from ..subproblems.replay import replay
from ..subproblems.sequences import Proximity, fewest_sequences, graph_of
from ..subproblems.sweep import keep_earliest_ends


@method(kind="heuristic", reference="BGL, section 3.2 (recalled)")
def bgl(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    sequences: int = 0,
    most_sequences: int = 10,
    tolerance: float = 1.0,
    policy: Literal["fifo", "lru", "lfu", "belady"] = "fifo",
) -> MethodOutcome:
    r"""Training nodes by breadth-first sequences in turn, features in a FIFO cache.

    Return the order of BGL with its cache (recalled; details reconstructed).

    With one cache, unit sizes and the parameters' defaults it is the same result as `plain`,
    tested.

    1. Breadth-first sequences of the training nodes from random roots, circularly shifted.
    2. Mini-batches take nodes from the sequences in turn. The number of sequences is the least
       whose shuffling error is below :math:`\sqrt{bw} / n`, with b nodes a batch, w workers and n
       training nodes; the one of least error if none is.
    3. Features in a first-in, first-out cache.

    Parameters
    ----------
    instance : CacheInstance
        With a graph, and a free order.
    rng : numpy.random.Generator
        Roots and shifts.
    sequences : int, default 0
        Their number; 0 chooses it.
    most_sequences : int, default 10
        Most sequences that are tried.
    tolerance : float, default 1
        Times :math:`\sqrt{bw} / n`, the error that is allowed.
    policy : "fifo", "lru", "lfu" or "belady", default "fifo"
        "belady" is the offline optimum for the order, for unit sizes and equal weights.

    Notes
    -----
    O(nodes + edges) for a sequence, O(1) for a requested feature. No ratio is proved.

    Raises
    ------
    ModelRefused
        If there is no graph, or the order is given.
    """
    proximity = Proximity(graph_of(instance), instance.batch_size)
    if sequences > 0:
        order = proximity.order(sequences, rng)
        error = proximity.shuffling_error(order, rng)
    else:
        allowed = tolerance * proximity.allowed_error()
        order, sequences, error = fewest_sequences(proximity, most_sequences, allowed, rng)
    notes = {"sequences": sequences, "shuffling_error": error}
    if policy != "belady":
        return MethodOutcome(solution=replay(instance, order, policy), notes=notes)
    if not (instance.unit_sizes and instance.unit_weights) or instance.host_capacity:
        raise ModelRefused("policy: belady needs unit sizes, equal weights and one cache")
    intervals = intervals_of(instance.batches(tuple(order)))
    kept = keep_earliest_ends(intervals, instance.capacity)
    return MethodOutcome(solution=solution_of(instance, order, kept, intervals), notes=notes)
