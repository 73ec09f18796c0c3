"""What may be held before every round, and what a sale makes of it.

A stock is what past sales hold in the rounds to come: a row of units for each of the rounds t..N,
the present one first. Units that are given back are missing in later rows only, so a request fits
if it does in the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadgetopt.errors import ModelRefused

#: Units of every resource that are held in a round and in those after it.
Stock = tuple[tuple[int, ...], ...]

#: Rows of the stocks of all rounds together. Tuned: `benchmarks/constants.py`.
MOST_ROWS = 100_000


@dataclass(frozen=True)
class Stocks:
    """Stocks by number in every round, from 0 to N; there is one before round 0 and after all.

    Attributes
    ----------
    of_round : list of list of Stock
        Sorted.
    kept : list of list of int
        The stock of the next round if nothing is sold.
    sold : list of list of list of int
        The stock of the next round if type j is sold to, by stock and type; -1 if it does not fit.
    """

    of_round: list[list[Stock]]
    kept: list[list[int]]
    sold: list[list[list[int]]]


def stocks_of(
    capacity: Sequence[int], demands: Sequence[Sequence[int]], held: Sequence[int], rounds: int
) -> Stocks:
    """Return the stocks that sales can lead to.

    Parameters
    ----------
    capacity : sequence of int
    demands : sequence of sequence of int
        Units of every resource, of every type.
    held : sequence of int
        Rounds for which each type keeps them.
    rounds : int

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    rows = rounds * (rounds + 1) // 2  # of the empty stocks alone
    _check(rows)
    here: list[Stock] = [((0,) * len(capacity),) * rounds]
    of_round, kept, sold = [here], [], []
    for t in range(rounds):
        after_kept = [stock[1:] for stock in here]
        after_sold = [
            [_after(stock, d, n, capacity) for d, n in zip(demands, held, strict=True)]
            for stock in here
        ]
        found = {*after_kept, *(s for row in after_sold for s in row if s is not None)}
        rows += (len(found) - 1) * (rounds - t - 1)
        _check(rows)
        later = sorted(found)
        number = {stock: i for i, stock in enumerate(later)}
        kept.append([number[stock] for stock in after_kept])
        sold.append([[-1 if s is None else number[s] for s in row] for row in after_sold])
        of_round.append(later)
        here = later
    return Stocks(of_round, kept, sold)


def _after(stock: Stock, demand: Sequence[int], held: int, capacity: Sequence[int]) -> Stock | None:
    """Return what is held from the next round on if a request is sold to; None if it is not."""
    taken = [
        tuple(map(int.__add__, row, demand)) if n < held else row for n, row in enumerate(stock)
    ]
    fits = all(used <= most for used, most in zip(taken[0], capacity, strict=True))
    return tuple(taken[1:]) if fits else None


def _check(rows: int) -> None:
    if rows > MOST_ROWS:
        raise ModelRefused(f"horizon: stocks of more than {MOST_ROWS} rows, expected fewer")
