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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

from .prices import Lottery, Payoff

#: Most states of the prices, and of the offline seller, that are enumerated.
MOST_STATES = 200_000
#: Most entries of all tables of a dynamic program.
MOST_CELLS = TABLE_CELLS

#: V as an array of shape (prices' states, offline states), of 64-bit or Python integers.
Potential = npt.NDArray[Any]


@dataclass(frozen=True)
class Automaton:
    """What requests do to posted prices and to an offline seller.

    Attributes
    ----------
    after : ndarray, shape (S, J)
        State of the prices after type j in state s; state 0 is the beginning.
    earned : list of list of int, shape (S, J)
        Expected welfare of it, times `scale`.
    taken : ndarray, shape (M, J)
        State of the offline seller after taking type j; M if it does not fit.
    worth : list of int, shape (J,)
        Value of type j, times `scale`.
    scale : int
    """

    after: Ints
    earned: list[list[int]]
    taken: Ints
    worth: list[int]
    scale: int

    def welfare(self, arrivals: Sequence[int]) -> int:
        """Return what the prices earn of a sequence, times `scale`."""
        s = total = 0
        for j in arrivals:
            total += self.earned[s][j]
            s = int(self.after[s, j])
        return total

    @property
    def states(self) -> tuple[int, int]:
        """S and M."""
        return len(self.after), len(self.taken)


def automaton(
    capacity: Sequence[int],
    values: Sequence[Fraction],
    demands: Sequence[Sequence[int]],
    lottery: Lottery,
) -> Automaton:
    """Return the automaton of posted prices and request types.

    Raises
    ------
    ModelRefused
        If there are too many states.
    """
    fine = common_denominator(
        [*values, *(x for posted in lottery for table in posted.prices for x in table)]
    )
    pays = [int(v * fine) for v in values]
    prices = [[[int(x * fine) for x in table] for table in p.prices] for p in lottery]
    # Prices decide who buys; welfare is in values alone, whose numbers have fewer digits.
    money = common_denominator(values)
    whole = common_denominator(posted.probability for posted in lottery)
    amounts = [int(v * money) for v in values]
    weights = [int(posted.probability * whole) for posted in lottery]
    J = range(len(values))

    def bought(table: list[list[int]], used: tuple[int, ...], j: int) -> bool:
        demand = demands[j]
        fits = all(u + d <= c for u, d, c in zip(used, demand, capacity, strict=True))
        return fits and pays[j] >= sum(
            d * row[u] for u, d, row in zip(used, demand, table, strict=True) if d
        )

    earned: list[list[int]] = []

    def sell(state: tuple[tuple[int, ...], ...]) -> list[tuple[tuple[int, ...], ...] | None]:
        result: list[tuple[tuple[int, ...], ...] | None] = []
        row = []
        for j in J:
            buys = [bought(table, used, j) for table, used in zip(prices, state, strict=True)]
            row.append(amounts[j] * sum(w for w, b in zip(weights, buys, strict=True) if b))
            result.append(
                tuple(
                    tuple(u + d for u, d in zip(used, demands[j], strict=True)) if b else used
                    for used, b in zip(state, buys, strict=True)
                )
            )
        earned.append(row)
        return result

    def take(used: tuple[int, ...]) -> list[tuple[int, ...] | None]:
        longer = [tuple(u + d for u, d in zip(used, demands[j], strict=True)) for j in J]
        return [
            now if all(u <= c for u, c in zip(now, capacity, strict=True)) else None
            for now in longer
        ]

    nothing = (0,) * len(capacity)
    return Automaton(
        after=_explored((nothing,) * len(lottery), sell),
        earned=earned,
        taken=_explored(nothing, take),
        worth=[amount * whole for amount in amounts],
        scale=money * whole,
    )


def _explored(start: Any, step: Callable[[Any], list[Any]]) -> Ints:
    """Return the transitions of all states that are reached; to nowhere is to their number."""
    number = {start: 0}
    order, rows = [start], []
    for state in order:
        row = []
        for successor in step(state):
            if successor is not None and successor not in number:
                number[successor] = len(order)
                order.append(successor)
                if len(order) > MOST_STATES:
                    raise ModelRefused(f"more than {MOST_STATES} states of units sold")
            row.append(-1 if successor is None else number[successor])
        rows.append(row)
    table = np.array(rows, dtype=np.int64)
    table[table < 0] = len(order)
    return table


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


def is_potential(
    automaton: Automaton, p: int, q: int, tables: Sequence[Potential], *, stationary: bool
) -> bool:
    r"""Return True if tables bound what is left from above: an exact check without optimisation.

    Tables :math:`V_1, \dots, V_N`, or a single one for any number of requests left, must be nowhere
    negative, and nowhere below what a request is worth plus the table of one fewer.
    """
    S, M = automaton.states
    before = tables[0] if stationary else np.zeros((S, M), dtype=object)
    for V in tables:
        if (V < 0).any():
            return False
        for j, worth in enumerate(automaton.worth):
            paid = np.array([-p * row[j] for row in automaton.earned], dtype=object)[:, None]
            left = before[automaton.after[:, j]]
            fits = automaton.taken[:, j] < M
            if (left + paid > V).any():
                return False
            if (V[:, fits] < left[:, automaton.taken[fits, j]] + paid + q * worth).any():
                return False
        before = V
    return True
