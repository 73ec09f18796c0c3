"""A linear program that stays in HiGHS while rows and columns are added.

Every solve starts from the basis of the one before. Rows and columns go in as arrays, many at a
time, and are numbered in the order in which they were added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.exact_optimum import bases
from gadgetopt.solvers.highs import SMALLEST_COEFFICIENT
from gadgetopt.solvers.interrupt import PATIENCE_S, run_interruptibly
from gadgetopt.solvers.silent_highs import new_highs
from gadgetopt.system.result import Limits, Status

Array = npt.NDArray[Any] | Sequence[float]

#: Algorithms for an LP, with HiGHS's options `solver` and `simplex_strategy`.
ALGORITHMS: dict[str, tuple[str, int]] = {
    "choose": ("simplex", 0),
    "dual": ("simplex", 1),
    "primal": ("simplex", 4),
    "interior_point": ("ipm", 0),
}
Algorithm = Literal["choose", "dual", "primal", "interior_point"]

INFINITY = math.inf

#: Relative difference of primal and dual objective up to which an optimum is accepted.
#: Tuned: `benchmarks/constants.py`.
OBJECTIVES_AGREE = 1e-6


class PersistentLp:
    """A linear program in HiGHS that grows and is solved again and again.

    Parameters
    ----------
    sense : "min" or "max"
    cost_unit : float, default 1
        Power of two by which the objective is scaled for HiGHS, see `gadgetopt.solvers.scaling`.
        Arguments and results are in the caller's unit.
    **options
        HiGHS's options, by name. Presolve is off by default: it could only serve the first solve,
        and its search for dominated columns takes quadratic time without a limit.

    Raises
    ------
    ModelRefused
        If HiGHS does not know an option or does not accept its value.
    """

    def __init__(
        self, sense: Literal["min", "max"], *, cost_unit: float = 1.0, **options: str | float | bool
    ) -> None:
        self._highs = new_highs()
        self._cost_unit = cost_unit
        self._set("small_matrix_value", SMALLEST_COEFFICIENT)
        for name, value in {"presolve": "off", **options}.items():
            self._set(name, value)
        senses = highspy.ObjSense
        self._highs.changeObjectiveSense(senses.kMaximize if sense == "max" else senses.kMinimize)
        self._highs.HandleUserInterrupt = True
        #: What stopped the last solve: "time_s", "interrupted" or None.
        self.limit_hit: str | None = None
        #: Simplex and interior-point iterations of all solves.
        self.iterations: int = 0
        #: Number of solves that failed from the last basis and were repeated without it.
        self.cold_restarts: int = 0

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return int(self._highs.getNumCol())

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self._highs.getNumRow())

    def add_columns(
        self,
        cost: Array,
        lower: Array,
        upper: Array,
        starts: Array = (),
        rows: Array = (),
        values: Array = (),
    ) -> range:
        """Add columns and return their numbers.

        Parameters
        ----------
        cost, lower, upper : array, shape (new,)
            Objective coefficients and bounds; infinite bounds are no bounds.
        starts : array, shape (new,)
            Where each column's entries begin in `rows` and `values`; empty if there are none.
        rows, values : array, shape (entries,)
            Rows that exist, each at most once a column, and the coefficients there.

        Raises
        ------
        ModelRefused
            If a coefficient is so small that HiGHS would drop it, or HiGHS does not accept the
            columns.
        """
        first, new = self.num_columns, len(cost)
        matrix = self._matrix(new, starts, rows, values)
        self._check(
            self._highs.addCols(new, self._cost(cost), _f(lower), _f(upper), *matrix),
            f"{new} new columns",
        )
        return range(first, first + new)

    def add_rows(
        self, lower: Array, upper: Array, starts: Array, columns: Array, values: Array
    ) -> range:
        """Add rows and return their numbers; arrays as in `add_columns`, with columns for rows.

        Raises
        ------
        ModelRefused
            If HiGHS would drop a tiny coefficient, or does not accept the rows.
        """
        first, new = self.num_rows, len(lower)
        matrix = self._matrix(new, starts, columns, values)
        self._check(self._highs.addRows(new, _f(lower), _f(upper), *matrix), f"{new} new rows")
        return range(first, first + new)

    def change_column_bounds(self, columns: Array, lower: Array, upper: Array) -> None:
        """Give columns new bounds; arrays of one length."""
        status = self._highs.changeColsBounds(len(columns), _i(columns), _f(lower), _f(upper))
        self._check(status, "new bounds of columns")

    def change_row_bounds(self, rows: Array, lower: Array, upper: Array) -> None:
        """Give rows new bounds; arrays of one length."""
        status = self._highs.changeRowsBounds(len(rows), _i(rows), _f(lower), _f(upper))
        self._check(status, "new bounds of rows")

    def change_costs(self, columns: Array, cost: Array) -> None:
        """Give columns new objective coefficients; arrays of one length."""
        status = self._highs.changeColsCost(len(columns), _i(columns), self._cost(cost))
        self._check(status, "new costs")

    def delete_rows(self, rows: Array) -> None:
        """Delete rows; those after them move up."""
        self._check(self._highs.deleteRows(len(rows), _i(rows)), "rows to delete")

    def delete_columns(self, columns: Array) -> None:
        """Delete columns; those after them move up."""
        self._check(self._highs.deleteCols(len(columns), _i(columns)), "columns to delete")

    def solve(self, limits: Limits, algorithm: Algorithm = "choose") -> Status:
        """Solve from the last basis and return the status.

        `OPTIMAL`; `FEASIBLE` or `NO_SOLUTION` if a limit was hit (`limit_hit` names it), with or
        without values; `INFEASIBLE`; `UNBOUNDED`. The time limit is this solve's own. A solve that
        fails from the last basis is repeated without it, and then after presolve.

        Parameters
        ----------
        limits : Limits
            `time_s` and `threads` are kept; the others have no meaning here.
        algorithm : str
            "choose" is the primal simplex from a basis that is primal feasible (after new columns)
            and the dual simplex else (after new rows). "interior_point" forgets the basis.

        Raises
        ------
        SolverError
            If HiGHS ends in any other way, also without a basis.
        """
        solver, strategy = ALGORITHMS[algorithm]
        self._set("solver", solver)
        self._set("simplex_strategy", strategy)
        self._set("threads", limits.threads)
        # HiGHS's clock runs on over all solves of a model.
        time_s = math.inf if limits.time_s is None else max(0.0, limits.time_s)
        self._set("time_limit", self._highs.getRunTime() + time_s)
        interrupted = self._run()
        if not interrupted and self._failed():
            # HiGHS may fail from a basis and succeed without it.
            self._highs.clearSolver()
            self.cold_restarts += 1
            interrupted = self._run()
        if not interrupted and self._failed():
            interrupted = self._run_presolved()
        return self._status(interrupted)

    def _run_presolved(self) -> bool:
        """Run HiGHS without a basis, after presolve; return True if it was interrupted.

        Presolve shows what the simplex method may not on large numbers: that nothing is feasible.
        """
        _, before = self._highs.getOptionValue("presolve")
        self._highs.clearSolver()
        self._set("presolve", "on")
        try:
            return self._run()
        finally:
            self._set("presolve", before)

    def _run(self) -> bool:
        """Run HiGHS; return True if it was interrupted."""

        def run() -> None:
            self._highs.run()
            # The scheduler belongs to this thread and keeps its number of threads until reset.
            highspy.Highs.resetGlobalScheduler(True)

        _, interrupted = run_interruptibly(run, self._highs.cancelSolve, PATIENCE_S)
        info = self._highs.getInfo()
        # The counts are -1 where that solver did not run.
        self.iterations += max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        return interrupted

    def _failed(self) -> bool:
        """Return True if HiGHS has no answer, or an optimum that its own duals contradict."""
        ends = highspy.HighsModelStatus
        end = self._highs.getModelStatus()
        if end == ends.kOptimal:
            return not self._highs.getInfo().primal_dual_objective_error <= OBJECTIVES_AGREE
        known = (ends.kModelEmpty, ends.kInfeasible, ends.kUnbounded)
        return end not in (*known, ends.kTimeLimit, ends.kInterrupt)

    def solve_in_integers(self, limits: Limits, **options: str | float | bool) -> Floats | None:
        """Return the best integer solution found, as a heuristic; None if none is found.

        The program, its basis and its values are unchanged. Options are HiGHS's.
        """
        copy = new_highs()
        copy.setOptionValue("threads", limits.threads)
        copy.setOptionValue("mip_rel_gap", limits.rel_gap)
        for name, value in options.items():
            copy.setOptionValue(name, value)
        if limits.time_s is not None:
            copy.setOptionValue("time_limit", max(0.0, limits.time_s))
        program = self._highs.getLp()
        program.integrality_ = [highspy.HighsVarType.kInteger] * program.num_col_
        self._check(copy.passModel(program), "the program in integers")
        copy.HandleUserInterrupt = True

        def run() -> None:
            copy.run()
            highspy.Highs.resetGlobalScheduler(True)

        run_interruptibly(run, copy.cancelSolve, PATIENCE_S)
        feasible = copy.getInfo().primal_solution_status
        if feasible != int(highspy.SolutionStatus.kSolutionStatusFeasible):
            return None
        return np.round(copy.getSolution().col_value)

    @property
    def objective(self) -> float:
        """Objective of the last solve's values."""
        return float(self._highs.getInfo().objective_function_value) * self._cost_unit

    @property
    def values(self) -> Floats:
        """Value of every column, shape (columns,)."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def row_slacks(self) -> Floats:
        """How far every row's value is from the nearer of its bounds, shape (rows,)."""
        program, rows = self._highs.getLp(), np.array(self._highs.getSolution().row_value)
        below, above = np.array(program.row_lower_), np.array(program.row_upper_)
        nearer: Floats = np.minimum(rows - below, above - rows)
        return nearer

    @property
    def row_duals(self) -> Floats:
        """Gain of the objective per unit of every row's bound, shape (rows,)."""
        return np.array(self._highs.getSolution().row_dual) * self._cost_unit

    @property
    def reduced_costs(self) -> Floats:
        """Gain of the objective per unit of every column, shape (columns,)."""
        return np.array(self._highs.getSolution().col_dual) * self._cost_unit

    @property
    def basis(self) -> tuple[list[int], list[int]]:
        """Return where the columns and the rows are: -1 at the lower side, 0 basic, 1 upper.

        Rows and columns that were added since the last solve are at a side that they have.
        """
        return bases.basis_of(self._highs) or ([], [])

    def start_from(self, columns: Sequence[int], rows: Sequence[int]) -> None:
        """Start the next solve from a basis, in the numbers of `basis`."""
        bases.start_from(self._highs, columns, rows)

    @property
    def dual_bound(self) -> float:
        """Bound on the optimum that the row duals prove, rounded outward, whatever the basis.

        Infinite if a column without a finite bound has a reduced cost of the wrong sign.
        """
        program = self._highs.getLp()
        sign = 1.0 if program.sense_ == highspy.ObjSense.kMaximize else -1.0
        matrix = _matrix_of(program)
        duals = sign * self.row_duals
        lower, upper = np.array(program.row_lower_), np.array(program.row_upper_)
        # Rows of the wrong sign prove nothing.
        sides = np.where(duals > 0, upper, lower)
        duals = np.where(np.isfinite(sides), duals, 0.0)
        sides = np.where(np.isfinite(sides), sides, 0.0)
        cost = sign * np.array(program.col_cost_) * self._cost_unit
        reduced = cost - matrix.T @ duals
        sizes = np.abs(cost) + abs(matrix).T @ np.abs(duals)
        unit = 2.0**-52
        slack = unit * (np.diff(matrix.indptr) + 2) * sizes
        least, most = reduced - slack, reduced + slack
        col_lower, col_upper = np.array(program.col_lower_), np.array(program.col_upper_)
        free = np.isinf(col_lower) | np.isinf(col_upper)
        for j in np.flatnonzero(free & (least <= 0) & (most >= 0)).tolist():
            least[j] = most[j] = _exact_reduced_cost(cost[j], matrix, j, duals)
        at_upper = _largest_product(least, most, col_upper)
        at_lower = _largest_product(-most, -least, -col_lower)
        best = np.maximum(at_upper, at_lower)
        terms = np.concatenate([duals * sides, np.where(best == -math.inf, 0.0, best)])
        if not np.isfinite(terms).all():
            return sign * math.inf
        total = math.fsum(terms.tolist()) + unit * float(np.abs(terms).sum())
        return sign * float(total + unit * abs(total))

    @property
    def infeasibility_ray(self) -> Floats | None:
        """Row multipliers that prove the last solve's `INFEASIBLE`, shape (rows,), if known."""
        status, known, ray = self._highs.getDualRay()
        return np.array(ray) if known and status != highspy.HighsStatus.kError else None

    def _status(self, interrupted: bool) -> Status:
        ends = highspy.HighsModelStatus
        end = self._highs.getModelStatus()
        self.limit_hit = None
        if end in (ends.kOptimal, ends.kModelEmpty):
            if self._failed():
                raise SolverError("HiGHS ended with an optimum that its own duals contradict")
            return Status.OPTIMAL
        if end == ends.kInfeasible:
            return Status.INFEASIBLE
        if end == ends.kUnbounded:
            return Status.UNBOUNDED
        if end == ends.kTimeLimit:
            self.limit_hit = "time_s"
        elif end == ends.kInterrupt or interrupted:
            self.limit_hit = "interrupted"
        else:
            raise SolverError(f"HiGHS ended with: {self._highs.modelStatusToString(end)}")
        feasible = self._highs.getInfo().primal_solution_status
        if feasible == int(highspy.SolutionStatus.kSolutionStatusFeasible):
            return Status.FEASIBLE
        return Status.NO_SOLUTION

    def _cost(self, cost: Array) -> Floats:
        """Return costs in HiGHS's unit."""
        return _f(cost) / self._cost_unit

    def _set(self, option: str, value: str | float | bool) -> None:
        if self._highs.setOptionValue(option, value) == highspy.HighsStatus.kError:
            raise ModelRefused(f"HiGHS does not accept {value} for its option {option}")

    @staticmethod
    def _matrix(new: int, starts: Array, indices: Array, values: Array) -> tuple[Any, ...]:
        entries = _f(values)
        if entries.size and np.abs(entries).min() <= SMALLEST_COEFFICIENT:
            raise ModelRefused(
                f"HiGHS would drop the coefficient {entries[np.abs(entries).argmin()]}"
            )
        begin = _i(starts) if len(starts) else np.zeros(new, dtype=np.int32)
        return entries.size, begin, _i(indices), entries

    @staticmethod
    def _check(status: highspy.HighsStatus, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise ModelRefused(
                f"HiGHS does not accept {what}: an index is unknown or twice in a row or column, a "
                "coefficient is 1e15 or more, or a bound is not a number"
            )


def _matrix_of(program: Any) -> csc_array:
    matrix = program.a_matrix_
    shape = (program.num_row_, program.num_col_)
    kind = csc_array if matrix.format_ == highspy.MatrixFormat.kColwise else csr_array
    entries = np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)
    return csc_array(kind(entries, shape=shape))


def _exact_reduced_cost(cost: float, matrix: csc_array, j: int, duals: Floats) -> float:
    """Return the reduced cost of a column; only its sign is reliable."""
    entries = slice(matrix.indptr[j], matrix.indptr[j + 1])
    rows, values = matrix.indices[entries].tolist(), matrix.data[entries].tolist()
    charged = sum(Fraction(a) * Fraction(duals[i]) for i, a in zip(rows, values, strict=True))
    reduced = Fraction(cost) - charged
    return math.copysign(max(abs(float(reduced)), math.ulp(0.0)), reduced) if reduced else 0.0


def _largest_product(least: Floats, most: Floats, upper: Floats) -> Floats:
    """Return the largest slope * x at x = upper with slopes in a range; -inf where x never is."""
    finite = np.isfinite(upper)
    x = np.where(finite, upper, 0.0)
    at_infinity = np.where((upper == math.inf) & (most > 0), math.inf, -math.inf)
    return np.where(finite, np.maximum(least * x, most * x), at_infinity)


def _f(values: Array) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _i(values: Array) -> npt.NDArray[np.int32]:
    return np.asarray(values, dtype=np.int32)
