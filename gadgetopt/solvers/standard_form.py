"""Pyomo models compiled into arrays, and values loaded back into the model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base import (
    Block,
    ConcreteModel,
    Constraint,
    Objective,
    SortComponents,
    Var,
    maximize,
)
from scipy.sparse import csr_array

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.solvers.compiler import Compiler, TriviallyInfeasibleError
from gadgetopt.solvers.domains import read_domains, value_nearest_zero
from gadgetopt.solvers.exact_form import ExactParts, ExactRow, Side
from gadgetopt.solvers.formulations.gate import check_components
from gadgetopt.system.declaration import Sense

#: Allowed distance of an integer variable from an integer; HiGHS's own tolerance is 1e-6.
#: By definition.
INTEGRALITY_TOLERANCE = 1e-5


class NotIntegralError(ValueError):
    """A backend returned a fractional value for an integer variable."""


class NotLinearModel(ModelRefused):
    """A constraint or the objective is not linear."""


@dataclass(frozen=True)
class Named:
    """A row or column that is no component of a Pyomo model, for error messages."""

    name: str


@dataclass(frozen=True)
class StandardForm:
    """Optimise `c @ x + offset` subject to `row_lower <= A @ x <= row_upper` and column bounds.

    Attributes
    ----------
    columns : list of VarData
        The free variables that occur in a row or in the objective.
    col_lower, col_upper : ndarray of float, shape (columns,)
        Bounds, infinite where there are none; integers for integer columns.
    integer : ndarray of bool, shape (columns,)
        True for integer columns.
    c : ndarray of float, shape (columns,)
    offset : float
    sense : "min" or "max"
        The model's own; "min" where it has no objective.
    A : csr_array, shape (rows, columns)
        No explicit zeros, no duplicates.
    row_lower, row_upper : ndarray of float, shape (rows,)
    rows : list of ConstraintData
        One row per constraint; a range constraint is one row.
    unused : list of VarData
        Free variables of the model that occur nowhere and may take any value of their domain.
    exact : ExactParts
        Numbers that are not the simplest rational that rounds to their double. Code that replaces
        rows, sides, bounds or costs of a form must replace this, too.
    """

    columns: list[Any]
    col_lower: Floats
    col_upper: Floats
    integer: Bools
    c: Floats
    offset: float
    sense: Sense
    A: csr_array
    row_lower: Floats
    row_upper: Floats
    rows: list[Any]
    unused: list[Any]
    exact: ExactParts = field(default_factory=ExactParts)


def compile_model(model: ConcreteModel) -> StandardForm:
    """Compile a linear Pyomo model into arrays, and exact numbers where doubles are not enough.

    Each number is read as it was written, and constants, repeated variables and products are
    collected exactly. Fixed variables are constants. Models of Pyomo GDP must be transformed first.

    Raises
    ------
    ModelRefused
        If a constraint or the objective is not linear, if the model has several objectives, if it
        has a kind of component that has no linear form, or a fixed variable has no value.
    TriviallyInfeasibleError
        If a constraint without variables is violated or a variable's domain is empty.
    InputError
        If it is no model, or a coefficient or bound is not a number.
    """
    form, nonlinear = compile_parts(model)
    if nonlinear:
        raise NotLinearModel(f"not a linear model: {nonlinear[0].name} is not linear")
    return form


def compile_parts(model: ConcreteModel) -> tuple[StandardForm, list[Any]]:
    """Compile what is linear in a model, and return with it what is not.

    Returns
    -------
    form : StandardForm
        Its columns are all variables in use. Costs are 0 if the objective is not linear.
    nonlinear : list of ObjectiveData and ConstraintData

    Raises
    ------
    ModelRefused, TriviallyInfeasibleError, InputError
        As `compile_model`.
    """
    check_components(model)
    objectives = list(model.component_data_objects(Objective, active=True))
    if len(objectives) > 1:
        names = ", ".join(o.name for o in objectives)
        raise ModelRefused(f"the model has {len(objectives)} active objectives: {names}")
    compiler = Compiler(SortComponents.deterministic)
    with PauseGC():
        for objective in objectives:
            compiler.set_objective(objective)
        for con in model.component_data_objects(
            Constraint, active=True, sort=SortComponents.deterministic
        ):
            compiler.add(con)
        form = _form(compiler, model)
    _check(form)
    return form, compiler.nonlinear


def _form(compiler: Compiler, model: ConcreteModel) -> StandardForm:
    """Return the form of the collected model, without columns that occur nowhere."""
    entries = np.fromiter(compiler.indices, np.int32, len(compiler.indices))
    used = np.zeros(len(compiler.variables), dtype=bool)
    used[entries] = True
    used[[*compiler.costs, *compiler.nonlinear_columns]] = True
    new = np.cumsum(used, dtype=np.int32) - 1
    columns = [v for v, kept in zip(compiler.variables, used.tolist(), strict=True) if kept]
    c = np.zeros(len(columns))
    c[new[list(compiler.costs)]] = list(compiler.costs.values())
    data = np.fromiter(compiler.data, np.float64, len(compiler.data))
    shape = (len(compiler.rows), len(columns))
    A = csr_array((data, new[entries], np.array(compiler.starts, np.int32)), shape=shape)
    A.sort_indices()
    domains = read_domains(columns, compiler.reader)
    known = {id(v) for v in columns}
    costs = compiler.exact_costs
    objective = next(model.component_data_objects(Objective, active=True), None)
    return StandardForm(
        columns=columns,
        col_lower=domains.lower,
        col_upper=domains.upper,
        integer=domains.integer,
        c=c,
        offset=compiler.offset,
        sense="max" if objective is not None and objective.sense == maximize else "min",
        A=A,
        row_lower=np.array(compiler.lower, dtype=float),
        row_upper=np.array(compiler.upper, dtype=float),
        rows=compiler.rows,
        unused=[
            v
            for v in model.component_data_objects(Var, descend_into=Block)
            if id(v) not in known and not v.fixed
        ],
        exact=ExactParts(
            rows={i: _renumbered(row, new) for i, row in compiler.exact_rows.items()},
            costs=None if costs is None else {int(new[j]): a for j, a in costs.items()},
            offset=compiler.exact_offset,
            col_lower=domains.exact_lower,
            col_upper=domains.exact_upper,
            inexact=compiler.inexact,
        ),
    )


def _renumbered(row: ExactRow, new: npt.NDArray[np.int32]) -> ExactRow:
    return ExactRow(new[row.columns].tolist(), row.coefficients, row.lower, row.upper)


def _check(form: StandardForm) -> None:
    for values, what in ((form.c, "objective coefficient"), (form.col_lower, "lower bound")):
        _check_numbers(values, form.columns, what)
    _check_numbers(form.col_upper, form.columns, "upper bound")
    _check_numbers(form.row_lower, form.rows, "lower bound")
    _check_numbers(form.row_upper, form.rows, "upper bound")
    if not (np.isfinite(form.A.data).all() and np.isfinite(form.c).all()):
        raise InputError("a coefficient of the model is infinite or not a number")
    crossed = crossed_sides(form)
    if crossed is not None:
        raise TriviallyInfeasibleError(crossed)
    for v in form.unused:
        value_nearest_zero(v)


def crossed_sides(form: StandardForm) -> str | None:
    """Return the row or column that no number satisfies, in words; None if there is none."""
    for lower, upper, things in (
        (form.col_lower, form.col_upper, form.columns),
        (form.row_lower, form.row_upper, form.rows),
    ):
        crossed = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
        if crossed.size:
            i = crossed[0]
            return f"{things[i].name}: no number is at least {lower[i]} and at most {upper[i]}"
    empty = np.diff(form.A.indptr) == 0
    wrong = np.flatnonzero(empty & ((form.row_lower > 0) | (form.row_upper < 0)))
    if wrong.size:
        i = wrong[0]
        low, high = form.row_lower[i], form.row_upper[i]
        return f"{form.rows[i].name}: has no terms, and 0 is not between {low} and {high}"
    return None


def _check_numbers(values: Floats, things: list[Any], what: str) -> None:
    wrong = np.flatnonzero(np.isnan(values))
    if wrong.size:
        raise InputError(f"{things[wrong[0]].name}: its {what} is not a number")


def rounded_values(form: StandardForm, values: Floats) -> Floats:
    """Return `values` with integer columns rounded to the integer they are within 1e-5 of.

    Raises
    ------
    NotIntegralError
        If a value of an integer column is farther than 1e-5 from every integer.
    """
    rounded = np.where(form.integer, np.rint(values), values)
    far = np.flatnonzero(np.abs(rounded - values) > INTEGRALITY_TOLERANCE)
    if far.size:
        i = far[0]
        raise NotIntegralError(
            f"{form.columns[i].name}: the backend returned {values[i]} for an integer variable"
        )
    return rounded


def load_values(form: StandardForm, values: Floats) -> None:
    """Write an incumbent into the Pyomo variables.

    Integer variables receive the integer their value is within 1e-5 of. Variables that occur
    nowhere receive the value of their domain nearest to zero; fixed variables keep theirs.

    Parameters
    ----------
    form : StandardForm
    values : ndarray of float, shape (columns,)

    Raises
    ------
    NotIntegralError
        If a value of an integer variable is farther than 1e-5 from every integer. `solve_model`
        turns that into an outcome of status `ERROR` whose `reason` is this message.
    """
    rounded = rounded_values(form, values)
    pairs = zip(form.columns, rounded.tolist(), form.integer.tolist(), strict=True)
    for v, x, integer in pairs:
        v.set_value(int(x) if integer else x, skip_validation=True)
    for v in form.unused:
        v.set_value(value_nearest_zero(v), skip_validation=True)


def current_values(form: StandardForm) -> Floats:
    """Return the current values of the model's variables; NaN for a variable without a value."""
    values = (v.value for v in form.columns)
    return np.fromiter((math.nan if x is None else x for x in values), float, len(form.columns))


def recession_form(form: StandardForm) -> StandardForm:
    """Return the LP that looks for the best improving direction within the box [-1, 1].

    Its columns form a direction d along which no column or row bound is ever violated. The model
    has an improving ray if and only if the optimum is better than zero.
    """
    low = np.where(np.isfinite(form.row_lower), 0.0, -np.inf)
    high = np.where(np.isfinite(form.row_upper), 0.0, np.inf)
    return replace(
        form,
        col_lower=np.where(np.isfinite(form.col_lower), 0.0, -1.0),
        col_upper=np.where(np.isfinite(form.col_upper), 0.0, 1.0),
        integer=np.zeros(len(form.columns), dtype=bool),
        offset=0.0,
        row_lower=low,
        row_upper=high,
        exact=replace(
            form.exact,
            rows={
                i: replace(row, lower=_side_of_cone(low[i]), upper=_side_of_cone(high[i]))
                for i, row in form.exact.rows.items()
            },
            offset=None,
            col_lower={},
            col_upper={},
        ),
    )


def _side_of_cone(x: float) -> Side:
    return 0 if x == 0 else float(x)
