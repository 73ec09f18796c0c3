"""What requests do to posted prices and to an offline seller: an automaton of both, in integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import common_denominator

from .prices import Lottery

#: Most states of the prices, and of the offline seller, that are enumerated.
#: Tuned: `benchmarks/constants.py`.
MOST_STATES = 200_000


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
