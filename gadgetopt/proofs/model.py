"""An exact linear model over integer and continuous columns. Needs the standard library only.

Checkers and producers of proofs share it. Everything is in the sense of a minimisation; `bound`
turns a proved number into one on the model's own objective.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

#: Lines of a model's text that are hashed at once. Tuned: `benchmarks/constants.py`.
_AT_ONCE = 1000

#: A linear form: distinct columns, and an integer for each.
Form = tuple[list[int], list[int]]


class Row(NamedTuple):
    """`lower <= sum(coefficients * x[columns]) <= upper`, all of it over one denominator.

    A side that is None is missing. The columns are distinct.
    """

    columns: list[int]
    coefficients: list[int]
    lower: int | None
    upper: int | None
    denominator: int


class Model(NamedTuple):
    """Minimise `sum(costs * x) / scale` subject to rows and bounds of columns.

    Attributes
    ----------
    integer : list of bool
        By column.
    lower, upper : list of int, Fraction or None
        Bounds by column; integers for integer columns, None for a missing one.
    rows : list of Row
    costs : Form
        Costs that are not zero, in units of `1 / scale`, negated if the model is a maximisation.
    scale : int
        Positive.
    offset : int or Fraction
        Constant of the model's own objective.
    sense : str
        "min" or "max", the model's own.
    """

    integer: list[bool]
    lower: list[int | Fraction | None]
    upper: list[int | Fraction | None]
    rows: list[Row]
    costs: Form
    scale: int
    offset: int | Fraction
    sense: str

    def bound(self, least: Fraction | int) -> Fraction:
        """Return the bound on the model's own objective if no `sum(costs * x)` is below `least`."""
        value = Fraction(least) / self.scale
        return self.offset + (value if self.sense == "min" else -value)

    def least(self, objective: Fraction | int) -> Fraction:
        """Return `sum(costs * x)` where the model's own objective is `objective`."""
        value = Fraction(objective) - self.offset
        return self.scale * (value if self.sense == "min" else -value)


def lines(model: Model) -> Iterator[str]:
    """Yield the lines of a model's text, which `parsed` reads."""
    yield f"{model.sense} {model.offset} {model.scale} {len(model.integer)} {len(model.rows)}"
    yield _pairs(*model.costs)
    for integer, lower, upper in zip(model.integer, model.lower, model.upper, strict=True):
        low, high = "-" if lower is None else lower, "-" if upper is None else upper
        yield f"{'i' if integer else 'c'} {low} {high}"
    for columns, coefficients, below, above, denominator in model.rows:
        low, high = "-" if below is None else below, "-" if above is None else above
        yield f"{denominator} {low} {high} {_pairs(columns, coefficients)}"


def digest(model: Model) -> str:
    """Return the SHA-256 of a model's text."""
    out = hashlib.sha256()
    source = lines(model)
    while some := list(islice(source, _AT_ONCE)):
        out.update("\n".join([*some, ""]).encode())
    return out.hexdigest()


def parsed(text: Iterable[str]) -> Model:
    """Return the model of a text.

    Raises
    ------
    ValueError
        If it is not the text of a model.
    """
    source = iter(text)
    try:
        model = _read(source)
    except StopIteration:
        raise ValueError("the text of the model ends too early") from None
    forms = [model.costs, *((row.columns, row.coefficients) for row in model.rows)]
    for columns, numbers in forms:
        known = all(0 <= j < len(model.integer) for j in columns)
        if not known or len(set(columns)) < len(columns) or len(columns) != len(numbers):
            raise ValueError("a form that is not distinct columns, each with a coefficient")
    if min([model.scale, *(row.denominator for row in model.rows)]) <= 0:
        raise ValueError("a denominator that is not positive")
    ends = [
        *zip(model.integer, model.lower, strict=True),
        *zip(model.integer, model.upper, strict=True),
    ]
    if any(whole and isinstance(x, Fraction) for whole, x in ends):
        raise ValueError("an integer column with a bound that is none")
    if next(source, None) is not None:
        raise ValueError("lines after the text of the model")
    return model


def _read(source: Iterator[str]) -> Model:
    sense, offset, scale, columns, rows = next(source).split()
    costs = _form_of(next(source).split())
    kinds = [next(source).split() for _ in range(int(columns))]
    read = [_row_of(next(source).split()) for _ in range(int(rows))]
    if sense not in ("min", "max") or any(kind not in ("i", "c") for kind, *_ in kinds):
        raise ValueError("not the text of a model")
    return Model(
        [kind == "i" for kind, _, _ in kinds],
        [_bound_of(low) for _, low, _ in kinds],
        [_bound_of(high) for _, _, high in kinds],
        read,
        costs,
        int(scale),
        _exact(offset),
        sense,
    )


def _pairs(columns: list[int], coefficients: list[int]) -> str:
    return " ".join([f"{j} {a}" for j, a in zip(columns, coefficients, strict=True)])


def _bound_of(text: str) -> int | Fraction | None:
    if text == "-":
        return None
    x = _exact(text)
    return x.numerator if x.denominator == 1 else x


def _exact(text: str) -> Fraction:
    if "e" in text.lower():  # a few characters may stand for millions of digits
        raise ValueError(f"{text[:20]!r} is no ratio of integers")
    return Fraction(text)


def _form_of(words: list[str]) -> Form:
    return list(map(int, words[::2])), list(map(int, words[1::2]))


def _row_of(words: list[str]) -> Row:
    low, high = (None if word == "-" else int(word) for word in words[1:3])
    return Row(*_form_of(words[3:]), low, high, int(words[0]))
