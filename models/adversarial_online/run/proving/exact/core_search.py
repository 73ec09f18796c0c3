"""A search for the offline optimum near the best prices, among requests of small gain.

It goes through the states that `certificate.core` describes: first those along a beam, for a good
solution, then all that could be better. It keeps where states come from, so that the requests of
the best one are known; the check of what it found goes through the states by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from ..certificate.core import LARGEST, MOST_IN_ALL, MOST_REQUESTS, MOST_STATES, Core, CoreTooLarge

#: Requests that a beam flips: the smallest gains decide. Tuned: `benchmarks/constants.py`.
BEAM_REQUESTS = 100


@dataclass(frozen=True)
class Flipped:
    """The end of a search.

    Attributes
    ----------
    loss : int
        Of the best solution found, or the one that was asked for if none was better.
    accepted : list of int or None
        That solution's requests; None if none was better.
    complete : bool
        True if no solution has a smaller loss.
    """

    loss: int
    accepted: list[int] | None
    complete: bool


@dataclass(frozen=True)
class _Step:
    """States after a request: where they come from, and whether it was flipped."""

    request: int
    parent: Ints
    flipped: Bools


class CoreSearch(Core):
    """The gains of requests at prices, and a search among those of small gain."""

    def search(
        self,
        loss: int,
        *,
        beam: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Flipped:
        """Return a solution that loses less than a known one, if there is any.

        Parameters
        ----------
        loss : int
            Of the known one.
        beam : int, optional
            Of more states, the most promising ones are kept, and nothing is proved. Default: the
            search ends incomplete when there are too many.
        stop : callable, optional
            Asked after every request.
        """
        slack, lost = self.slack[None, :], np.zeros(1, dtype=np.int64)
        steps: list[_Step] = []
        best: tuple[int, int] | None = None  # number of steps, state
        complete, held = True, 0
        if beam is None and int((self.away < loss).sum()) > MOST_REQUESTS:
            return Flipped(loss, None, complete=False)
        for j in [*self.order.tolist(), None]:
            least, at = self._cheapest(slack, lost)
            if least is not None and least < loss:
                loss, best = least, (len(steps), at)
            if j is None:
                break
            lack = np.maximum(1, -(slack // self.most_units).min(axis=1))
            kept = np.flatnonzero(lost + lack * self.away[j] < loss)
            if not len(kept):
                break
            if stop() or held > MOST_IN_ALL or (beam and len(steps) >= BEAM_REQUESTS):
                complete = False
                break
            slack, lost, parent, flipped = self._flip(j, slack[kept], lost[kept])
            if len(lost) > (beam or MOST_STATES):
                complete = False
                if beam is None:
                    break
                worth = lost + np.abs(slack) @ self.price
                few = np.argpartition(worth, beam)[:beam]
                slack, lost, parent, flipped = slack[few], lost[few], parent[few], flipped[few]
            steps.append(_Step(j, kept[parent], flipped))
            held += len(lost)
        return Flipped(loss, None if best is None else self._accepted(steps, *best), complete)

    def _cheapest(self, slack: Ints, lost: Ints) -> tuple[int | None, int]:
        """Return the least loss of the states that lack no unit, and its state."""
        fits = np.flatnonzero((slack >= 0).all(axis=1))
        if not len(fits):
            return None, -1
        total = lost[fits] + slack[fits] @ self.price
        at = int(total.argmin())
        return int(total[at]), int(fits[at])

    def _flip(self, j: int, slack: Ints, lost: Ints) -> tuple[Ints, Ints, Ints, Bools]:
        """Return the states with and without a request flipped: of equal slack, the cheapest."""
        n = len(lost)
        moved = self.demand[j] if self.on[j] else -self.demand[j]
        slack = np.concatenate([slack, slack + moved])
        lost = np.concatenate([lost, lost + self.away[j]])
        low = slack.min(axis=0)
        shape = (slack.max(axis=0) - low + 1).tolist()
        if math.prod(shape) >= LARGEST:
            raise CoreTooLarge("the states do not fit into 64 bits")
        key = np.ravel_multi_index(tuple((slack - low).T), tuple(shape))
        order = np.lexsort((lost, key))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = key[order[1:]] != key[order[:-1]]
        order = order[first].astype(np.int64)
        return slack[order], lost[order], order % n, order >= n

    def _accepted(self, steps: list[_Step], number: int, state: int) -> list[int]:
        decided: Bools = self.on.copy()
        for step in reversed(steps[:number]):
            if step.flipped[state]:
                decided[step.request] = ~decided[step.request]
            state = int(step.parent[state])
        return [int(t) for t in np.flatnonzero(decided)]
