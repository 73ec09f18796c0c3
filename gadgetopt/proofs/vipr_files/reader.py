"""Checks VIPR files, versions 1.0 and 1.1, about a model, ours or others'; standard library only.

A file's own model counts for nothing: each of its constraints has to be a bound or a side of a row
of the model, up to a positive factor, and its objective has to be the model's, minimised, or the
opposite, maximised. So it does not matter how the file names columns and rows. What is returned is
the best bound of a derivation that rests on no assumption, not what the file claims. Of `lin weak`,
which SCIP writes, the bounds that it leaves out are put in. A last use is a hint about memory, and
is not heeded.
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
LARGEST_POWER = 4300
#: Limits that no honest proof comes near: binary digits of a sum's denominator, and entries of
#: lines that are added up, where an assumption that is kept counts as `KEPT` of them.
MOST_BITS_OF_SUMS, MOST_ENTRIES, KEPT = 200_000, 10**9, 50


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
    try:
        return _ViprReader(model, _words(lines)).read()
    except (LookupError, StopIteration, ZeroDivisionError) as error:
        raise ValueError(f"is no VIPR file: {error!r}") from None


def _words(lines: Iterable[str]) -> Iterator[str]:
    """Yield the words of lines; a word that begins with % begins a comment."""
    for line in lines:
        for word in line.split():
            if word.startswith("%"):
                break
            yield word


class _ViprReader:
    def __init__(self, model: Model, words: Iterator[str]):
        self.model = model
        self.words = words
        self.known: dict[int, Line] = {}
        self.columns: list[int] = []
        #: 1 if the file minimises the model's objective, -1 if it maximises the opposite.
        self.direction = 1
        #: The objective of the file.
        self.objective: Terms = {}
        #: Values above which the file assumes that there is nothing of interest.
        self.cutoffs: list[Fraction] = []
        self.bounds: dict[tuple[int, int], Fraction] = {}
        self.steps = 0

    def read(self) -> Fraction | None:
        self._skip("VER", 1)
        count = self._after("VAR")
        self.columns = self._columns([next(self.words) for _ in range(count)])
        for _ in range(self._after("INT")):
            if not self.model.integer[self.columns[self._index()]]:
                raise ValueError("a column is integer that is not in the model")
        self._objective()
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
        return self._best_bound(count)

    def _objective(self) -> None:
        """Read the objective, which has to be the model's."""
        self._skip("OBJ", 0)
        self.direction = {"min": 1, "max": -1}[next(self.words)]
        self.objective = self._terms(next(self.words))
        scale = self.direction * self.model.scale
        if self.objective != {
            j: Fraction(a, scale) for j, a in zip(*self.model.costs, strict=True)
        }:
            raise ValueError("has another objective")

    def _best_bound(self, first: int) -> Fraction | None:
        """Read the derivations and return the best bound of one; None if nothing is feasible."""
        bounds = []
        for number in range(first, first + self._after("DER")):
            name = next(self.words)
            try:
                derived = self._derivation(number)
            except ValueError as error:
                raise ValueError(f"derivation {name[:20]!r}: {error}") from None
            if not derived.assumed and (derived.is_false() or self._is_bound(derived)):
                bounds.append(self._bound(derived))
        if not bounds:
            raise ValueError("proves nothing about the objective without assumptions")
        known = [bound for bound in bounds if bound is not None]
        return max(known) * self.model.scale if len(known) == len(bounds) else None

    def _claims(self) -> None:
        """Skip what the file claims: the range and solutions."""
        self._skip("RTP", 0)
        if next(self.words) == "range":
            next(self.words), next(self.words)
        for _ in range(self._after("SOL")):
            next(self.words)
            for _ in range(2 * self._index()):
                next(self.words)

    def _is_bound(self, line: Line) -> bool:
        """Return True if a line bounds the model's objective from below."""
        return line.terms == self.objective and line.sense * self.direction >= 0

    def _bound(self, line: Line) -> Fraction | None:
        """Return the bound of a false line or one on the objective; None if nothing is feasible.

        Both hold only where the objective is not above the cutoffs so far.
        """
        values = list(self.cutoffs)
        if not line.is_false():
            values.append(self.direction * line.side)
        return min(values) if values else None

    def _derivation(self, number: int) -> Line:
        claimed = self._relation()
        if next(self.words) != "{":
            raise ValueError("a derivation without a reason")
        rule = next(self.words)
        if rule == "asm":
            derived = claimed._replace(assumed=frozenset([number]))
        elif rule == "sol":
            if claimed.terms != self.objective or claimed.sense != -self.direction:
                raise ValueError("`sol` is not about the objective")
            self.cutoffs.append(self.direction * claimed.side)
            derived = claimed
        elif rule in ("lin", "rnd"):
            derived = self._combined(claimed, rule == "rnd")
        elif rule == "uns":
            derived = self._either(claimed)
        else:
            raise ValueError(f"rule {rule[:20]!r}")
        word = next(self.words)
        if word != "}":
            raise ValueError("a reason without an end")
        while word == "}":  # an example of VIPR's closes a reason twice
            word = next(self.words)
        int(word)  # the last use
        self._put(number, derived)
        return derived

    def _combined(self, claimed: Line, rounded: bool) -> Line:
        word, weak = next(self.words), None
        if word == "incomplete":
            raise ValueError(
                "`incomplete` leaves its factors to a solver; expected a file that VIPR's "
                "`viprcomp` has completed"
            )
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
            self._spend(len(line.terms) + len(line.assumed))
            assumed |= line.assumed
            side = _short(side + factor * line.side)
            for j, a in line.terms.items():
                terms[j] = _short(terms.get(j, Fraction(0)) + factor * a)
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

    def _spend(self, steps: int) -> None:
        """Count what a proof costs, so that a small file cannot keep the reader for ever."""
        self.steps += steps
        if self.steps > MOST_ENTRIES:
            raise ValueError("takes longer than any honest proof")

    def _put(self, number: int, line: Line) -> None:
        self._spend(KEPT * len(line.assumed))
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
        return self._relation()

    def _relation(self) -> Line:
        """Read a constraint after its name."""
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

    def _columns(self, names: list[str]) -> list[int]:
        """Return the columns of `x3`, or `t_x3`, as SCIP calls it; of other names, in the order."""
        if len(set(names)) < len(names):
            raise ValueError("a column twice")
        there = len(self.model.integer)
        ours = {f"{prefix}x{j}": j for j in range(there) for prefix in ("", "t_")}
        columns = [ours.get(name, -1) for name in names]
        if -1 not in columns and len(set(columns)) == len(names):
            return columns
        if len(names) != there:
            raise ValueError(f"{len(names)} columns, expected the model's {there}, or names x0, x1")
        return list(range(there))

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
        if power and abs(int(power)) > LARGEST_POWER:
            raise ValueError(f"a number of too many digits: {word[:20]!r}")
        return Fraction(word)


def _short(number: Fraction) -> Fraction:
    """Return a number, unless sums have made its denominator very long."""
    if number.denominator.bit_length() > MOST_BITS_OF_SUMS:
        raise ValueError("numbers of too many digits")
    return number


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
