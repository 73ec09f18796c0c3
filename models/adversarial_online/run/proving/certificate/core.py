r"""The offline optimum near the best prices: few requests are worth deciding against them.

At prices :math:`\lambda` request j gains :math:`g_j = v_j - \sum_r d_{jr} \lambda_r`, and the
prices accept it if that is positive. With :math:`D = \sum_r C_r \lambda_r + \sum_j g_j^+`, a
solution z of (P) is worth

.. math:: \sum_j v_j z_j = D - \sum_{j \text{ flipped}} |g_j| - \sum_r \lambda_r s_r,

where j is flipped if z decides it against the prices, and :math:`s_r \ge 0` is what z leaves of
resource r. So a solution better than a known one flips only requests of small gain, its *core* (E.
Balas and E. Zemel 1980). A dynamic program over the slack s flips one request after the other, the
smallest gain first, and drops a state as soon as one more flip, or as many as its lack of units
needs, would lose too much (D. Pisinger 1997 for one resource). It ends when no state is left, which
proves the best solution found; all of it is in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.exact import ceiling, common_denominator

from ....subproblems.whole import Whole

#: Most requests of small gain, states at once, and states of all steps together, that are still
#: enumerated: half a second. Tuned: `benchmarks/constants.py`.
MOST_REQUESTS, MOST_STATES, MOST_IN_ALL = 1_000, 100_000, 1_000_000
#: Requests that a beam flips: the smallest gains decide. Tuned: `benchmarks/constants.py`.
BEAM_REQUESTS = 100
#: Sums stay below this, so that none overflows. By definition.
_LARGEST = 2**61


class CoreTooLarge(ValueError):
    """The amounts do not fit into 64 bits, or there are too many states."""


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


class Core:
    """The gains of requests at prices, in whole numbers.

    Parameters
    ----------
    capacity : sequence of int
    values : array of integers, shape (requests,)
        Times `scale`.
    demands : sequence of sequence of int, shape (requests, resources)
    price : sequence of Fraction
        Of a unit of each resource, not negative.
    scale : int

    Attributes
    ----------
    bound : int
        D, times `fine`.
    fine : int
        Parts of one unit of money.

    Raises
    ------
    CoreTooLarge
    """

    def __init__(
        self,
        capacity: Sequence[int],
        values: Whole,
        demands: Sequence[Sequence[int]],
        price: Sequence[Fraction],
        scale: int,
    ):
        parts = common_denominator(x * scale for x in price)
        self.fine: int = parts * scale
        whole = [int(x * self.fine) for x in price]
        most_units = sum(capacity) + max(map(sum, demands))
        most = (len(values) + 1) * (int(values.max()) * parts + most_units * max(whole))
        if most >= _LARGEST:
            raise CoreTooLarge("the amounts do not fit into 64 bits")
        self._price: Ints = np.array(whole, dtype=np.int64)
        self._demand: Ints = np.asarray(demands, dtype=np.int64)
        gain = values.astype(np.int64) * parts - self._demand @ self._price
        self._on = gain > 0
        self._away = np.abs(gain)
        self._free: Ints = np.array(capacity, dtype=np.int64)
        self._slack = self._free - self._demand[self._on].sum(axis=0)
        self.bound: int = int(gain[self._on].sum() + self._free @ self._price)
        self._order = np.argsort(self._away, kind="stable")
        self._most_units = np.maximum(1, self._demand.max(axis=0))

    def loss(self, welfare: Fraction) -> int:
        """Return the least whole loss that is no better than some welfare."""
        return ceiling(self.bound - welfare * self.fine)

    def welfare(self, loss: int) -> Fraction:
        """Return what a solution of some loss earns."""
        return Fraction(self.bound - loss, self.fine)

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
        slack, lost = self._slack[None, :], np.zeros(1, dtype=np.int64)
        steps: list[_Step] = []
        best: tuple[int, int] | None = None  # number of steps, state
        complete, held = True, 0
        if beam is None and int((self._away < loss).sum()) > MOST_REQUESTS:
            return Flipped(loss, None, complete=False)
        for j in [*self._order.tolist(), None]:
            least, at = self._cheapest(slack, lost)
            if least is not None and least < loss:
                loss, best = least, (len(steps), at)
            if j is None:
                break
            lack = np.maximum(1, -(slack // self._most_units).min(axis=1))
            kept = np.flatnonzero(lost + lack * self._away[j] < loss)
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
                worth = lost + np.abs(slack) @ self._price
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
        total = lost[fits] + slack[fits] @ self._price
        at = int(total.argmin())
        return int(total[at]), int(fits[at])

    def _flip(self, j: int, slack: Ints, lost: Ints) -> tuple[Ints, Ints, Ints, Bools]:
        """Return the states with and without a request flipped: of equal slack, the cheapest."""
        n = len(lost)
        moved = self._demand[j] if self._on[j] else -self._demand[j]
        slack = np.concatenate([slack, slack + moved])
        lost = np.concatenate([lost, lost + self._away[j]])
        low = slack.min(axis=0)
        shape = (slack.max(axis=0) - low + 1).tolist()
        if math.prod(shape) >= _LARGEST:
            raise CoreTooLarge("the states do not fit into 64 bits")
        key = np.ravel_multi_index(tuple((slack - low).T), tuple(shape))
        order = np.lexsort((lost, key))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = key[order[1:]] != key[order[:-1]]
        order = order[first].astype(np.int64)
        return slack[order], lost[order], order % n, order >= n

    def _accepted(self, steps: list[_Step], number: int, state: int) -> list[int]:
        decided: Bools = self._on.copy()
        for step in reversed(steps[:number]):
            if step.flipped[state]:
                decided[step.request] = ~decided[step.request]
            state = int(step.parent[state])
        return [int(t) for t in np.flatnonzero(decided)]
