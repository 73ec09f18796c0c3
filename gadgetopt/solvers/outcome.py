"""The unchecked outcome that a backend reports of one solve."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number, simplest_rational
from gadgetopt.system.result import Status, TracePoint

if TYPE_CHECKING:
    from gadgetopt.solvers.exact_optimum.refinement import ExactOptimum
    from gadgetopt.solvers.standard_form import StandardForm

#: Reason of an error that an exact search for a ray may lift.
NO_RAY = (
    "HiGHS calls the model unbounded or infeasible, but it has a feasible point and no improving "
    "ray"
)


#: Names of the backends in sentences.
NAMES = {
    "highs": "HiGHS",
    "cpsat": "CP-SAT",
    "scip": "SCIP",
    "gurobi": "GUROBI",
    "cplex": "CPLEX",
    "xpress": "XPRESS",
    "cbc": "CBC",
    "glpk": "GLPK",
}
#: Relative distance of an objective in doubles to its bound below which they count as equal.
#: Tuned: `benchmarks/constants.py`.
CLOSED = 1e-6


@dataclass
class SolverOutcome:
    """Status, incumbent and dual bound as the backend reports them.

    Attributes
    ----------
    status : Status
        `OPTIMAL`, `FEASIBLE`, `INFEASIBLE`, `UNBOUNDED`, `NO_SOLUTION` or `ERROR`. `OPTIMAL`
        means that objective and bound meet, never that a limit or a requested gap ended the solve.
    values : ndarray or None
        The incumbent, one value per column of the compiled model (or per variable index of a
        native CP-SAT model). Shape (columns,).
    objective, bound : Number or None
        Objective of the incumbent and dual bound, in the model's own sense and scale. The objective
        is exact (int or Fraction) if all columns are integers or `exact_values` are known, the
        bound if the backend computes with integers or `exact` is known. Else they are doubles: of a
        point whose rows hold within tolerance, of a model whose numbers are known as doubles only,
        or of a nonlinear one.
    limit_hit : str or None
        "time_s", "memory_mb", "gap" (the requested relative gap) or "interrupted", if that stopped
        the solve.
    row_duals : ndarray or None
        Row duals y of a linear program solved to optimality, signed so that the reduced costs are
        `c - y @ A` in the model's own sense. Shape (rows,).
    exact_duals : list of Fraction or None
        Row duals near `row_duals` that prove a bound in exact arithmetic.
    basis : tuple or None
        Where HiGHS has the columns and the rows of a linear program at the optimum: -1 at the lower
        side, 0 basic, 1 at the upper. Shapes (columns,) and (rows,).
    exact : ExactOptimum or None
        The optimum of a linear program in rational numbers, which `objective` and `bound` are then,
        and `exact_values` and `exact_duals`; `values` and `row_duals` are their nearest doubles.
    exact_values : list of Fraction or None
        The incumbent in rational numbers, with which every row and bound holds exactly; of HiGHS,
        where there are continuous columns and it was reached. `values` are its nearest doubles.
    reason : str or None
        Reason for the status, if there is more to say.
    form : StandardForm or None
        The linear model that was passed on.
    lp_bound : Number or None
        Optimum of the linear relaxation of the model as it is written.
    lp_duals : ndarray or None
        Row duals of that relaxation, signed like `row_duals`.
    root_bound : Number or None
        Dual bound when the search left the root of its tree, or ended there.
    counts : dict of str to int
        Numbers of the search as the backend counts them: "nodes", "branches", "conflicts".
    """

    status: Status
    values: Floats | None = None
    objective: Number | None = None
    bound: Number | None = None
    limit_hit: str | None = None
    row_duals: Floats | None = None
    exact_duals: list[Fraction] | None = None
    basis: tuple[list[int], list[int]] | None = None
    exact: ExactOptimum | None = None
    exact_values: list[Fraction] | None = None
    reason: str | None = None
    form: StandardForm | None = None
    lp_bound: Number | None = None
    lp_duals: Floats | None = None
    root_bound: Number | None = None
    counts: dict[str, int] = field(default_factory=dict)
    trace: tuple[TracePoint, ...] = ()
    phases_s: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return what was found in a few lines, without the arrays."""
        solve_s = sum(self.phases_s.values())
        told = {
            "status": str(self.status),
            "objective": self.objective,
            "bound": self.bound,
            "limit": self.limit_hit,
            "reason": self.reason,
            "time": f"{solve_s:.3g} s",
        }
        return "\n".join(f"{name:<9}  {x}" for name, x in told.items() if x is not None)

    def measures(self, bound_of: Callable[[Number], Number] = lambda x: x) -> dict[str, Any]:
        """Return bounds of the relaxation and counts of the search, as far as they are known.

        Parameters
        ----------
        bound_of : callable
            Converts bounds of the model into bounds of the problem.
        """
        bounds = {"lp_bound": self.lp_bound, "root_bound": self.root_bound}
        known = {name: plain_number(x, bound_of) for name, x in bounds.items()}
        return {**{name: x for name, x in known.items() if x is not None}, **self.counts}


