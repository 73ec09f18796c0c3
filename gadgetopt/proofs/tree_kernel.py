"""The checker of tree proofs. It needs nothing but this file and the standard library.

For a minimum `z` of c.x over rows `L <= a.x <= U` and bounds `l <= x <= u`, any row duals y and q
in {0, 1} with `r = q c - A'y` give

    q c.x = y'Ax + r.x >= sum_i (y_i L_i if y_i > 0 else y_i U_i) + sum_j (r_j l_j or r_j u_j),

which is a bound on c.x for q = 1; for q = 0 a positive right side shows that nothing is feasible. A
tree splits integer points: `p.x <= v` or `p.x >= v + 1` for an integer form p of integer columns.
Each leaf gives duals, and the least bound of the leaves holds. A lemma is a form with its own tree,
whose bound is a row from there on, or a column's. A cut `c.x <= v` is a row: the rest is above v.

A proof is a text of lines, trees in preorder. Numbers are integers, columns and rows indices:

    cut v                    c.x <= v is a row from here on; once, before all else
    bound j a                the tree of `a x_j` follows; what it proves is a bound of column j
    lemma j a j a ...        the tree of the lemma with the form `sum a x_j` follows
    tree                     the tree of the objective follows, and ends the proof
    b j v                    split: x_j <= v, then x_j >= v + 1
    s v j a j a ...          split on the form `sum a x_j`
    g i v                    split on the left side of row i
    l k q i Y i Y ... | t Y  leaf: duals Y / 2^k of rows i, and of the splits t on its path
    l /d q i Y ... | t Y     leaf: duals Y / d, for any integer d > 0

Splits on the path are counted from 0, without those of kind b. No line says what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form, Model

#: Columns, coefficients, lower and upper side or None, and the denominator of all of them.
Row = tuple[Sequence[int], Sequence[int], int | None, int | None, int]
#: Limits far beyond any honest proof: binary digits of duals, splits on a path, digits of other
#: divisors, and entries of rows added up, once for every thousand binary digits. By definition.
MOST_BINARY_DIGITS, DEEPEST, MOST_BITS, MOST_STEPS = 400, 200_000, 200_000, 3 * 10**9


class Rejected(ValueError):
    """The text is no proof."""


def proved(model: Model, lines: Iterable[str]) -> Fraction | None:
    """Return a bound below which `sum(costs * x)` has no feasible value; None if none is feasible.

    Raises
    ------
    Rejected
        If the text is no proof.
    """
    box = Box(model, list(model.rows))  # every tree leaves it as it was
    source, cut = iter(lines), list[Fraction]()
    try:
        for number, line in enumerate(source):
            kind, *words = line.split()
            if kind == "tree" and not words:
                bound = rounded(model, model.costs, _tree(box, source, model.costs))
                if next(source, None) is not None:
                    raise Rejected("lines after the tree")
                return min([*cut, bound] if bound is not None else cut, default=None)
            if kind == "cut" and number == 0:
                (value,) = cut = [Fraction(int(word)) for word in words]
                box.rows.append((*model.costs, None, value.numerator, 1))
                continue
            if kind not in ("lemma", "bound"):
                raise Rejected(f"{kind[:20]!r} in place of a lemma or tree")
            form = _form(words, model.integer)
            least = rounded(model, form, _tree(box, source, form))
            if least is None or least.denominator.bit_length() > MOST_BITS:
                raise Rejected("a lemma about nothing, or of too many digits")
            if kind == "bound":
                box.tighten(form, least)
                continue
            above, below = least.numerator, least.denominator
            box.rows.append((form[0], [a * below for a in form[1]], above, None, below))
    except (ValueError, IndexError, ZeroDivisionError) as error:  # no integer, row or column
        raise Rejected(str(error)) from None
    raise Rejected("the text ends before its tree does")


class Path(Protocol):
    """What holds at a node of a tree, because of the splits on the way from the root to it."""

    def split(self, words: Sequence[str]) -> None:
        """Go to the left side of a split."""

    def turn(self) -> None:
        """Go from the left side of the last split to its right side."""

    def leave(self) -> None:
        """Go back to before the last split."""


def tree_of(
    lines: Iterator[str], path: Path, leaf: Callable[[Sequence[str]], Fraction | None]
) -> Fraction | None:
    """Return the least bound of a tree's leaves; None if each of them is infeasible.

    `leaf` returns the bound that a leaf proves where the path is; None for infeasible.
    """
    best: Fraction | None = None
    left: list[bool] = []  # for each split on the path, whether we are on its left side
    for line in lines:
        kind, *words = line.split()
        if kind != "l":
            if len(left) >= DEEPEST:
                raise Rejected("the tree is too deep")
            path.split([kind, *words])
            left.append(True)
            continue
        bound = leaf(words)
        if bound is not None and (best is None or bound < best):
            best = bound
        while left and not left[-1]:
            left.pop()
            path.leave()
        if not left:
            return best
        left[-1] = False
        path.turn()
    raise Rejected("the text ends before its tree does")


def _tree(box: Box, lines: Iterator[str], form: Form) -> Fraction | None:
    return tree_of(lines, box, lambda words: _leaf(box, form, words))


class Box:
    """The bounds of the columns and the rows of the splits that hold at a node."""

    def __init__(self, model: Model, rows: list[Row]):
        self.integer = model.integer
        self.lower, self.upper = list(model.lower), list(model.upper)
        self.rows, self.splits = rows, list[Row]()
        self.steps = 0
        # For each split on the path: column, value and its bounds before; or None and the value.
        self._undo: list[tuple[int | None, int, int | Fraction | None, int | Fraction | None]] = []

    def tighten(self, form: Form, least: Fraction) -> None:
        """Give a column the bound that follows where its form is at least a number."""
        (j,), (a,) = form
        value = least / a
        low, high = self.lower[j], self.upper[j]
        if a > 0:
            self.lower[j] = value if low is None else max(value, low)
        else:
            self.upper[j] = value if high is None else min(value, high)

    def split(self, words: Sequence[str]) -> None:
        """Go to the left side of a split."""
        kind, *rest = words
        numbers = [int(word) for word in rest]
        if kind == "b":
            j, v = numbers
            if j < 0 or not self.integer[j]:
                raise Rejected(f"a split on column {j}, which is no integer")
            low, high = self.lower[j], self.upper[j]
            self._undo.append((j, v, low, high))
            self.upper[j] = v if high is None else min(v, high)
            return
        form: Form
        if kind == "s":
            v, form = numbers[0], _form(rest[1:], self.integer)
        elif kind == "g":
            i, v = numbers
            columns, coefficients, _, _, denominator = self.rows[i]
            form = list(columns), [a // denominator for a in coefficients]
            if i < 0 or any(a % denominator for a in coefficients):
                raise Rejected(f"a split on row {i}, which has no integer coefficients")
        else:
            raise Rejected(f"{kind[:20]!r} in place of a split or leaf")
        if not all(self.integer[j] for j in form[0]):
            raise Rejected("a split on a column that is no integer")
        self._undo.append((None, v, None, None))
        self.splits.append((*form, None, v, 1))

    def turn(self) -> None:
        """Go from the left side of the last split to its right side."""
        j, v, low, high = self._undo[-1]
        if j is None:
            columns, coefficients, *_ = self.splits[-1]
            self.splits[-1] = (columns, coefficients, v + 1, None, 1)
        else:
            self.upper[j] = high
            self.lower[j] = v + 1 if low is None else max(v + 1, low)

    def leave(self) -> None:
        """Go back to before the last split."""
        j, _, low, _ = self._undo.pop()
        if j is None:
            self.splits.pop()
        else:
            self.lower[j] = low


def _leaf(box: Box, form: Form, words: Sequence[str]) -> Fraction | None:
    """Return the bound that a leaf proves on a form, None if it proves that nothing is feasible."""
    end = words.index("|") if "|" in words else len(words)
    q, *pairs = map(int, words[1:end])
    if box.steps > MOST_STEPS:
        raise Rejected("takes more steps than the limit for a proof")
    return leaf_bound(box, form, divisor_of(words[0]), q, pairs, list(map(int, words[end + 1 :])))


def divisor_of(word: str) -> int:
    """Return what the duals of a leaf are over: 2^k of a word `k`, d of `/d`."""
    if word.startswith("/"):
        return int(word[1:])
    if int(word) > MOST_BINARY_DIGITS:
        raise Rejected("a leaf of more digits than the limit for a proof")
    return 1 << int(word)


def leaf_bound(
    box: Box, form: Form, divisor: int, q: int, pairs: Sequence[int], rest: Sequence[int]
) -> Fraction | None:
    """Return what a leaf proves, with its duals `i Y ...` of rows and `t Y ...` of splits."""
    if q not in (0, 1) or len(pairs) % 2 or len(rest) % 2 or not 0 < divisor < 1 << MOST_BITS:
        raise Rejected("a leaf that is not of the form `l k q i Y ... | t Y ...`")
    if any(min(x, default=0) < 0 or len(set(x)) < len(x) for x in (pairs[::2], rest[::2])):
        raise Rejected("a leaf with an index that is negative or given twice")
    duals = [(box.rows[i], y) for i, y in zip(pairs[::2], pairs[1::2], strict=True)]
    duals += [(box.splits[t], y) for t, y in zip(rest[::2], rest[1::2], strict=True)]
    common = lcm(*[row[4] for row, _ in duals])
    entries = len(form[0]) + sum([len(row[0]) for row, _ in duals])
    unit = common * divisor
    box.steps += entries * (1 + unit.bit_length() // 1000)
    reduced = {j: a * unit for j, a in zip(*form, strict=True)} if q else {}
    total, parts = 0, dict[int, int]()  # of integers, and numerators by denominator
    for (columns, coefficients, low, high, denominator), y in duals:
        weight = y * (common // denominator)
        side = 0 if y == 0 else low if y > 0 else high
        if side is None:
            raise Rejected("a dual on a side that its row does not have")
        total += weight * side
        for j, a in zip(columns, coefficients, strict=True):
            reduced[j] = reduced.get(j, 0) - weight * a
    lower, upper = box.lower, box.upper
    for j, r in reduced.items():
        if r and (bound := lower[j] if r > 0 else upper[j]) != 0:
            if isinstance(bound, int):
                total += r * bound
                continue
            if bound is None:
                raise Rejected(f"a reduced cost on a side where column {j} has no bound")
            parts[bound.denominator] = parts.get(bound.denominator, 0) + r * bound.numerator
    right = total + sum([Fraction(part, of) for of, part in parts.items()])
    if q:
        return Fraction(right, unit)
    if right <= 0:
        raise Rejected("a leaf that is not infeasible")
    return None


def _form(words: Sequence[str], integer: Sequence[bool]) -> Form:
    """Return the form that words write: distinct columns, each with an integer."""
    columns, coefficients = list(map(int, words[::2])), list(map(int, words[1::2]))
    wrong = len(columns) != len(coefficients) or len(set(columns)) < len(columns)
    if wrong or not all(0 <= j < len(integer) for j in columns):
        raise Rejected("a form that is not distinct columns, each with a coefficient")
    return columns, coefficients


def rounded(model: Model, form: Form, bound: Fraction | None) -> Fraction | None:
    """Return a bound on a form, the next value it can take where its columns are integers."""
    step = gcd(*form[1])
    if bound is None or not step or not all(model.integer[j] for j in form[0]):
        return bound
    return Fraction(step * -(-bound.numerator // (bound.denominator * step)))
