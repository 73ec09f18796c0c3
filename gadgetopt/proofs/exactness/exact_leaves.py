"""Leaves over any denominator: the relaxation of a node solved in rational numbers.

Where a column has no bound, its reduced cost has to be zero, or of one sign, exactly, and that of
rounded duals seldom is. The duals of the basis in which HiGHS ends, solved exactly, are so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gadgetopt.proofs.leaves import best_leaf
from gadgetopt.proofs.model import Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.tree_kernel import Rejected, leaf_bound
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.exact_form import ExactReader, Side
from gadgetopt.solvers.exact_optimum.bases import basis_of
from gadgetopt.solvers.exact_optimum.elastic import least_violation
from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
from gadgetopt.solvers.exact_optimum.shifted_duals import shifted_duals
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.proofs.leaves import Dual
    from gadgetopt.proofs.model import Form
    from gadgetopt.proofs.tree_search import TreeSearch
    from gadgetopt.solvers.standard_form import StandardForm

#: Part of the root's objective that its rounded duals may lose. Tuned: `benchmarks/constants.py`.
LOST = 1e-6
#: Most binary digits of a leaf's denominator. Tuned: `benchmarks/constants.py`.
MOST_BITS = 20_000


class ExactDuals(NamedTuple):
    """Duals of rows as integers over a divisor."""

    divisor: int
    rows: list[tuple[int, int]]


class ExactLeaves:
    """Leaves of a tree whose duals are solved exactly, for nodes where rounded ones prove nothing.

    Parameters
    ----------
    tree : TreeSearch
    """

    def __init__(self, tree: TreeSearch):
        self._tree = tree
        #: Duals of the root, if rounded ones prove much less there.
        self._root: ExactDuals | None = None
        self._form: StandardForm | None = None

    def settle_root(self, rows: Sequence[Dual], objective: float) -> None:
        """Solve the root exactly if its rounded duals prove much less than its objective."""
        made = best_leaf(self._tree.box, self._tree.form, rows, [])
        if made is None or made[1] < objective - LOST * abs(objective):
            self._root = self._optimal()

    def bounding(self) -> tuple[str, Fraction] | None:
        """Return the leaf of the node that has just been solved, and what it proves."""
        return self._bounding(self._optimal())

    def of_root(self) -> tuple[str, Fraction] | None:
        """Return the leaf that the duals of the root make at a node, and what it proves."""
        return self._bounding(self._root)

    def infeasible(self) -> str | None:
        """Return the leaf that proves the node infeasible; None if it is not, or none is found."""
        best = least_violation(self._at_node(), self._clock())
        if best is None or best.objective <= 0:
            return None
        made = self._leaf(_over_one_divisor(best.duals), ([], []), 0)
        return None if made is None else made[0]

    def _bounding(self, duals: ExactDuals | None) -> tuple[str, Fraction] | None:
        made = self._leaf(duals, self._tree.form, 1)
        return None if made is None or made[1] is None else (made[0], made[1])

    def _leaf(
        self, duals: ExactDuals | None, form: Form, q: int
    ) -> tuple[str, Fraction | None] | None:
        if duals is None:
            return None
        of_rows, of_splits = self._tree.parted(duals.rows)
        pairs, rest = ([x for pair in part for x in pair] for part in (of_rows, of_splits))
        try:
            bound = leaf_bound(self._tree.box, form, duals.divisor, q, pairs, rest)
        except Rejected:
            return None
        words = ["l", f"/{duals.divisor}", q, *pairs, *(["|", *rest] if rest else [])]
        return " ".join(map(str, words)), bound

    def _optimal(self) -> ExactDuals | None:
        """Return duals where the relaxation has just been solved; None if none are found.

        Those of its basis, or near the solver's where the basis is too large for rational numbers.
        """
        highs, form = self._tree.lp.highs, self._at_node()
        basis = basis_of(highs)
        if basis is None:
            return None
        best = exact_optimum(form, basis, self._clock())
        if best is not None and (exact := _over_one_divisor(best.duals)) is not None:
            return exact
        scale = float(self._tree.model.scale)
        moved = shifted_duals(form, np.array(highs.getSolution().row_dual) * scale)
        return None if moved is None else _over_one_divisor(moved)

    def _clock(self) -> Clock:
        return Clock(Limits(time_s=max(0.0, self._tree.lp.left_s())))

    def _at_node(self) -> StandardForm:
        """Return the relaxation with the bounds and sides that hold at the node."""
        if self._form is None:
            self._form = self._relaxation()
        form, box = self._form, self._tree.box
        low, high = form.row_lower.copy(), form.row_upper.copy()
        rows = dict(form.exact.rows)
        for i, sides in self._split_sides():
            low[i], high[i] = map(float, sides)
            rows[i] = replace(ExactReader(form).row(i), lower=sides[0], upper=sides[1])
        return replace(
            form,
            col_lower=np.array([-np.inf if x is None else float(x) for x in box.lower]),
            col_upper=np.array([np.inf if x is None else float(x) for x in box.upper]),
            row_lower=low,
            row_upper=high,
            exact=replace(
                form.exact,
                rows=rows,
                col_lower={j: x for j, x in enumerate(box.lower) if x is not None},
                col_upper={j: x for j, x in enumerate(box.upper) if x is not None},
            ),
        )

    def _relaxation(self) -> StandardForm:
        """Return the relaxation of the root, with the rows that it has in HiGHS."""
        tree, columns = self._tree, range(len(self._tree.model.integer))
        rows = [
            Row(list(row[0]), list(row[1]), None, None, row[4])
            if i in tree.lp.free_rows
            else Row(list(row[0]), list(row[1]), *row[2:])
            for i, row in enumerate(tree.box.rows[: tree.lp.highs.getNumRow()])
        ]
        model = tree.model._replace(
            integer=[False for _ in columns], rows=rows, scale=1, offset=0, sense="min"
        )
        return form_of(model, [f"x{j}" for j in columns], [f"r{i}" for i in range(len(rows))])

    def _split_sides(self) -> Iterator[tuple[int, tuple[Side, Side]]]:
        """Yield the rows that are split on, each with its sides at the node."""
        box = self._tree.box
        for i, along in self._tree.rows.items():
            _, _, low, high, unit = box.rows[i]
            lower: Side = -math.inf if low is None else Fraction(low, unit)
            upper: Side = math.inf if high is None else Fraction(high, unit)
            for t in along:
                below, above = box.splits[t][2:4]
                lower = lower if below is None else max(lower, below)
                upper = upper if above is None else min(upper, above)
            if along:
                yield i, (lower, upper)


def _over_one_divisor(duals: Sequence[Fraction]) -> ExactDuals | None:
    divisor = math.lcm(*(y.denominator for y in duals))
    if divisor.bit_length() > MOST_BITS:
        return None
    rows = [(i, y.numerator * (divisor // y.denominator)) for i, y in enumerate(duals) if y]
    return ExactDuals(divisor, rows)
