"""Checks VIPR files about a model, ours or those of exact SCIP; standard library only.

A file's own model counts for nothing: each of its constraints has to be a bound or a side of a row
of the model, up to a positive factor. What is returned is the last derivation's bound, not what the
file claims. Of `lin weak`, which SCIP writes, the bounds that it leaves out are put in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

Terms = dict[int, Fraction]
SIGNS = {"G": 1, "E": 0, "L": -1}
#: Largest power of ten in a number: a few characters may stand for millions of digits.
MOST_DIGITS = 4300


class Line(NamedTuple):
    """`terms >= side` for the sense 1, `<=` for -1, `=` for 0; and the assumptions it rests on."""

    sense: int
    side: Fraction
    terms: Terms
    assumed: frozenset[int] = frozenset()

    def is_false(self) -> bool:
        """Return True if no point satisfies it."""
        wrong = {1: self.side > 0, 0: self.side != 0, -1: self.side < 0}
        return not self.terms and wrong[self.sense]

    def implies(self, other: Line) -> bool:
        """Return True if it is false or the same with a side that is at least as strong."""
        if self.is_false():
            return True
        if self.terms != other.terms or self.sense not in (0, other.sense):
            return False
        return (self.side - other.side) * other.sense >= 0 and (
            other.sense != 0 or self.side == other.side
        )


def proved_by_vipr(model: Model, lines: Iterable[str]) -> Fraction | None:
    """Return a bound below which `sum(costs * x)` has no feasible value; None if none is feasible.

    Raises
    ------
    ValueError
        If the file is no proof, or one about another model.
    """
    words = (word for line in lines if not line.startswith("%") for word in line.split())
    try:
        return _Reader(model, words).read()
    except (LookupError, StopIteration, ZeroDivisionError) as error:
        raise ValueError(f"is no VIPR file: {error!r}") from None


class _Reader:
    def __init__(self, model: Model, words: Iterator[str]):
        self.model = model
        self.words = words
        self.known: dict[int, Line] = {}
        self.columns: list[int] = []
        self.objective: Terms = {
            j: Fraction(a, model.scale) for j, a in zip(*model.costs, strict=True)
        }
        #: Values above which the file assumes that there is nothing of interest.
        self.cutoffs: list[Fraction] = []
        self.bounds: dict[tuple[int, int], Fraction] = {}

    def read(self) -> Fraction | None:
        self._skip("VER", 1)
        count = self._after("VAR")
        self.columns = [self._column(next(self.words)) for _ in range(count)]
        if len(set(self.columns)) < count:
            raise ValueError("a column twice")
        for _ in range(self._after("INT")):
            if not self.model.integer[self.columns[self._index()]]:
                raise ValueError("a column is integer that is not in the model")
        self._skip("OBJ", 0)
        if next(self.words) != "min" or self._terms(next(self.words)) != self.objective:
            raise ValueError("has another objective")
        count = self._after("CON")
        self._index()
        sides = set(_sides(self.model))
        for number in range(count):
            line = self._constraint()
            if any(_key(part) not in sides for part in _parts(line) if part.terms):
                raise ValueError(f"constraint {number} is not in the model")
            if any(not part.terms and part.is_false() for part in _parts(line)):
                raise ValueError(f"constraint {number} is not in the model")
            self._put(number, line)
        self._claims()
        last = None
        for number in range(count, count + self._after("DER")):
            last = self._derivation(number)
        if last is None or last.assumed:
            raise ValueError("proves nothing without assumptions")
        return self._bound(last)

    def _claims(self) -> None:
        """Skip what the file claims: the range and solutions."""
        self._skip("RTP", 0)
        if next(self.words) == "range":
            next(self.words), next(self.words)
        for _ in range(self._after("SOL")):
            next(self.words)
            for _ in range(2 * self._index()):
                next(self.words)

    def _bound(self, last: Line) -> Fraction | None:
        values = list(self.cutoffs)
        if not last.is_false():
            if last.terms != self.objective or last.sense < 0:
                raise ValueError("its last line is no bound on the objective")
            values.append(last.side)
        return min(values) * self.model.scale if values else None

    def _derivation(self, number: int) -> Line:
        claimed = self._constraint()
        if next(self.words) != "{":
            raise ValueError("a derivation without a reason")
        rule = next(self.words)
        if rule == "asm":
            derived = claimed._replace(assumed=frozenset([number]))
        elif rule == "sol":
            if claimed.terms != self.objective or claimed.sense != -1:
                raise ValueError("`sol` is not about the objective")
            self.cutoffs.append(claimed.side)
            derived = claimed
        elif rule in ("lin", "rnd"):
            derived = self._combined(claimed, rule == "rnd")
        elif rule == "uns":
            derived = self._either(claimed)
        else:
            raise ValueError(f"rule {rule[:20]!r}")
        if next(self.words) != "}":
            raise ValueError("a reason without an end")
        last_use = self._index()
        self._put(number, derived)
        if last_use >= 0 and last_use < number:
            raise ValueError("a last use before the line itself")
        return derived

    def _combined(self, claimed: Line, rounded: bool) -> Line:
        word, weak = next(self.words), None
        if word == "weak":
            weak, word = self._named_bounds(), next(self.words)
        sense, side, terms = 0, Fraction(0), dict[int, Fraction]()
        assumed: frozenset[int] = frozenset()
        for _ in range(int(word)):
            line, factor = self.known[self._index()], self._number()
            sign = line.sense if factor > 0 else -line.sense
            if not factor:
                continue
            if sign and sense == -sign:
                raise ValueError("a combination of both senses")
            sense = sign or sense
            assumed |= line.assumed
            side += factor * line.side
            for j, a in line.terms.items():
                terms[j] = terms.get(j, Fraction(0)) + factor * a
        if weak is not None:
            if sense and sense != claimed.sense:
                raise ValueError("a weakened combination of the other sense")
            sense = claimed.sense
            for j in set(terms) | set(claimed.terms):
                gap = claimed.terms.get(j, Fraction(0)) - terms.get(j, Fraction(0))
                if not gap:
                    continue
                # For `>=`, gap * x_j >= gap * (lower bound if gap > 0, upper if not) is added.
                end = 0 if (gap > 0) == (sense > 0) else 1
                value, more = weak.get((j, end)) or (self.bounds[j, end], frozenset())
                side, assumed = side + gap * value, assumed | more
                terms[j] = claimed.terms.get(j, Fraction(0))
            if sense == 0:
                raise ValueError("a weakened equation")
        derived = Line(sense, side, {j: a for j, a in terms.items() if a}, assumed)
        if rounded:
            derived = self._rounded(derived)
        if not derived.implies(claimed):
            raise ValueError("a combination does not give what it says")
        return claimed._replace(assumed=assumed)

    def _rounded(self, line: Line) -> Line:
        if not line.sense or not all(
            self.model.integer[j] and a.denominator == 1 for j, a in line.terms.items()
        ):
            raise ValueError("a rounding of what need not be an integer")
        nearest: Callable[[Fraction], int] = math.ceil if line.sense > 0 else math.floor
        return line._replace(side=Fraction(nearest(line.side)))

    def _named_bounds(self) -> dict[tuple[int, int], tuple[Fraction, frozenset[int]]]:
        """Read the bounds that a weakened combination names: `{ n (L|U column line value)* }`."""
        found = {}
        if next(self.words) != "{":
            raise ValueError("`weak` without bounds")
        for _ in range(self._index()):
            end = 0 if next(self.words) == "L" else 1
            j, line = self.columns[self._index()], self.known[self._index()]
            self._number()
            bound = _as_bound(line)
            if bound is None or bound[0] != j or bound[1] == (-1 if end == 0 else 1):
                raise ValueError("`weak` names a line that is no such bound")
            found[j, end] = bound[2], line.assumed
        if next(self.words) != "}":
            raise ValueError("`weak` without an end")
        return found

    def _either(self, claimed: Line) -> Line:
        one, left, other, right = [self._index() for _ in range(4)]
        below, above = self.known[left], self.known[right]
        if below.sense == 1:
            below, above = above, below
        whole = all(self.model.integer[j] and a.denominator == 1 for j, a in below.terms.items())
        if (
            not whole
            or (below.sense, above.sense) != (-1, 1)
            or below.terms != above.terms
            or below.side.denominator != 1
            or above.side != below.side + 1
        ):
            raise ValueError("`uns` without a split")
        if not (self.known[one].implies(claimed) and self.known[other].implies(claimed)):
            raise ValueError("`uns` does not give what it says")
        assumed = (self.known[one].assumed - {left}) | (self.known[other].assumed - {right})
        return claimed._replace(assumed=assumed)

    def _put(self, number: int, line: Line) -> None:
        self.known[number] = line
        bound = None if line.assumed else _as_bound(line)
        if bound is not None:
            j, sense, value = bound
            for end in {1: (0,), -1: (1,), 0: (0, 1)}[sense]:
                old = self.bounds.get((j, end))
                if old is None or (value > old if end == 0 else value < old):
                    self.bounds[j, end] = value

    def _constraint(self) -> Line:
        next(self.words)
        sense, side, count = SIGNS[next(self.words)], self._number(), next(self.words)
        return Line(sense, side, self._terms(count))

    def _terms(self, count: str) -> Terms:
        if count == "OBJ":
            return self.objective
        terms: Terms = {}
        for _ in range(int(count)):
            j = self.columns[self._index()]
            if j in terms:
                raise ValueError("a column twice in a constraint")
            terms[j] = self._number()
        return {j: a for j, a in terms.items() if a}

    def _column(self, name: str) -> int:
        """Return the column of `x3`, or of `t_x3`, as SCIP calls it."""
        prefix, _, digits = name.rpartition("x")
        if prefix not in ("", "t_") or not 0 <= int(digits) < len(self.model.integer):
            raise ValueError(f"unknown column {name[:20]!r}")
        return int(digits)

    def _after(self, keyword: str) -> int:
        self._skip(keyword, 0)
        return self._index()

    def _skip(self, keyword: str, more: int) -> None:
        if next(self.words) != keyword:
            raise ValueError(f"no {keyword} where it should be")
        for _ in range(more):
            next(self.words)

    def _index(self) -> int:
        return int(next(self.words))

    def _number(self) -> Fraction:
        word = next(self.words)
        _, _, power = word.lower().partition("e")
        if power and abs(int(power)) > MOST_DIGITS:
            raise ValueError(f"a number of too many digits: {word[:20]!r}")
        return Fraction(word)


def _as_bound(line: Line) -> tuple[int, int, Fraction] | None:
    """Return column, sense and value of a bound on one column."""
    if len(line.terms) != 1:
        return None
    ((j, a),) = line.terms.items()
    return j, line.sense if a > 0 else -line.sense, line.side / a


def _parts(line: Line) -> list[Line]:
    """Return an equation as its two sides."""
    return [line] if line.sense else [line._replace(sense=1), line._replace(sense=-1)]


def _key(line: Line) -> tuple[Fraction, frozenset[tuple[int, Fraction]]]:
    """Return what is equal for constraints that differ by a positive factor."""
    factor = Fraction(line.sense) / max(map(abs, line.terms.values()))
    return line.side * factor, frozenset((j, a * factor) for j, a in line.terms.items())


def _sides(model: Model) -> Iterator[tuple[Fraction, frozenset[tuple[int, Fraction]]]]:
    """Yield the bounds and the sides of the rows of a model."""
    for j, sides in enumerate(zip(model.lower, model.upper, strict=True)):
        for sense, side in zip((1, -1), sides, strict=True):
            if side is not None:
                yield _key(Line(sense, Fraction(side), {j: Fraction(1)}))
    for row in model.rows:
        pairs = zip(row.columns, row.coefficients, strict=True)
        terms = {j: Fraction(a) for j, a in pairs if a}
        for sense, side in zip((1, -1), (row.lower, row.upper), strict=True):
            if side is not None and terms:
                yield _key(Line(sense, Fraction(side), terms))
