"""BGL's caching: a proximity-aware order of the training nodes, and a FIFO cache."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import CacheInstance
from ..subproblems.replay import replay
from ..subproblems.sequences import MOST_SEQUENCES, proximity_order


@method(kind="heuristic", reference="BGL, section 3.2 (recalled)")
def bgl(
    instance: CacheInstance,
    rng: np.random.Generator,
    *,
    sequences: int = 0,
    most_sequences: int = MOST_SEQUENCES,
) -> MethodOutcome:
    r"""Training nodes by breadth-first sequences in turn, features in a FIFO cache.

    Return the order of BGL with its cache (recalled; details reconstructed).

    With one cache, unit sizes and `sequences` to be found it is the same result as `plain`,
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
        Their number; 0: step 2 finds it.
    most_sequences : int, default 10
        Most sequences that are tried.

    Notes
    -----
    O(nodes + edges) for a sequence, O(1) for a requested feature. No ratio is proved.

    Raises
    ------
    ModelRefused
        If there is no graph, or the order is given.
    """
    order, notes = proximity_order(instance, rng, sequences, most_sequences)
    return MethodOutcome(solution=replay(instance, order, "fifo"), notes=notes)
