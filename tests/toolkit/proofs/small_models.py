"""Random small models with their minimum by enumeration, and random proofs about them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

from gadgetopt.proofs.model import Model, Row

#: Integer columns are enumerated from -REACH to REACH; beyond it may be better points.
REACH = 3


def drawn(rng: Random) -> Model:
    """Draw a model of one to three integer columns and at most one continuous, last column."""
    whole = rng.randint(1, 3)
    integer = [True] * whole + [False] * rng.randint(0, 1)
    columns = range(len(integer))
    lower = [_bound(rng, -REACH, 0, is_integer) for is_integer in integer]
    upper = [_bound(rng, 0, REACH, is_integer) for is_integer in integer]
    rows = []
    for _ in range(rng.randint(0, 3)):
        chosen = sorted(rng.sample(columns, rng.randint(1, len(columns))))
        sides = [rng.randint(-6, 2), rng.randint(-2, 8)]
        low, high = rng.choice([(sides[0], None), (None, sides[1]), sorted(sides), sides[:1] * 2])
        coefficients = [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in chosen]
        rows.append(Row(chosen, coefficients, low, high, rng.choice([1, 1, 2, 3])))
    priced = sorted(rng.sample(columns, rng.randint(1, len(columns))))
    costs = priced, [rng.choice([-6, -4, -2, 2, 3, 4]) for _ in priced]
    return Model(integer, lower, upper, rows, costs, rng.choice([1, 2, 3]), Fraction(1, 3), "min")


def _bound(rng: Random, least: int, most: int, integer: bool) -> int | Fraction | None:
    if rng.random() < 0.2:
        return None
    value = rng.randint(least, most)
    return value if integer else value + Fraction(rng.randint(0, 2), 3)


def least(model: Model) -> Fraction | None:
    """Return the least `sum(costs * x)` in reach; None if nothing in reach is feasible.

    -inf counts as "nothing": a continuous column without end is left out.
    """
    ranges = [
        range(
            max(-REACH, -REACH if low is None else int(low)),
            min(REACH, REACH if high is None else int(high)) + 1,
        )
        for low, high, whole in zip(model.lower, model.upper, model.integer, strict=True)
        if whole
    ]
    costs = dict(zip(*model.costs, strict=True))
    found = []
    for point in itertools.product(*ranges):
        ends = _ends(model, point)
        if ends is None:
            continue
        value = sum((costs.get(j, 0) * x for j, x in enumerate(point)), Fraction(0))
        price = costs.get(len(point), 0)
        end = ends[0] if price > 0 else ends[1]
        if price and end is None:
            end = ends[1] if price > 0 else ends[0]
        found.append(value + price * (end or 0))
    return min(found, default=None)


def _ends(model: Model, point: tuple[int, ...]) -> tuple[Fraction | None, Fraction | None] | None:
    """Return between what the continuous column may be; None if nothing is feasible."""
    last = len(point)
    low = high = None
    if last < len(model.integer):
        low, high = model.lower[last], model.upper[last]
    for columns, coefficients, below, above, denominator in model.rows:
        terms = dict(zip(columns, coefficients, strict=True))
        rest = sum(a * point[j] for j, a in terms.items() if j < last)
        a = terms.get(last, 0)
        sides = [None if s is None else Fraction(s - rest) for s in (below, above)]
        assert denominator > 0
        if a == 0:
            if (sides[0] or 0) > 0 or (sides[1] is not None and sides[1] < 0):
                return None
            continue
        ends = [None if s is None else s / a for s in (sides if a > 0 else sides[::-1])]
        low = max((x for x in (low, ends[0]) if x is not None), default=None)
        high = min((x for x in (high, ends[1]) if x is not None), default=None)
    return None if low is not None and high is not None and low > high else (low, high)


def random_tree(rng: Random, model: Model, rows: int, depth: int = 0, splits: int = 0) -> list[str]:
    """Draw the lines of a tree that may be wrong anywhere."""
    if depth < 3 and rng.random() < 0.5:
        kind = rng.choice("bbsg")
        value = rng.randint(-REACH, REACH)
        if kind == "b":
            line = f"b {rng.randrange(len(model.integer))} {value}"
        elif kind == "s":
            line = f"s {value} " + " ".join(
                f"{j} {rng.choice([-2, -1, 1, 2])}" for j in range(rng.randint(1, 3))
            )
        else:
            line = f"g {rng.randrange(rows + 1)} {value}"
        below = splits + (kind != "b")
        sides = (random_tree(rng, model, rows, depth + 1, below) for _ in range(2))
        return [line, *itertools.chain(*sides)]
    k, q = (
        rng.choice([0, 0, 0, 0, 1, 1, 3, 3, "/3", "/7", rng.choice(["/5", "/-2"])]),
        rng.choice([0, 1, 1]),
    )
    used = [i for i in range(rows) if rng.random() < 0.7]
    words = [f"l {k} {q}", *(f"{i} {rng.randint(-4, 4)}" for i in used)]
    if splits and rng.random() < 0.8:
        words += ["|", *(f"{t} {rng.randint(-4, 4)}" for t in range(splits))]
    return [" ".join(words)]


def random_proof(rng: Random, model: Model) -> list[str]:
    """Draw the lines of a proof with at most one cut, two bounds and one lemma."""
    out, rows, n = [], len(model.rows), len(model.integer)
    if rng.random() < 0.05:
        out.append(f"cut {rng.randint(-12, 6)}")
        rows += 1
    for _ in range(rng.choice([0] * 10 + [1, 2])):
        form = f"{rng.randrange(n)} {rng.choice([-3, -2, -1, 1, 2, 3])}"
        out += [f"bound {form}", *random_tree(rng, model, rows)]
    if rng.random() < 0.3:
        terms = " ".join(f"{j} {rng.choice([-2, -1, 1, 2])}" for j in range(rng.randint(1, n)))
        out += [f"lemma {terms}", *random_tree(rng, model, rows)]
        rows += 1
    return [*out, "tree", *random_tree(rng, model, rows)]
