"""Tree proofs written in the VIPR format, version 1.0, for anyone's checker.

VIPR (Cheung, Gleixner, Steffy, IPCO 2017) lists the model's bounds and rows, then derivations:
assumptions, linear combinations, roundings, and what holds on both sides of a split. Columns are
x0, x1, ..., rows r0, r1, ..., as in the MPS file of `rational_mps`.

A cut `c.x <= v` is the left side of a split where costs are of integer columns alone: what lies on
the right is beyond the goal anyway. VIPR splits integers only, so elsewhere the cut is VIPR's
`sol`, which says that some solution is no worse. VIPR's own checker asks to see it, and the file
has none; ours takes no bound above v from such a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from gadgetopt.proofs.exactness.sections import sections, with_cut, with_proved
from gadgetopt.proofs.model import Form, Model, Row
from gadgetopt.proofs.tree_kernel import divisor_of, proved, tree_of


def vipr(model: Model, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a VIPR file that proves what a tree proof proves.

    The objective is that of the minimisation, without its constant.

    Raises
    ------
    ValueError
        If the lines are no tree proof of the model.
    """
    proof = list(lines)
    least = proved(model, proof)
    writer, now = _Writer(model), model
    for section in sections(proof):
        if section.kind == "cut":
            now = with_cut(now, section)
            writer.cut(now.rows[-1])
            continue
        if section.kind == "tree":
            goal = None if least is None else least / model.scale
            writer.objective_tree(goal, section.lines)
            continue
        form = section.form
        now, bound = with_proved(now, section)
        last = writer.tree(form, Fraction(1), bound, _terms(*form), section.lines)
        if section.kind == "bound":
            writer.tighten(form, bound, last)
        else:
            writer.add_lemma(last, now.rows[-1])
    yield from _header(model, writer.constraints, len(writer.bounds))
    yield "RTP infeas" if least is None else f"RTP range {least / model.scale} inf"
    yield "SOL 0"
    yield f"DER {len(writer.derivations)}"
    yield from writer.derivations


def _header(model: Model, constraints: Sequence[str], bounds: int) -> Iterator[str]:
    whole = [str(j) for j, integer in enumerate(model.integer) if integer]
    yield "VER 1.0"
    yield f"VAR {len(model.integer)}"
    yield " ".join(f"x{j}" for j in range(len(model.integer)))
    yield f"INT {len(whole)}"
    yield " ".join(whole)
    yield "OBJ min"
    yield _terms(*model.costs, Fraction(1, model.scale))
    yield f"CON {len(constraints)} {bounds}"
    yield from constraints


def _terms(columns: Sequence[int], numbers: Sequence[int], unit: Fraction = Fraction(1)) -> str:
    pairs = (f" {j} {a * unit}" for j, a in zip(columns, numbers, strict=True))
    return f"{len(columns)}{''.join(pairs)}"


