"""The derivations of a VIPR file, each checked: assumptions, sums, roundings, both sides of splits.

It needs the standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from gadgetopt.proofs.vipr_files.constraints import SIGNS, Line, Terms, as_bound
from gadgetopt.proofs.vipr_files.words import Words

#: Limits that no honest proof comes near: binary digits of a sum's denominator, and entries of
#: lines that are added up, where an assumption that is kept counts as `KEPT` of them.
#: By definition.
MOST_BITS_OF_SUMS, MOST_ENTRIES, KEPT = 200_000, 10**9, 50

#: Returns constraints with factors that give a line, from constraints by their numbers; or None.
Completer = Callable[[Line, Mapping[int, Line]], Sequence[tuple[int, Fraction]] | None]


class Derivations:
    """Constraints by their numbers, first those of the model, then those that are derived.

    Parameters
    ----------
    words : Words
    columns : list of int
        Columns of the model, in the order of the file.
    integer : list of bool
    complete : Completer or None
    """

    def __init__(
        self, words: Words, columns: list[int], integer: list[bool], complete: Completer | None
    ):
        self.words, self.columns, self.integer, self.complete = words, columns, integer, complete
        self.known: dict[int, Line] = {}
        #: How many constraints are the model's, and how many steps were completed.
        self.first = self.completed = 0
        #: 1 if the file minimises the model's objective, -1 if it maximises the opposite.
        self.direction = 1
        #: The objective of the file.
        self.objective: Terms = {}
        #: Values above which the file assumes that there is nothing of interest.
        self.cutoffs: list[Fraction] = []
        self.bounds: dict[tuple[int, int], Fraction] = {}
        self.steps = 0

    def best_bound(self, count: int) -> Fraction | None:
        """Read derivations and return the best bound of one; None if nothing is feasible."""
        bounds = []
        for number in range(self.first, self.first + count):
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
        return max(known) if len(known) == len(bounds) else None

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
        claimed = self.relation()
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
        self.put(number, derived)
        return derived

    def _combined(self, claimed: Line, rounded: bool) -> Line:
        word, weak = next(self.words), None
        if word == "weak":
            weak, word = self._named_bounds(), next(self.words)
        used = self._completed(claimed) if word == "incomplete" else self._factors(int(word))
        sense, side, terms = 0, Fraction(0), dict[int, Fraction]()
        assumed: frozenset[int] = frozenset()
        for number, factor in used:
            line = self._line(number)
            sign = line.sense if factor > 0 else -line.sense
            if not factor:
                continue
            if sign and sense == -sign:
                raise ValueError("a combination of both senses")
            sense = sign or sense
            self.spend(len(line.terms) + len(line.assumed))
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

    def _factors(self, count: int) -> list[tuple[int, Fraction]]:
        """Read constraints with their factors."""
        return [(self.words.index(), self.words.number()) for _ in range(count)]

    def _completed(self, claimed: Line) -> Sequence[tuple[int, Fraction]]:
        """Read the constraints of a step without factors, and have these found."""
        named = list[int]()
        while (word := next(self.words)) != "}":
            named.append(int(word))
        self.words.put_back(word)
        known = {n: self._line(n) for n in dict.fromkeys([*range(self.first), *named])}
        self.spend(KEPT * sum(1 + len(line.terms) for line in known.values()))
        found = self.complete and self.complete(claimed, known)
        if not found:
            raise ValueError(
                "`incomplete` leaves its factors to a solver"
                + (", which finds none" if self.complete else "; VIPR's `viprcomp` completes it")
            )
        self.completed += 1
        return found

    def _rounded(self, line: Line) -> Line:
        if not line.sense or not all(
            self.integer[j] and a.denominator == 1 for j, a in line.terms.items()
        ):
            raise ValueError("a rounding of what need not be an integer")
        nearest: Callable[[Fraction], int] = math.ceil if line.sense > 0 else math.floor
        return line._replace(side=Fraction(nearest(line.side)))

    def _named_bounds(self) -> dict[tuple[int, int], tuple[Fraction, frozenset[int]]]:
        """Read the bounds that a weakened combination names: `{ n (L|U column line value)* }`."""
        found = {}
        if next(self.words) != "{":
            raise ValueError("`weak` without bounds")
        for _ in range(self.words.index()):
            end = 0 if next(self.words) == "L" else 1
            j, line = self.columns[self.words.index()], self._line(self.words.index())
            self.words.number()
            bound = as_bound(line)
            if bound is None or bound[0] != j or bound[1] == (-1 if end == 0 else 1):
                raise ValueError("`weak` names a line that is no such bound")
            found[j, end] = bound[2], line.assumed
        if next(self.words) != "}":
            raise ValueError("`weak` without an end")
        return found

    def _either(self, claimed: Line) -> Line:
        one, left, other, right = [self.words.index() for _ in range(4)]
        if not all(number in self.known for number in (one, left, other, right)):
            raise ValueError("`uns` names a constraint that is not there before it")
        below, above = self.known[left], self.known[right]
        if below.sense == 1:
            below, above = above, below
        whole = all(self.integer[j] and a.denominator == 1 for j, a in below.terms.items())
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

    def spend(self, steps: int) -> None:
        """Count what a proof costs, so that a small file cannot keep the reader for ever."""
        self.steps += steps
        if self.steps > MOST_ENTRIES:
            raise ValueError("takes more steps than the limit for a proof")

    def put(self, number: int, line: Line) -> None:
        """Keep a constraint under its number."""
        self.spend(KEPT * len(line.assumed))
        self.known[number] = line
        bound = None if line.assumed else as_bound(line)
        if bound is not None:
            j, sense, value = bound
            for end in {1: (0,), -1: (1,), 0: (0, 1)}[sense]:
                old = self.bounds.get((j, end))
                if old is None or (value > old if end == 0 else value < old):
                    self.bounds[j, end] = value

    def relation(self) -> Line:
        """Read a constraint after its name."""
        sense, side, count = SIGNS[next(self.words)], self.words.number(), next(self.words)
        return Line(sense, side, self.terms(count))

    def terms(self, count: str) -> Terms:
        """Read terms after their number, or after `OBJ`, which stands for the objective's."""
        if count == "OBJ":
            return self.objective
        terms: Terms = {}
        for _ in range(int(count)):
            j = self.columns[self.words.index()]
            if j in terms:
                raise ValueError("a column twice in a constraint")
            terms[j] = self.words.number()
        return {j: a for j, a in terms.items() if a}

    def _line(self, number: int) -> Line:
        """Return a constraint by its number."""
        if number not in self.known:
            raise ValueError(f"names constraint {number}, which is not there before it")
        return self.known[number]


def _short(number: Fraction) -> Fraction:
    """Return a number, unless sums have made its denominator very long."""
    if number.denominator.bit_length() > MOST_BITS_OF_SUMS:
        raise ValueError("numbers of too many digits")
    return number
