"""A linear program that stays in HiGHS while rows and columns are added: cut and column generation.

Every solve starts from the basis of the one before. Rows and columns go in as arrays, many at a
time, and are numbered in the order in which they were added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt

from gadgetopt.arrays import Floats
from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.result import Limits, Status
from gadgetopt.solvers.highs import SMALLEST_COEFFICIENT
from gadgetopt.solvers.interrupt import run_interruptibly

Array = npt.NDArray[Any] | Sequence[float]

#: How an LP may be solved, and what that is in HiGHS: `solver` and `simplex_strategy`.
ALGORITHMS: dict[str, tuple[str, int]] = {
    "choose": ("simplex", 0),
    "dual": ("simplex", 1),
    "primal": ("simplex", 4),
    "interior_point": ("ipm", 0),
}
Algorithm = Literal["choose", "dual", "primal", "interior_point"]

INFINITY = math.inf


class PersistentLp:
    """A linear program in HiGHS that grows and is solved again and again.

    Parameters
    ----------
    sense : "min" or "max"
    **options
        HiGHS's own options, by name. Presolve is off unless they say so: it could only serve the
        first solve, and its search for dominated columns takes quadratic time and knows no limit.

    Raises
    ------
    ModelRefused
        If HiGHS does not know an option or does not take its value.
    """

    def __init__(self, sense: Literal["min", "max"], **options: str | float | bool) -> None:
        self._highs = highspy.Highs()
        self._set("log_to_console", False)
        self._set("small_matrix_value", SMALLEST_COEFFICIENT)
        for name, value in {"presolve": "off", **options}.items():
            self._set(name, value)
        senses = highspy.ObjSense
        self._highs.changeObjectiveSense(senses.kMaximize if sense == "max" else senses.kMinimize)
        self._highs.HandleUserInterrupt = True
        #: What stopped the last solve: "time_s", "interrupted" or nothing.
        self.limit_hit: str | None = None
        #: Simplex and interior-point iterations of all solves.
        self.iterations = 0

    @property
    def num_columns(self) -> int:
        """Columns so far."""
        return int(self._highs.getNumCol())

    @property
    def num_rows(self) -> int:
        """Rows so far."""
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
            If a coefficient is so small that HiGHS would drop it, or HiGHS does not take the
            columns.
        """
        first, new = self.num_columns, len(cost)
        matrix = self._matrix(new, starts, rows, values)
        self._check(
            self._highs.addCols(new, _f(cost), _f(lower), _f(upper), *matrix), f"{new} new columns"
        )
        return range(first, first + new)

    def add_rows(
        self, lower: Array, upper: Array, starts: Array, columns: Array, values: Array
    ) -> range:
        """Add rows and return their numbers; arrays as in `add_columns`, with columns for rows.

        Raises
        ------
        ModelRefused
            If a coefficient is so small that HiGHS would drop it, or HiGHS does not take the rows.
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
        status = self._highs.changeColsCost(len(columns), _i(columns), _f(cost))
        self._check(status, "new costs")

    def delete_rows(self, rows: Array) -> None:
        """Delete rows; those after them move up."""
        self._check(self._highs.deleteRows(len(rows), _i(rows)), "rows to delete")

    def delete_columns(self, columns: Array) -> None:
        """Delete columns; those after them move up."""
        self._check(self._highs.deleteCols(len(columns), _i(columns)), "columns to delete")

    def solve(self, limits: Limits, algorithm: Algorithm = "choose") -> Status:
        """Solve from the last basis and return what is then known.

        `OPTIMAL`; `FEASIBLE` or `NO_SOLUTION` if a limit was hit (`limit_hit` names it), with or
        without values; `INFEASIBLE`; `UNBOUNDED`. The time limit is this solve's own.

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
            If HiGHS ends in any other way.
        """
        solver, strategy = ALGORITHMS[algorithm]
        self._set("solver", solver)
        self._set("simplex_strategy", strategy)
        self._set("threads", limits.threads)
        # HiGHS's clock runs through all solves of a model.
        time_s = math.inf if limits.time_s is None else max(0.0, limits.time_s)
        self._set("time_limit", self._highs.getRunTime() + time_s)

        def run() -> None:
            self._highs.run()
            # The scheduler belongs to this thread and keeps its number of threads until reset.
            highspy.Highs.resetGlobalScheduler(True)

        _, interrupted = run_interruptibly(run, self._highs.cancelSolve)
        info = self._highs.getInfo()
        # The counts are -1 where that solver did not run.
        self.iterations += max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        return self._status(interrupted)

    def solve_in_integers(self, limits: Limits, **options: str | float | bool) -> Floats | None:
        """Return the best solution found with all columns integer, as a heuristic; None if none is.

        The program itself, its basis and its values stay what they are. Options are HiGHS's own.
        """
        copy = highspy.Highs()
        copy.setOptionValue("log_to_console", False)
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

        run_interruptibly(run, copy.cancelSolve)
        feasible = copy.getInfo().primal_solution_status
        if feasible != int(highspy.SolutionStatus.kSolutionStatusFeasible):
            return None
        return np.round(copy.getSolution().col_value)

    @property
    def objective(self) -> float:
        """Objective of the last solve's values."""
        return float(self._highs.getInfo().objective_function_value)

    @property
    def values(self) -> Floats:
        """Value of every column, shape (columns,)."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def row_duals(self) -> Floats:
        """Gain of the objective per unit of every row's bound, shape (rows,)."""
        return np.array(self._highs.getSolution().row_dual)

    @property
    def reduced_costs(self) -> Floats:
        """Gain of the objective per unit of every column, shape (columns,)."""
        return np.array(self._highs.getSolution().col_dual)

    def _status(self, interrupted: bool) -> Status:
        ends = highspy.HighsModelStatus
        end = self._highs.getModelStatus()
        self.limit_hit = None
        if end == ends.kOptimal:
            return Status.OPTIMAL
        if end == ends.kModelEmpty:
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

    def _set(self, option: str, value: str | float | bool) -> None:
        if self._highs.setOptionValue(option, value) == highspy.HighsStatus.kError:
            raise ModelRefused(f"HiGHS does not take {value} for its option {option}")

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
                f"HiGHS does not take {what}: an index is unknown or twice in a row or column, a "
                "coefficient is 1e15 or more, or bounds are not sane"
            )


def _f(values: Array) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _i(values: Array) -> npt.NDArray[np.int32]:
    return np.asarray(values, dtype=np.int32)