def with_honest_bound(outcome: SolverOutcome, sense: str) -> SolverOutcome:
    """Return an outcome whose bound is not beyond its checked incumbent.

    Within rounding, the incumbent's objective takes the place of the bound, as the weaker of both.
    Beyond, the incumbent refutes it: there is no bound, the status is not optimal, and `reason`
    says so.
    """
    objective, bound = outcome.objective, outcome.bound
    if objective is None or bound is None or objective == bound:
        return outcome
    beyond = bound > objective if sense == "min" else bound < objective
    apart = abs(Fraction(objective) - Fraction(bound))
    size = max(abs(Fraction(objective)), abs(Fraction(bound)), Fraction(1))
    near = apart <= Fraction(CLOSED) * size
    if beyond and near:
        return replace(
            outcome, bound=not_past(objective, sense) if isinstance(bound, float) else objective
        )
    if beyond:
        reason = f"its bound {bound} is refuted by its incumbent of {objective}"
        return replace(outcome, status=Status.FEASIBLE, bound=None, root_bound=None, reason=reason)
    if outcome.status is Status.OPTIMAL and not near:
        return replace(
            outcome,
            status=Status.FEASIBLE,
            reason=f"its incumbent has the objective {objective}, and its bound is {bound}",
        )
    return outcome


def not_past(objective: Number, sense: str) -> float:
    """Return the nearest double to an objective that is a weaker bound, or the same.

    A double, so that it is rounded to integers with tolerance, as a solver's word has to be.

    Examples
    --------
    >>> not_past(Fraction(9999, 500), "min"), not_past(Fraction(9999, 500), "max")
    (19.997999999999998, 19.998)
    """
    double = float(objective)
    if double > objective if sense == "min" else double < objective:
        return math.nextafter(double, -math.inf if sense == "min" else math.inf)
    return double


def no_better(x: Number, sense: str) -> float:
    """Return the nearest double of an objective, or the next one if the nearest is better.

    A double stands for the simplest rational that rounds to it.

    Raises
    ------
    OverflowError
        If it is beyond the range of doubles.

    Examples
    --------
    >>> no_better(Fraction(1, 10), "min"), no_better(2**53 + 1, "min"), no_better(2**53 + 1, "max")
    (0.1, 9007199254740994.0, 9007199254740992.0)
    """
    double = float(x)
    if not math.isfinite(double) or isinstance(x, float) or simplest_rational(double) == x:
        return double
    if double < x if sense == "min" else double > x:
        return math.nextafter(double, math.inf if sense == "min" else -math.inf)
    return double


def plain_number(
    x: Number | None, converted: Callable[[Number], Number] = lambda x: x
) -> float | None:
    """Return a number, converted, as a finite double; None if that is impossible."""
    try:
        if x is None or not math.isfinite(x):
            return None
        out = float(converted(x))
    except OverflowError:
        return None
    return out if math.isfinite(out) else None
