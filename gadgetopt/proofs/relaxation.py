"""The linear relaxation of a model, which stays in HiGHS while a tree is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.proofs.lemmas.work import Work
from gadgetopt.solvers.highs import fill
from gadgetopt.solvers.silent_highs import bare_highs

if TYPE_CHECKING:
    from gadgetopt.proofs.tree_kernel import Row
    from gadgetopt.solvers.standard_form import StandardForm

#: With the solver's own 1e-7, tiny reduced costs times bounds cost large models their leaves.
#: Tuned: `benchmarks/constants.py`.
DUAL_TOLERANCE, PRIMAL_TOLERANCE = 1e-10, 1e-9
#: The second where a relaxation has no optimum with it; it stays so.
#: Tuned: `benchmarks/constants.py`.
LOOSE_TOLERANCE = 1e-7
#: By how much costs of columns with one bound are moved: more than the tolerance of reduced costs.
#: Tuned: `benchmarks/constants.py`.
LEAN = 1e-9
#: Largest entry to which a ray is scaled, so that few binary digits hold it.
#: Tuned: `benchmarks/constants.py`.
RAY_SIZE = 64.0
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Solved:
    """What the relaxation says at a node.

    `x`, `objective` and `duals` are there if it has an optimum, `ray` if it is infeasible and the
    solver has a proof; none of them if the solve ended early.
    """

    x: Floats | None = None
    objective: float = 0.0
    duals: Floats | None = None
    infeasible: bool = False
    ray: Floats | None = None


@dataclass(frozen=True)
class Tableau:
    """An optimal basis.

    Attributes
    ----------
    x : ndarray of float, shape (columns,)
    basic : sequence of int
        Column of each row of the basis; negative where a row is basic.
    columns, rows : ndarray of float
        1 for what is nonbasic at its lower bound, -1 at its upper one, 0 for what is basic.
    free : ndarray of bool, shape (columns,)
        True for a nonbasic column that is at no bound.
    """

    x: Floats
    basic: list[int]
    columns: Floats
    rows: Floats
    free: np.ndarray


class Relaxation:
    """A minimisation without its constant, whose bounds and costs change from node to node.

    Parameters
    ----------
    form : StandardForm
    left_s : callable
        Returns the seconds that are left.
    work : Work, optional
        Counts what is solved.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model.
    """

    def __init__(self, form: StandardForm, left_s: Callable[[], float], work: Work | None = None):
        self.work = work or Work()
        self.costs: Floats = -form.c if form.sense == "max" else form.c
        self.left_s: Callable[[], float] = left_s
        #: Rows without their sides.
        self.free_rows: set[int] = set()
        self.highs: Any = bare_highs()
        fill(self.highs, form, self.costs)
        self._entries = form.A.nnz
        self._most_iterations = _NO_LIMIT
        self._all = np.arange(len(form.columns), dtype=np.int32)
        for option, value in {
            "threads": 1,
            "output_flag": False,  # a fifth of a small node's time
            "presolve": "off",
            "solver": "simplex",
            "dual_feasibility_tolerance": DUAL_TOLERANCE,
            "primal_feasibility_tolerance": PRIMAL_TOLERANCE,
        }.items():
            self.highs.setOptionValue(option, value)

    def solve(self) -> Solved:
        """Solve from the last basis."""
        highs, ends = self.highs, highspy.HighsModelStatus
        end = self._run(_NO_LIMIT)
        if end == ends.kInfeasible:
            _, known, ray = highs.getDualRay()
            return Solved(infeasible=True, ray=_scaled(ray) if known else None)
        if end != ends.kOptimal:
            return Solved()
        found = highs.getSolution()
        objective = float(highs.getObjectiveValue())
        return Solved(np.array(found.col_value), objective, np.array(found.row_dual))

    def hint(
        self, j: int, tried: tuple[float, float], kept: tuple[float, float], most_iterations: int
    ) -> tuple[bool, float]:
        """Return whether tried bounds of a column are infeasible, and the objective reached.

        The bounds are as before. The basis is not: what HiGHS knows of the last one is worth more
        to the next solve than a nearer one that is factored anew.
        """
        self.highs.changeColBounds(j, *tried)
        end = self._run(most_iterations)
        objective = float(self.highs.getObjectiveValue())
        self.highs.changeColBounds(j, *kept)
        return end == highspy.HighsModelStatus.kInfeasible, objective

    def _run(self, most_iterations: int) -> highspy.HighsModelStatus:
        """Solve from the last basis, count the work, and return how it ended."""
        highs, unknown = self.highs, highspy.HighsModelStatus.kUnknown
        if most_iterations != self._most_iterations:
            highs.setOptionValue("simplex_iteration_limit", most_iterations)
            self._most_iterations = most_iterations
        highs.setOptionValue("time_limit", highs.getRunTime() + max(0.0, self.left_s()))
        highs.run()
        end: highspy.HighsModelStatus = highs.getModelStatus()
        for tolerance in (PRIMAL_TOLERANCE, LOOSE_TOLERANCE):
            if end != unknown:
                break
            # Numbers went astray on the way from the last basis, or are too large for it.
            highs.setOptionValue("primal_feasibility_tolerance", tolerance)
            highs.clearSolver()
            highs.run()
            end = highs.getModelStatus()
        known, iterations = highs.getInfoValue("simplex_iteration_count")
        self.work.solve(iterations if known == highspy.HighsStatus.kOk else 0, self._entries)
        return end

    def tableau(self) -> Tableau:
        """Return the basis of the last solve."""
        basis, at = self.highs.getBasis(), highspy.HighsBasisStatus
        ends = {at.kLower: 1.0, at.kUpper: -1.0}
        _, basic = self.highs.getBasicVariables()
        return Tableau(
            np.array(self.highs.getSolution().col_value),
            [int(j) for j in basic],
            np.array([ends.get(status, 0.0) for status in basis.col_status]),
            np.array([ends.get(status, 0.0) for status in basis.row_status]),
            np.array([status in (at.kZero, at.kNonbasic) for status in basis.col_status]),
        )

    def inverse_row(self, k: int) -> Floats:
        """Return a row of the inverse of the basis, by row of the model."""
        return np.array(self.highs.getBasisInverseRow(k)[1])

    def bound_column(self, j: int, low: float, high: float) -> None:
        """Change the bounds of a column."""
        self.highs.changeColBounds(j, low, high)

    def bound_row(self, i: int, low: float, high: float) -> None:
        """Change the sides of a row."""
        self.highs.changeRowBounds(i, low, high)

    def price(self, costs: Floats) -> None:
        """Change all costs."""
        self.highs.changeColsCost(len(costs), self._all, costs)

    def lean(self, sides: Sequence[tuple[int, int]]) -> None:
        """Move costs of columns a little, so that their reduced costs keep the sign they may have.

        Where the optimum would be unbounded with such costs, they stay.

        Parameters
        ----------
        sides : sequence of (int, int)
            Columns with one bound, each with the sign of the reduced costs that it limits.
        """
        own, self.costs = self.costs, self.costs.copy()
        for j, sign in sides:
            self.costs[j] -= sign * LEAN
        self.price(self.costs)
        self.solve()
        ends = highspy.HighsModelStatus
        if self.highs.getModelStatus() in (ends.kUnbounded, ends.kUnboundedOrInfeasible):
            self.costs = own
            self.price(own)

    def add_free_row(self, row: Row) -> None:
        """Add a row without its sides, so that later rows have the numbers they should have."""
        columns, coefficients, *_ = row
        self.free_rows.add(self.highs.getNumRow())
        self._entries += len(columns)
        entries = np.array(coefficients, dtype=float)
        self.highs.addRow(-np.inf, np.inf, len(columns), np.array(columns, np.int32), entries)

    def add_row(self, row: Row) -> None:
        """Add a row that has a lower side."""
        columns, coefficients, low, _, unit = row
        assert low is not None
        self._entries += len(columns)
        entries = np.array([a / unit for a in coefficients])
        self.highs.addRow(low / unit, np.inf, len(columns), np.array(columns, np.int32), entries)


def _scaled(ray: Any) -> Floats:
    out = np.array(ray, dtype=float)
    largest = np.abs(out).max(initial=0.0)
    return out * (RAY_SIZE / largest) if largest > 0 else out
