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

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.exact import ceiling, common_denominator

from ....subproblems.whole import Whole
from ...instance import AdversarialOnlineRunInstance

#: Most requests of small gain, states at once, and states of all steps together, that are still
#: enumerated: half a second. Tuned: `benchmarks/constants.py`.
MOST_REQUESTS, MOST_STATES, MOST_IN_ALL = 1_000, 100_000, 1_000_000
#: Sums stay below this, so that none overflows. By definition.
LARGEST = 2**61


class CoreTooLarge(ValueError):
    """The amounts do not fit into 64 bits, or there are too many states."""


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
    price, free, slack : array of int, shape (resources,)
        Of a unit, and units, in all and left by what the prices accept.
    demand : array of int, shape (requests, resources)
    on : array of bool, shape (requests,)
        What the prices accept.
    away, order : array of int, shape (requests,)
        What a flip of each request loses, and the requests by that.
    most_units : array of int, shape (resources,)
        That one request gives back.

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
        if most >= LARGEST:
            raise CoreTooLarge("the amounts do not fit into 64 bits")
        self.price: Ints = np.array(whole, dtype=np.int64)
        self.demand: Ints = np.asarray(demands, dtype=np.int64)
        gain = values.astype(np.int64) * parts - self.demand @ self.price
        self.on: Bools = gain > 0
        self.away: Ints = np.abs(gain)
        self.free: Ints = np.array(capacity, dtype=np.int64)
        self.slack: Ints = self.free - self.demand[self.on].sum(axis=0)
        self.bound: int = int(gain[self.on].sum() + self.free @ self.price)
        self.order: Ints = np.argsort(self.away, kind="stable")
        self.most_units: Ints = np.maximum(1, self.demand.max(axis=0))

    @classmethod
    def at(cls, instance: AdversarialOnlineRunInstance, price: Sequence[Fraction]) -> Self:
        """Return the gains of an instance's requests at prices.

        Raises
        ------
        CoreTooLarge
        """
        whole, scale = instance.whole_values
        return cls(instance.capacity, whole, instance.demands, price, scale)

    def loss(self, welfare: Fraction) -> int:
        """Return the least whole loss that is no better than some welfare."""
        return ceiling(self.bound - welfare * self.fine)

    def welfare(self, loss: int) -> Fraction:
        """Return what a solution of some loss earns."""
        return Fraction(self.bound - loss, self.fine)

    def least_loss(self, loss: int) -> int:
        """Return the least loss of all solutions, or `loss` if none loses less.

        Raises
        ------
        CoreTooLarge
            If too many requests or states would have to be looked at.
        """
        if int((self.away < loss).sum()) > MOST_REQUESTS:
            raise CoreTooLarge("too many requests of small gain to find nothing better")
        slack, lost, held = self.slack[None, :], np.zeros(1, dtype=np.int64), 0
        for j in [*self.order.tolist(), None]:
            # What is accepted now, if no unit is lacking.
            fits = (slack >= 0).all(axis=1)
            here = lost[fits] + slack[fits] @ self.price
            loss = min(loss, int(here.min(initial=loss)))
            if j is None:
                break
            # A state that lacks units has to give back requests, none of them cheaper than j.
            lack = np.maximum(1, -(slack // self.most_units).min(axis=1))
            kept = lost + lack * self.away[j] < loss
            if not kept.any():
                break
            slack, lost = self._with_and_without(j, slack[kept], lost[kept])
            held += len(lost)
            if len(lost) > MOST_STATES or held > MOST_IN_ALL:
                raise CoreTooLarge("too many requests of small gain to find nothing better")
        return loss

    def _with_and_without(self, j: int, slack: Ints, lost: Ints) -> tuple[Ints, Ints]:
        """Return the states with and without a request flipped: of equal slack, the cheapest."""
        moved = self.demand[j] if self.on[j] else -self.demand[j]
        states = np.column_stack(
            [np.vstack([slack, slack + moved]), [*lost, *(lost + self.away[j])]]
        )
        states = states[np.lexsort(states.T[[-1, *range(slack.shape[1])]])]
        first = np.ones(len(states), dtype=np.bool_)
        first[1:] = (states[1:, :-1] != states[:-1, :-1]).any(axis=1)
        return states[first, :-1], states[first, -1]
