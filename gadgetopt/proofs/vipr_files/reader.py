"""Checks VIPR files, versions 1.0 and 1.1, about a model, ours or others'; standard library only.

Where a model is given, the file's own counts for nothing: each of its constraints has to be a bound
or a side of a row of the model, up to a positive factor, and its objective has to be the model's,
minimised, or the opposite, maximised. So it does not matter how the file names columns and rows.
What is returned is the best bound of a derivation that rests on no assumption, and beside it what
the file claims. Of `lin weak`, which SCIP writes, the bounds that it leaves out are put in. A last
use is a hint about memory, and is not heeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gadgetopt.proofs.vipr_files.constraints import (
    SIGNS,
    Line,
    Terms,
    as_bound,
    constraints_of,
    key,
    parts,
)
from gadgetopt.proofs.vipr_files.words import Words, number_of_word

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

#: Limits that no honest proof comes near: binary digits of a sum's denominator, and entries of
#: lines that are added up, where an assumption that is kept counts as `KEPT` of them.
MOST_BITS_OF_SUMS, MOST_ENTRIES, KEPT = 200_000, 10**9, 50


#: Returns constraints with factors that give a line, from constraints by their numbers; or None.
Completer = Callable[[Line, Mapping[int, Line]], Sequence[tuple[int, Fraction]] | None]


class ViprProof(NamedTuple):
    """What a VIPR file proves about its objective, and what it says.

    Attributes
    ----------
    version : str
    counts : dict
        How many columns, integer columns, constraints and derivations it has, and how many of
        these had no factors and were completed.
    sense : str
        "min" or "max", the file's.
    bound : Fraction or None
        Below it (above it, for a maximisation) the file's objective has no feasible value; None if
        nothing is feasible.
    claim : tuple or None
        Between what the file says that the optimum is, with None for infinity; None if it says that
        nothing is feasible.
    solutions : dict
        Values of the objective at the file's solutions by their names; in place of those that are
        not feasible, what they violate.
    """

    version: str
    counts: dict[str, int]
    sense: str
    bound: Fraction | None
    claim: tuple[Fraction | None, Fraction | None] | None
    solutions: dict[str, Fraction | str]


def proved_by_vipr(model: Model, lines: Iterable[str]) -> Fraction | None:
    """Return a bound below which `sum(costs * x)` has no feasible value; None if none is feasible.

    Raises
    ------
    ValueError
        If the file is no proof, or one about another model.
    """
    proof = read_vipr(lines, model)
    if proof.bound is None:
        return None
    return proof.bound * model.scale * (1 if proof.sense == "min" else -1)


def read_vipr(
    lines: Iterable[str],
    model: Model | None = None,
    names: Sequence[str] = (),
    complete: Completer | None = None,
) -> ViprProof:
    """Return what a VIPR file proves: about a model, or without one about the model in the file.

    Parameters
    ----------
    names : sequence of str
        Names of the model's columns, by which the file may call them.
    complete : Completer, optional
        Finds the factors of steps that have none; they are checked like any others.

    Raises
    ------
    ValueError
        If the file is no proof, or one about another model.
    """
    reader = _ViprReader(lines, model, names, complete)
    try:
        return reader.read()
    except StopIteration:
        raise ValueError("is no VIPR file: it ends too early") from None
    except (LookupError, ZeroDivisionError) as error:
        raise ValueError(f"line {reader.words.at}: is no line of a VIPR file: {error!r}") from None
    except ValueError as error:
        raise ValueError(f"line {reader.words.at}: {error}") from None


class _ViprReader:
    def __init__(
        self,
        lines: Iterable[str],
        model: Model | None,
        names: Sequence[str],
        complete: Completer | None,
    ):
        self.model, self.names, self.complete = model, names, complete
        #: How many constraints are no derivations, and how many steps were completed.
        self.first = self.completed = 0
        self.words = Words(lines)
        self.known: dict[int, Line] = {}
        #: What the model consists of, the one that is given or the file's.
        self.constraints: list[tuple[str, Line]] = []
        self.integer: list[bool] = []
        #: Columns of the model, in the order of the file.
        self.columns: list[int] = []
        #: 1 if the file minimises the model's objective, -1 if it maximises the opposite.
        self.direction = 1
        #: The objective of the file.
        self.objective: Terms = {}
        #: Values above which the file assumes that there is nothing of interest.
        self.cutoffs: list[Fraction] = []
        self.bounds: dict[tuple[int, int], Fraction] = {}
        self.steps = 0

    def read(self) -> ViprProof:
        self.words.skip("VER")
        version = next(self.words)
        if version not in ("1.0", "1.1"):
            raise ValueError(f"version {version[:20]!r} of VIPR, expected 1.0 or 1.1")
        counts = {"columns": self.words.after("VAR")}
        self._columns([next(self.words) for _ in range(counts["columns"])])
        counts["integer"] = self._integers()
        self._objective()
        counts["constraints"] = self.words.after("CON")
        self.words.index()
        self._read_constraints(counts["constraints"])
        self.first = counts["constraints"]
        claim = self._claim()
        solutions = dict(self._solution() for _ in range(self.words.after("SOL")))
        counts["derivations"] = self.words.after("DER")
        bound = self._best_bound(range(len(self.known), len(self.known) + counts["derivations"]))
        counts["completed"] = self.completed
        if word := next(self.words, ""):
            raise ValueError(f"{word[:20]!r} after the last derivation")
        sense = "min" if self.direction == 1 else "max"
        bound = None if bound is None else self.direction * bound
        return ViprProof(version, counts, sense, bound, claim, solutions)

    def _columns(self, names: list[str]) -> None:
        """Find the columns of the model: by its names, or `x3`, or `t_x3`, or by their order."""
        if len(set(names)) < len(names):
            raise ValueError("a column twice")
        self.columns = list(range(len(names)))
        if self.model is None:
            return
        there = len(self.model.integer)
        for known in (self.names, [f"x{j}" for j in range(there)]):
            ours = {f"{prefix}{name}": j for prefix in ("t_", "") for j, name in enumerate(known)}
            columns = [ours.get(name, -1) for name in names]
            if -1 not in columns and len(set(columns)) == len(names):
                self.columns = columns
                return
        if len(names) != there:
            raise ValueError(f"{len(names)} columns, expected the model's {there}, or names x0, x1")

    def _integers(self) -> int:
        """Read which columns are integer, as in the model; return how many."""
        self.integer = [False] * len(self.columns) if self.model is None else self.model.integer
        count = self.words.after("INT")
        for _ in range(count):
            j = self.columns[self.words.index()]
            if self.model is None:
                self.integer[j] = True
            if not self.integer[j]:
                raise ValueError("a column is integer that is not in the model")
        return count

    def _objective(self) -> None:
        """Read the objective, which has to be the model's."""
        self.words.skip("OBJ")
        self.direction = {"min": 1, "max": -1}[next(self.words)]
        self.objective = self._terms(next(self.words))
        if self.model is None:
            return
        scale = self.direction * self.model.scale
        if self.objective != {
            j: Fraction(a, scale) for j, a in zip(*self.model.costs, strict=True)
        }:
            raise ValueError("has another objective")

    def _read_constraints(self, count: int) -> None:
        """Read the constraints, each of which has to be a part of the model."""
        if self.model is not None:
            self.constraints = list(constraints_of(self.model))
        sides = {key(line) for _, line in self.constraints if line.terms}
        for number in range(count):
            name, line = next(self.words), self._relation()
            if self.model is None:
                self.constraints.append((f"constraint {name[:20]!r}", line))
            elif any(
                key(part) not in sides if part.terms else part.is_false() for part in parts(line)
            ):
                raise ValueError(f"constraint {name[:20]!r} is not in the model")
            self._put(number, line)

    def _claim(self) -> tuple[Fraction | None, Fraction | None] | None:
        """Read what the file says that the optimum is."""
        self.words.skip("RTP")
        word = next(self.words)
        if word == "infeas":
            return None
        if word != "range":
            raise ValueError(f"{word[:20]!r} after RTP, expected range or infeas")
        ends = next(self.words), next(self.words)
        low, high = (
            None if end == none else number_of_word(end)
            for end, none in zip(ends, ("-inf", "inf"), strict=True)
        )
        return low, high

    def _solution(self) -> tuple[str, Fraction | str]:
        """Read a solution; return its name, and its value or what it violates."""
        name, point = next(self.words), self._terms(next(self.words))
        for j, value in point.items():
            if self.integer[j] and value.denominator > 1:
                return name, f"column {j}, which is integer"
        for what, line in self.constraints:
            self._spend(1 + len(line.terms))
            if not line.holds_at(point):
                return name, what
        return name, sum((a * point.get(j, 0) for j, a in self.objective.items()), Fraction(0))

    def _best_bound(self, numbers: Iterable[int]) -> Fraction | None:
        """Read the derivations and return the best bound of one; None if nothing is feasible."""
        bounds = []
        for number in numbers:
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
        self._spend(KEPT * sum(1 + len(line.terms) for line in known.values()))
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

    def _spend(self, steps: int) -> None:
        """Count what a proof costs, so that a small file cannot keep the reader for ever."""
        self.steps += steps
        if self.steps > MOST_ENTRIES:
            raise ValueError("takes longer than any honest proof")

    def _put(self, number: int, line: Line) -> None:
        self._spend(KEPT * len(line.assumed))
        self.known[number] = line
        bound = None if line.assumed else as_bound(line)
        if bound is not None:
            j, sense, value = bound
            for end in {1: (0,), -1: (1,), 0: (0, 1)}[sense]:
                old = self.bounds.get((j, end))
                if old is None or (value > old if end == 0 else value < old):
                    self.bounds[j, end] = value

    def _relation(self) -> Line:
        """Read a constraint after its name."""
        sense, side, count = SIGNS[next(self.words)], self.words.number(), next(self.words)
        return Line(sense, side, self._terms(count))

    def _terms(self, count: str) -> Terms:
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