class _Writer:
    """The constraints and derivations so far, by their numbers; and what holds at a node.

    It is the path of `tree_of`: assumptions at splits, and `uns` where both sides are done.
    """

    def __init__(self, model: Model):
        self.model = model
        self.constraints: list[str] = []
        self.derivations: list[str] = []
        #: Number of the constraint that is a column's lower (0) or upper (1) bound.
        self.bounds: dict[tuple[int, int], int] = {}
        self.values: list[list[int | Fraction | None]] = [list(model.lower), list(model.upper)]
        for j in range(len(model.integer)):
            for side, sense in enumerate("GL"):
                value = self.values[side][j]
                if value is not None:
                    self.bounds[j, side] = self._constraint(
                        f"b{j}{sense}", sense, value, f"1 {j} 1"
                    )
        #: Numbers of the constraints that are a row's lower and upper side.
        self.rows = [self._row(i, row) for i, row in enumerate(model.rows)]
        #: The rows themselves: the model's, then a cut and lemmas.
        self.forms: list[Row] = list(model.rows)
        #: Number of the assumption that a cut is.
        self.assumed_cut: int | None = None
        self.splits: list[int] = []
        self._undo: list[tuple[list[str], int, int | None, int | Fraction | None, int]] = []
        self._done: list[int] = []
        self._form: Form = ([], [])
        self._unit, self._goal, self._text = Fraction(1), Fraction(0), ""
        self._infeasible = False

    def _constraint(self, name: str, sense: str, side: int | Fraction, terms: str) -> int:
        self.constraints.append(f"{name} {sense} {side} {terms}")
        return len(self.constraints) - 1

    def _row(self, i: int, row: Row) -> tuple[int | None, int | None]:
        unit = Fraction(1, row.denominator)
        terms = _terms(row.columns, row.coefficients, unit)
        if row.lower is not None and row.lower == row.upper:
            both = self._constraint(f"r{i}", "E", row.lower * unit, terms)
            return both, both
        sides = zip("GL", (row.lower, row.upper), strict=True)
        low, high = (
            None if x is None else self._constraint(f"r{i}{sense}", sense, x * unit, terms)
            for sense, x in sides
        )
        return low, high

    def cut(self, row: Row) -> None:
        """Take the row of a cut."""
        model, most = self.model, row.upper or 0
        terms = _terms(row.columns, row.coefficients)
        if all(model.integer[j] for j in row.columns):
            number = self.assumed_cut = self._derive("L", most, terms, "asm")
        else:
            unit = Fraction(1, model.scale)
            objective = _terms(row.columns, row.coefficients, unit)
            number = self._derive("L", most * unit, objective, "sol")
            if model.scale != 1:
                factors = [(number, Fraction(model.scale))]
                number = self._derive("L", most, terms, _combined(factors))
        self.rows.append((None, number))
        self.forms.append(row)

    def add_lemma(self, number: int, row: Row) -> None:
        """Take the row that a derivation says."""
        self.rows.append((number, None))
        self.forms.append(row)

    def objective_tree(self, goal: Fraction | None, lines: Sequence[str]) -> None:
        """Derive that the objective is at least the goal; None derives a contradiction."""
        left = self.tree(self.model.costs, Fraction(1, self.model.scale), goal, "OBJ", lines)
        if self.assumed_cut is None:
            return
        cut = self.forms[len(self.model.rows)]
        beyond = (cut.upper or 0) + 1
        terms = _terms(cut.columns, cut.coefficients)
        right = self._derive("G", beyond, terms, "asm")
        other = self._conclude(_combined([(right, self._unit)]))
        self._conclude(f"uns {left} {self.assumed_cut} {other} {right}")

    def tree(
        self, form: Form, unit: Fraction, goal: Fraction | None, text: str, lines: Sequence[str]
    ) -> int:
        """Derive that a form times its unit is at least the goal; None derives a contradiction."""
        self._form, self._unit, self._text = form, unit, text
        self._infeasible, self._goal = goal is None, goal or Fraction(0)
        tree_of(iter(lines), self, self._leaf)
        return self._done.pop()

    def tighten(self, form: Form, least: Fraction, number: int) -> None:
        """Make a bound of a column of what a derivation says of its form."""
        (j,), (a,) = form
        side, value = (0, least / a) if a > 0 else (1, least / a)
        old = self.values[side][j]
        if old is None or (value < old if side else value > old):
            self.values[side][j] = value
            reason = _combined([(number, Fraction(1, a))])
            self.bounds[j, side] = self._derive("GL"[side], value, f"1 {j} 1", reason)

    def _derive(self, sense: str, side: int | Fraction, terms: str, reason: str) -> int:
        number = len(self.constraints) + len(self.derivations)
        self.derivations.append(f"d{number} {sense} {side} {terms} {{ {reason} }} -1")
        return number

    def _assume(self, words: Sequence[str], upper: bool) -> int:
        """Assume one side of a split."""
        kind, *rest = words
        numbers = list(map(int, rest))
        if kind == "b":
            v, terms = numbers[1], f"1 {numbers[0]} 1"
        elif kind == "s":
            v, terms = numbers[0], _terms(numbers[1::2], numbers[2::2])
        else:
            v = numbers[1]
            row = self.forms[numbers[0]]
            terms = _terms(row.columns, [a // row.denominator for a in row.coefficients])
        return self._derive("L" if upper else "G", v if upper else v + 1, terms, "asm")

    def split(self, words: Sequence[str]) -> None:
        """Go to the left side of a split."""
        assumed = self._assume(words, upper=True)
        self._enter(list(words), assumed, 1, -1)

    def turn(self) -> None:
        """Go from the left side of the last split to its right side."""
        words, left, number, value, _ = self._undo.pop()
        self._restore(words, 1, number, value)
        self._enter(words, self._assume(words, upper=False), 0, left)

    def leave(self) -> None:
        """Derive the goal before the last split from both of its sides."""
        words, right, number, value, left = self._undo.pop()
        self._restore(words, 0, number, value)
        of_right, of_left = self._done.pop(), self._done.pop()
        self._done.append(self._conclude(f"uns {of_left} {left} {of_right} {right}"))

    def _enter(self, words: list[str], assumed: int, side: int, left: int) -> None:
        if words[0] != "b":
            self.splits.append(assumed)
            self._undo.append((words, assumed, None, None, left))
            return
        j, v = int(words[1]), int(words[2])
        old, number = self.values[side][j], self.bounds.get((j, side))
        self._undo.append((words, assumed, number, old, left))
        new = v if side else v + 1
        if old is None or (new < old if side else new > old):
            self.values[side][j], self.bounds[j, side] = new, assumed

    def _restore(
        self, words: list[str], side: int, number: int | None, value: int | Fraction | None
    ) -> None:
        if words[0] != "b":
            self.splits.pop()
            return
        j = int(words[1])
        self.values[side][j] = value
        if number is None:
            self.bounds.pop((j, side), None)
        else:
            self.bounds[j, side] = number

    def _conclude(self, reason: str) -> int:
        if self._infeasible:
            return self._derive("G", 1, "0", reason)
        return self._derive("G", self._goal, self._text, reason)

    def _leaf(self, words: Sequence[str]) -> None:
        """Derive the goal, or a contradiction, from a leaf's duals."""
        end = words.index("|") if "|" in words else len(words)
        q, *pairs = map(int, words[1:end])
        rest = list(map(int, words[end + 1 :]))
        scale = Fraction(1, divisor_of(words[0])) * (self._unit if q else 1)
        reduced = {j: a * self._unit for j, a in zip(*self._form, strict=True)} if q else {}
        used: list[tuple[int, Fraction]] = []
        for i, y in zip(pairs[::2], pairs[1::2], strict=True):
            number = self.rows[i][0 if y > 0 else 1]
            if y and number is not None:
                used.append((number, y * scale))
        used += [
            (self.splits[t], y * scale) for t, y in zip(rest[::2], rest[1::2], strict=True) if y
        ]
        total = Fraction(0)
        for number, factor in used:
            _, _, side, _, *terms = self._text_of(number)
            total += factor * Fraction(side)
            for column, a in zip(terms[::2], terms[1::2], strict=True):
                j = int(column)
                reduced[j] = reduced.get(j, Fraction(0)) - factor * Fraction(a)
        for j, r in reduced.items():
            side_of = 0 if r > 0 else 1
            bound = self.values[side_of][j]
            if r and bound is not None:
                used.append((self.bounds[j, side_of], r))
                total += r * bound
        self._done.append(self._of_leaf(used, total, q))

    def _of_leaf(self, used: Sequence[tuple[int, Fraction]], total: Fraction, q: int) -> int:
        if q == 0:
            return self._derive("G", total, "0", _combined(used))
        if total >= self._goal:
            return self._conclude(_combined(used))
        step = math.gcd(*self._form[1]) * self._unit
        coprime = _terms(*self._form, self._unit / step)
        divided = [(number, factor / step) for number, factor in used]
        if all(self._text_of(number)[1] == "E" for number, _ in divided):  # only sides are rounded
            side = self._derive("G", total / step, coprime, _combined(divided))
            divided = [(side, Fraction(1))]
        whole = self._derive("G", math.ceil(total / step), coprime, f"rnd {_factors(divided)}")
        return self._conclude(_combined([(whole, step)]))

    def _text_of(self, number: int) -> list[str]:
        """Return the words of a constraint, up to its reason."""
        before = len(self.constraints)
        if number < before:
            return self.constraints[number].split()
        return self.derivations[number - before].partition(" {")[0].split()


def _factors(used: Sequence[tuple[int, Fraction]]) -> str:
    return f"{len(used)}{''.join(f' {number} {factor}' for number, factor in used)}"


def _combined(used: Sequence[tuple[int, Fraction]]) -> str:
    return f"lin {_factors(used)}"
