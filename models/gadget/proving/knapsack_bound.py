r"""Multiple-choice knapsack bound of a slot, by total capacity alone.

Without bandwidth and server boundaries (reconstructed) the slot problem is a multiple-choice
knapsack, one ring size per job, solved by dynamic programming. If rings of the optimal sizes can be
embedded, they are optimal for the slot (proposition P5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..subproblems.hull import fractional_choice
from ..subproblems.slot_problem import SlotProblem
from .certificate.check import MOST_ENTRIES


@dataclass(frozen=True)
class SizeChoice:
    """A ring size for every job of a slot problem, and a bound on the slot's optimum.

    Attributes
    ----------
    sizes : tuple of int or None
        In the order of `SlotProblem.jobs`; None where only the bound is known.
    bound : float
    """

    sizes: tuple[int, ...] | None
    bound: float


def knapsack_bound(problem: SlotProblem) -> SizeChoice:
    """Return the best ring sizes by total capacity, with the least bound over the resources.

    With several resources the sizes are those of the resource with the least bound, and may
    violate the others.
    """
    terms = problem.terms
    best: SizeChoice | None = None
    for r in range(terms.capacity.shape[1]):
        demands = [int(x.job.demand[r]) for x in problem.jobs]
        choice = choose_sizes(
            [x.gain for x in problem.jobs], demands, int(terms.capacity[:, r].sum())
        )
        if best is None or choice.bound < best.bound:
            best = choice
    return best or SizeChoice((), 0.0)


def choose_sizes(gains: Sequence[Floats], demands: Sequence[int], capacity: int) -> SizeChoice:
    """Solve a multiple-choice knapsack exactly, or by its linear relaxation where it is too large.

    Parameters
    ----------
    gains : sequence of array, shapes (q_i + 1,)
        Value of 0, 1, ... workers of each job; the first is 0.
    demands : sequence of int
        Capacity taken by a worker of each job, non-negative.
    capacity : int
    """
    free = [i for i, demand in enumerate(demands) if demand == 0]
    paid = [i for i, demand in enumerate(demands) if demand > 0]
    sizes = [0] * len(gains)
    for i in free:
        sizes[i] = int(np.argmax(gains[i]))
    bound = float(sum(gains[i][sizes[i]] for i in free))
    step = int(np.gcd.reduce([demands[i] for i in paid])) if paid else 1
    width = min(capacity, sum(demands[i] * (len(gains[i]) - 1) for i in paid)) // step
    if len(paid) * (width + 1) > MOST_ENTRIES:
        relaxed = fractional_choice([gains[i] for i in paid], [demands[i] for i in paid], capacity)
        return SizeChoice(None, bound + relaxed.value)
    best = np.zeros(width + 1)  # best[c]: the largest gain with at most c steps of capacity
    chosen = np.zeros((len(paid), width + 1), dtype=np.int32)
    for row, i in enumerate(paid):
        each = demands[i] // step
        updated = best.copy()
        for size in range(1, min(len(gains[i]) - 1, width // each) + 1):
            with_ring = best[: width + 1 - size * each] + gains[i][size]
            better = with_ring > updated[size * each :]
            updated[size * each :][better] = with_ring[better]
            chosen[row, size * each :][better] = size
        best = updated
    left = width
    for row in reversed(range(len(paid))):
        i = paid[row]
        sizes[i] = int(chosen[row, left])
        left -= sizes[i] * (demands[i] // step)
    # Summed again in one order, so that the bound equals the gain of the sizes to the last digit.
    return SizeChoice(tuple(sizes), float(sum(g[k] for g, k in zip(gains, sizes, strict=True))))
