r"""The adversary's dynamic program: the sequence that maximises :math:`q\,OPT - p\,ALG`, exactly.

A state is what the posted prices have sold (s) and what an offline seller has taken (m), who may
take each request or leave it. OPT is maximised, so the choice of the offline seller is the
adversary's own, and the optimum of what is left of n requests is

.. math:: V_n(s, m) = \max\Big\{0,\ \max_j\ -p\,g_{sj} + V_{n-1}(s_j, m),\
                      \max_{j:\,m + d_j \le C} q\,v_j - p\,g_{sj} + V_{n-1}(s_j, m + d_j)\Big\}

with the welfare :math:`g_{sj}` that the prices expect of type j in state s and the state
:math:`s_j` after it. For one resource and one table there are :math:`(k+1)^2` states. Every request
that is of use makes s or m larger, so :math:`V_n` stops to change after at most 2k requests.

Everything is in integers: welfare times `scale`. 64 bits are used where no sum overflows, else
Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.memory import MOST_CELLS

from .automaton import Automaton
from .prices import Payoff

#: V as an array of shape (prices' states, offline states), of 64-bit or Python integers.
Potential = npt.NDArray[Any]


class Worst:
    r"""The dynamic program for :math:`q\,OPT - p\,ALG` over at most N requests.

    Parameters
    ----------
    automaton : Automaton
    p, q : int
    horizon : int
    stop : callable, optional
        Asked after every request; once it is true, `stopped` is set and the rest is left out.

    Attributes
    ----------
    tables : list of ndarray
        :math:`V_0, V_1, \dots`; the last is that of all longer horizons if `stationary`.
    """

    automaton: Automaton
    horizon: int
    p: int
    q: int
    stationary: bool
    stopped: bool

    def __init__(
        self,
        automaton: Automaton,
        p: int,
        q: int,
        horizon: int,
        stop: Callable[[], bool] = lambda: False,
    ):
        self.automaton, self.p, self.q, self.horizon = automaton, p, q, horizon
        S, M = automaton.states
        largest = max(
            q * max(automaton.worth), p * max(max(row) for row in automaton.earned), 1
        ) * (horizon + 1)
        self._type: Any = np.int64 if largest < 2**60 else object
        self._never = -4 * largest
        self._paid = -p * np.array(automaton.earned, dtype=self._type)
        self._worth = [q * w for w in automaton.worth]
        self.stationary = self.stopped = False
        self.tables: list[Potential] = [np.zeros((S, M), dtype=self._type)]
        while len(self.tables) <= horizon and not self.stationary:
            if (len(self.tables) + 1) * S * M > MOST_CELLS:
                raise ModelRefused(
                    f"the tables of {S} x {M} states and {horizon} requests are too large"
                )
            longer = self.step(self.tables[-1])
            self.stationary = bool((longer == self.tables[-1]).all())
            if not self.stationary:
                self.tables.append(longer)
            if stop():
                self.stopped = True
                break

    def step(self, V: Potential) -> Potential:
        """Return the table of one more request."""
        best = np.zeros_like(V)
        for j in range(len(self._worth)):
            np.maximum(best, self._by(V, j), out=best)
        return best

    def _by(self, V: Potential, j: int) -> Potential:
        """Return what the next request being j is worth, shape (S, M)."""
        a = self.automaton
        left = V[a.after[:, j]]
        padded = np.concatenate(
            [left, np.full((len(left), 1), self._never, dtype=self._type)], axis=1
        )
        return np.maximum(left, padded[:, a.taken[:, j]] + self._worth[j]) + self._paid[:, j, None]

    @property
    def value(self) -> int:
        r"""The largest :math:`q\,OPT - p\,ALG`, times `scale`; 0 of no request at all."""
        return int(self.tables[-1][0, 0])

    def sequence(self) -> list[int]:
        """Return the types of a sequence of this value, none of which is of no use."""
        s = m = 0
        left = min(self.horizon, len(self.tables) - 1)
        arrivals = []
        while self.tables[left][s, m] > 0:
            while self.tables[left - 1][s, m] == self.tables[left][s, m]:
                left -= 1
            s, m, j = self._choice(left, s, m)
            arrivals.append(j)
            left -= 1
        return arrivals

    def _choice(self, n: int, s: int, m: int) -> tuple[int, int, int]:
        """Return a best next request with n left, and the states after it."""
        a, V, best = self.automaton, self.tables[n - 1], self.tables[n][s, m]
        for j, worth in enumerate(self._worth):
            sold, taken = int(a.after[s, j]), int(a.taken[m, j])
            if taken < V.shape[1] and worth + self._paid[s, j] + V[sold, taken] == best:
                return sold, taken, j
            if self._paid[s, j] + V[sold, m] == best:
                return sold, m, j
        raise AssertionError("no request is worth what the table says")


@dataclass(frozen=True)
class Found:
    """A worst sequence and the last dynamic program on the way to it.

    Attributes
    ----------
    arrivals : tuple of int
        Types.
    online, offline : int
        Welfare of the prices and of the offline seller, times `scale`; `online` is 0 if the ratio
        is infinite.
    tables : Worst or None
        Its `stopped` says whether the time was up; None if the ratio is infinite.
    ratios : int
        Ratios that were tried.
    """

    arrivals: tuple[int, ...]
    online: int
    offline: int
    tables: Worst | None
    ratios: int


def worst_sequence(
    automaton: Automaton,
    payoff: Payoff,
    horizon: int,
    stop: Callable[[], bool] = lambda: False,
) -> Found:
    r"""Return a sequence of the largest ratio or regret, by Dinkelbach's iteration.

    At a ratio p/q the dynamic program finds the sequence with the largest
    :math:`q\,OPT - p\,ALG`. If that is 0, no sequence has a larger ratio; else the sequence's own
    ratio is the next. All of it is in integers. A regret takes one dynamic program.
    """
    a = automaton
    single = [
        (earned, worth, j)
        for j, (earned, worth) in enumerate(zip(a.earned[0], a.worth, strict=True))
    ]
    if payoff == "regret":
        online, offline, j = max(single, key=lambda one: one[1] - one[0])
    else:
        refused = [one for one in single if not one[0]]
        if refused:
            return Found((refused[0][2],), 0, refused[0][1], None, 0)
        online, offline, j = max(single, key=lambda one: Fraction(one[1], one[0]))
    arrivals: tuple[int, ...] = (j,)
    ratios = 0
    while True:
        ratios += 1
        p, q = (1, 1) if payoff == "regret" else Fraction(offline, online).as_integer_ratio()
        tables = Worst(a, p, q, horizon, stop)
        gap = tables.value
        known = offline - online if payoff == "regret" else 0
        if gap > known:
            arrivals = tuple(tables.sequence())
            online = a.welfare(arrivals)
            offline = (gap + p * online) // q
        if gap <= known or tables.stopped or payoff == "regret":
            return Found(arrivals, online, offline, tables, ratios)
