"""The checker of proofs that a model is unbounded. It needs the standard library only.

A proof has two lines: a feasible point, and a ray along which nothing ever is violated and the
objective falls without end. Both are written `j x j x ...`, with rational numbers x for columns j;
columns that are left out are 0. With rational numbers some multiple of the ray has integers in
integer columns, so that the ray need not.

    point j x j x ...
    ray j x j x ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.proofs.tree_kernel import Rejected

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

#: Most characters of a number: no honest proof comes near. By definition.
MOST_CHARACTERS = 100_000


def check_unbounded(model: Model, lines: Iterable[str]) -> None:
    """Return if the lines prove that `sum(costs * x)` falls without end.

    Raises
    ------
    Rejected
        If the text is no proof.
    """
    texts = [line.split() for line in lines]
    if [words[:1] for words in texts] != [["point"], ["ray"]]:
        raise Rejected("not a point and a ray")
    point, ray = (_numbers(words[1:], len(model.integer)) for words in texts)
    for j, (whole, low, high) in enumerate(
        zip(model.integer, model.lower, model.upper, strict=True)
    ):
        x = point.get(j, Fraction(0))
        if whole and x.denominator != 1:
            raise Rejected(f"column {j} of the point is no integer")
        _check_between(f"column {j}", x, ray.get(j, Fraction(0)), low, high)
    for i, row in enumerate(model.rows):
        x, d = (_sum(row.columns, row.coefficients, numbers) for numbers in (point, ray))
        _check_between(f"row {i}", x, d, row.lower, row.upper)
    if _sum(*model.costs, ray) >= 0:
        raise Rejected("the objective does not fall along the ray")


def _numbers(words: Sequence[str], columns: int) -> dict[int, Fraction]:
    if len(words) % 2 or max(map(len, words), default=0) > MOST_CHARACTERS:
        raise Rejected("not columns, each with a number")
    try:
        numbers = {
            int(j): Fraction(*map(int, x.split("/")))
            for j, x in zip(words[::2], words[1::2], strict=True)
        }
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise Rejected(str(error)) from None
    if len(numbers) < len(words) // 2 or not all(0 <= j < columns for j in numbers):
        raise Rejected("a column that is none, or is given twice")
    return numbers


def _sum(
    columns: Sequence[int], coefficients: Sequence[int], numbers: Mapping[int, Fraction]
) -> Fraction:
    terms = (a * numbers[j] for j, a in zip(columns, coefficients, strict=True) if j in numbers)
    return sum(terms, Fraction(0))


def _check_between(
    what: str, x: Fraction, slope: Fraction, low: int | Fraction | None, high: int | Fraction | None
) -> None:
    """Raise unless x is between two sides, and stays so for ever along a slope."""
    if low is not None and (x < low or slope < 0):
        raise Rejected(f"{what} is below its lower side, or falls along the ray")
    if high is not None and (x > high or slope > 0):
        raise Rejected(f"{what} is above its upper side, or rises along the ray")
