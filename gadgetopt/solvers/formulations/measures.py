"""What is measured of a model and of its solve: size, bounds at the root, nodes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.core.base import Constraint, Objective
from pyomo.core.expr.visitor import identify_variables, polynomial_degree

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.outcome import plain_number
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.outcome import SolverOutcome

#: Time of the linear relaxation that is solved after a run: a share of that of the run's solve,
#: within the least and the most, which the grace period of a run has room for.
#: Tuned: `benchmarks/constants.py`.
LP_SHARE = 0.05
LP_LEAST_S = 1.0
LP_MOST_S = 2.0
#: HiGHS's own is 1e-7. Tuned: `benchmarks/constants.py`.
DUAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ModelSize:
    """The size of a model as a solver receives it, before presolve.

    Attributes
    ----------
    continuous, integer, binary : int
        Free variables that occur in a row or in the objective; `integer` leaves out those between
        0 and 1, which are `binary`.
    rows : int
        Constraints that have a variable; a range is one row.
    nonzeros : int
        Pairs of a row and a variable in it.
    nonlinear_rows : int
        Rows that are not linear.
    """

    continuous: int
    integer: int
    binary: int
    rows: int
    nonzeros: int
    nonlinear_rows: int = 0

    @property
    def variables(self) -> int:
        """The number of variables of all kinds."""
        return self.continuous + self.integer + self.binary


def size_of_form(form: StandardForm) -> ModelSize:
    """Return the size of a compiled linear model."""
    whole = int(form.integer.sum())
    binary = int((form.integer & (form.col_lower >= 0) & (form.col_upper <= 1)).sum())
    return ModelSize(
        continuous=len(form.columns) - whole,
        integer=whole - binary,
        binary=binary,
        rows=len(form.rows),
        nonzeros=int(form.A.nnz),
    )


def size_of_model(model: ConcreteModel) -> ModelSize:
    """Return the size of a Pyomo model, linear or not."""
    seen: dict[int, Any] = {}
    rows = nonzeros = nonlinear = 0
    for con in model.component_data_objects(Constraint, active=True):
        inside = list(identify_variables(con.body, include_fixed=False))
        if not inside:
            continue
        rows, nonzeros = rows + 1, nonzeros + len(inside)
        nonlinear += polynomial_degree(con.body) not in (0, 1)
        seen.update((id(v), v) for v in inside)
    for objective in model.component_data_objects(Objective, active=True):
        inside = list(identify_variables(objective.expr, include_fixed=False))
        seen.update((id(v), v) for v in inside)
    discrete = [v for v in seen.values() if not v.is_continuous()]
    binary = sum(_within_unit(v) for v in discrete)
    return ModelSize(
        continuous=len(seen) - len(discrete),
        integer=len(discrete) - binary,
        binary=binary,
        rows=rows,
        nonzeros=nonzeros,
        nonlinear_rows=nonlinear,
    )


def _within_unit(v: Any) -> bool:
    low, high = v.bounds
    return low is not None and high is not None and low >= 0 and high <= 1


def compiled(model: ConcreteModel) -> StandardForm | None:
    """Return a model's linear form; None if it is not linear, or infeasible as it stands."""
    try:
        return compile_model(model)
    except (ModelRefused, InputError, TriviallyInfeasibleError):
        return None


def lp_bound(form: StandardForm, limits: Limits) -> Number | None:
    """Return the optimum of a model's linear relaxation as HiGHS states it.

    None if the relaxation has no optimum or is not solved within the limits. The relaxation is that
    of the model as it is written: no presolve, cut or integer argument tightens it.
    """
    solved = relaxation(form, limits)
    return None if solved is None else solved.bound


def relaxation(form: StandardForm, limits: Limits) -> SolverOutcome | None:
    """Return the solved linear relaxation of a model, None if it has no optimum in the limits.

    Reduced costs are exacter than by default: a proof multiplies them by the bounds of columns.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C.
    """
    from gadgetopt.solvers.highs import solve_form

    relaxed = replace(form, integer=np.zeros(len(form.columns), dtype=bool))
    exacter = {"dual_feasibility_tolerance": DUAL_TOLERANCE}
    try:
        solved = solve_form(relaxed, replace(limits, rel_gap=0.0), given=exacter)
    except ModelRefused:
        return None
    if solved.limit_hit == "interrupted":
        raise KeyboardInterrupt
    return solved if solved.status is Status.OPTIMAL else None


def measures(
    solved: SolverOutcome, model: ConcreteModel | None, limits: Limits, *, thorough: bool
) -> dict[str, Any]:
    """Return the size of a model, its LP bound, and what its solve tells, as plain numbers.

    What is not known is left out. The outcome gets the duals of the relaxation, for a proof.

    Parameters
    ----------
    model : ConcreteModel or None
        None if the outcome has the arrays that were solved.
    limits : Limits
        Those of the run.
    thorough : bool
        True to solve the linear relaxation, in at most a twentieth of the time of the solve.
    """
    told, form = solved.measures(), solved.form
    if form is None and model is not None:
        form = compiled(model)
    size = size_of_form(form) if form is not None else size_of_model(model)
    unbounded = solved.status is Status.UNBOUNDED  # beyond HiGHS's tolerance, perhaps
    if form is not None and "lp_bound" not in told and thorough and not unbounded:
        solve_s = solved.phases_s.get("solve", 0.0)
        time_s = max(LP_LEAST_S, min(LP_SHARE * solve_s, LP_MOST_S))
        kept = Limits(time_s, threads=limits.threads, memory_mb=limits.memory_mb)
        relaxed = relaxation(form, kept)
        bound = None if relaxed is None else plain_number(relaxed.bound)
        solved.form, solved.lp_duals = form, None if relaxed is None else relaxed.row_duals
        told |= {} if bound is None else {"lp_bound": bound}
    return {**asdict(size), **told}
