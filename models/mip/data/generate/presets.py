"""Random programs of classes that everybody knows, in exact numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from gadgetopt.proofs.reading.draft import Draft, DraftRow
from gadgetopt.system.declaring import generator

from ...instance import MipInstance

_Exact = int | Fraction


@generator()
def quickstart(rng: np.random.Generator, *, sets: int = 40, elements: int = 30) -> MipInstance:
    """A small set cover like those of `set_cover`."""
    return set_cover(rng, sets=sets, elements=elements, density=0.15)


@generator()
def paper(
    rng: np.random.Generator, *, products: int = 20, rows: int = 6, digits: int = 5
) -> MipInstance:
    """A program whose decimals are hard on solvers in doubles.

    Integer amounts of products, of which every row has room for some, with profits, weights and
    rooms that have `digits` decimals and lie four powers of ten apart; and a continuous slack of
    every row that costs more than the dearest product.

    Parameters
    ----------
    rng : numpy.random.Generator
    products, rows, digits : int
    """
    draft, unit = Draft(), 10**digits
    draft.sense = "max"
    profits = rng.integers(1, 10 ** (digits + 2), size=products)
    sizes = 10.0 ** rng.uniform(-2, 2, size=(rows, products))
    weights = np.rint(sizes * unit).astype(np.int64)
    for j, profit in enumerate(profits.tolist()):
        _add(draft, f"product{j + 1}", Fraction(profit, unit), upper=9, integer=True)
    for i, weight in enumerate(weights.tolist()):
        slack = f"slack{i + 1}"
        _add(draft, slack, -Fraction(int(profits.max()) * 10, unit))
        terms = [(f"product{j + 1}", Fraction(a, unit)) for j, a in enumerate(weight)]
        room = Fraction(sum(weight) * 2 + 1, unit)
        _row(draft, f"room{i + 1}", [*terms, (slack, -1)], upper=room)
    return _instance(draft)


@generator()
def set_cover(
    rng: np.random.Generator, *, sets: int = 100, elements: int = 60, density: float = 0.08
) -> MipInstance:
    """Sets of least cost that cover all elements.

    Parameters
    ----------
    rng : numpy.random.Generator
    sets, elements : int
    density : float
        Probability that a set holds an element. An element that none holds goes into one at random.
    """
    draft = Draft()
    holds = rng.uniform(size=(elements, sets)) < density
    holds[np.arange(elements), rng.integers(sets, size=elements)] = True
    for j, cost in enumerate(rng.integers(1, 21, size=sets).tolist()):
        _add(draft, f"set{j + 1}", cost, upper=1, integer=True)
    for i in range(elements):
        terms = [(f"set{j + 1}", 1) for j in np.flatnonzero(holds[i]).tolist()]
        _row(draft, f"element{i + 1}", terms, lower=1)
    return _instance(draft)


@generator()
def knapsack(
    rng: np.random.Generator, *, items: int = 50, rows: int = 5, tightness: float = 0.5
) -> MipInstance:
    """A multi-dimensional knapsack.

    Parameters
    ----------
    rng : numpy.random.Generator
    items, rows : int
    tightness : float
        Capacity of a row over the sum of its weights.
    """
    draft = Draft()
    draft.sense = "max"
    weights = rng.integers(1, 101, size=(rows, items))
    profits = (weights.sum(axis=0) // rows + rng.integers(1, 51, size=items)).tolist()
    for j, profit in enumerate(profits):
        _add(draft, f"item{j + 1}", profit, upper=1, integer=True)
    for i, weight in enumerate(weights.tolist()):
        terms = [(f"item{j + 1}", a) for j, a in enumerate(weight)]
        _row(draft, f"capacity{i + 1}", terms, upper=int(tightness * sum(weight)))
    return _instance(draft)


@generator()
def fixed_charge(
    rng: np.random.Generator, *, plants: int = 6, customers: int = 12, fullness: float = 0.6
) -> MipInstance:
    """Plants that are opened at a fixed charge and serve customers at a cost per unit.

    Parameters
    ----------
    rng : numpy.random.Generator
    plants, customers : int
    fullness : float
        Demand over the capacity of all plants.
    """
    draft = Draft()
    demands = rng.integers(5, 36, size=customers).tolist()
    shares = rng.integers(10, 31, size=plants).tolist()
    capacities = [-int(-s * sum(demands) // (fullness * sum(shares))) for s in shares]
    charges = rng.integers(200, 600, size=plants).tolist()
    costs = rng.integers(10, 200, size=(plants, customers)).tolist()
    for p, charge in enumerate(charges):
        _add(draft, f"open{p + 1}", charge, upper=1, integer=True)
    for p in range(plants):
        for c in range(customers):
            _add(draft, f"flow{p + 1}_{c + 1}", Fraction(costs[p][c], 10))
    for c, demand in enumerate(demands):
        terms = [(f"flow{p + 1}_{c + 1}", 1) for p in range(plants)]
        _row(draft, f"demand{c + 1}", terms, lower=demand, upper=demand)
    for p, capacity in enumerate(capacities):
        flows = [(f"flow{p + 1}_{c + 1}", 1) for c in range(customers)]
        _row(draft, f"capacity{p + 1}", [*flows, (f"open{p + 1}", -capacity)], upper=0)
    return _instance(draft)


@generator()
def lot_sizing(
    rng: np.random.Generator, *, products: int = 3, periods: int = 8, tightness: float = 0.75
) -> MipInstance:
    """Production on one machine, with set-up costs, stocks and dear overtime.

    Parameters
    ----------
    rng : numpy.random.Generator
    products, periods : int
    tightness : float
        Mean demand over the machine's capacity in a period.
    """
    draft = Draft()
    demands = rng.integers(10, 60, size=(products, periods))
    capacity = int(np.ceil(demands.sum() / (periods * tightness)))
    setups = rng.integers(100, 400, size=products).tolist()
    holding = rng.integers(5, 30, size=products).tolist()
    for p in range(products):
        for t in range(periods):
            _add(draft, _of("setup", p, t), setups[p], upper=1, integer=True)
            _add(draft, _of("made", p, t), 0)
            _add(draft, _of("stock", p, t), Fraction(holding[p], 10))
    for p in range(products):
        for t in range(periods):
            flow: list[tuple[str, int]] = [(_of("made", p, t), 1), (_of("stock", p, t), -1)]
            flow += [(_of("stock", p, t - 1), 1)] if t else []
            demand = int(demands[p, t])
            _row(draft, _of("demand", p, t), flow, lower=demand, upper=demand)
            made, left = (_of("made", p, t), 1), int(demands[p, t:].sum())
            _row(draft, _of("forced", p, t), [made, (_of("setup", p, t), -left)], upper=0)
    for t in range(periods):
        _add(draft, f"overtime{t + 1}", 50)
        terms = [(_of("made", p, t), 1) for p in range(products)]
        _row(draft, f"capacity{t + 1}", [*terms, (f"overtime{t + 1}", -1)], upper=capacity)
    return _instance(draft)


def _of(what: str, product: int, period: int) -> str:
    return f"{what}{product + 1}_{period + 1}"


def _add(
    draft: Draft, name: str, cost: _Exact, *, upper: int | None = None, integer: bool = False
) -> None:
    """Add a column from 0 on."""
    j = draft.add_column(name)
    column = draft.columns[j]
    column.integer = integer
    column.lower, column.upper = 0, upper
    if cost:
        draft.costs[j] = cost


def _row(
    draft: Draft,
    name: str,
    terms: Iterable[tuple[str, _Exact]],
    *,
    lower: _Exact | None = None,
    upper: _Exact | None = None,
) -> None:
    pairs = list(terms)
    columns = [draft.index[name] for name, _ in pairs]
    draft.rows.append(DraftRow(name, columns, [a for _, a in pairs], lower, upper))


def _instance(draft: Draft) -> MipInstance:
    return MipInstance.of(draft.named_model("refused"))
