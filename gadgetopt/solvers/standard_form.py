"""A Pyomo model compiled once into arrays, and values written back into the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from pyomo.common.errors import (
    InfeasibleConstraintException,
    InvalidConstraintError,
    InvalidExpressionError,
)
from pyomo.core.base import Block, ConcreteModel, Constraint, Objective, Var, maximize, value
from pyomo.core.expr.visitor import identify_variables
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler
from scipy.sparse import csr_array

from gadgetopt.declaration import Sense
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers import simplest_rational

#: How far from an integer a solver may leave an integer variable; HiGHS's own tolerance is 1e-6.
INTEGRALITY_TOLERANCE = 1e-5

#: Relative rounding error at which a row that holds no variable counts as satisfied.
CONSTANT_TOLERANCE = 1e-12

Floats = npt.NDArray[np.float64]


class TriviallyInfeasibleError(ValueError):
    """A constraint without variables, or a variable's domain, already rules out every solution."""


class NotIntegralError(ValueError):
    """A backend returned a value for an integer variable that is no integer."""


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
        Which columns take integers only.
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
        Free variables of the model that occur nowhere, so that any value of their domain will do.
    """

    columns: list[Any]
    col_lower: Floats
    col_upper: Floats
    integer: npt.NDArray[np.bool_]
    c: Floats
    offset: float
    sense: Sense
    A: csr_array
    row_lower: Floats
    row_upper: Floats
    rows: list[Any]
    unused: list[Any]


def compile_model(model: ConcreteModel) -> StandardForm:
    """Compile a linear Pyomo model into arrays.

    Fixed variables are constants. Models of Pyomo GDP are transformed before they come here.

    Raises
    ------
    ModelRefused
        If a constraint or the objective is not linear, if the model has several objectives, or if
        it has a kind of component that has no linear form.
    TriviallyInfeasibleError
        If a constraint without variables is violated or a variable's domain is empty.
    InputError
        If a coefficient or bound is not a number.
    """
    objectives = list(model.component_data_objects(Objective, active=True))
    if len(objectives) > 1:
        names = ", ".join(o.name for o in objectives)
        raise ModelRefused(f"the model has {len(objectives)} active objectives: {names}")
    info = _compile(model)
    columns = info.columns
    A, row_lower, row_upper, rows = _merge_ranges(info)
    c = info.c.toarray()[0] if objectives else np.zeros(len(columns))
    col_lower, col_upper, integer = _domains(columns)
    known = {id(v) for v in columns}
    unused = [
        v
        for v in model.component_data_objects(Var, descend_into=Block)
        if id(v) not in known and not v.fixed
    ]
    form = StandardForm(
        columns=columns,
        col_lower=col_lower,
        col_upper=col_upper,
        integer=integer,
        c=c,
        offset=float(info.c_offset[0]) if objectives else 0.0,
        sense="max" if objectives and objectives[0].sense == maximize else "min",
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        rows=rows,
        unused=unused,
    )
    _check(form)
    return form


def _compile(model: ConcreteModel) -> Any:
    try:
        return LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise ModelRefused(f"not a linear model: {error}") from error
    except InfeasibleConstraintException as error:
        rounded = _violated_by_rounding(model)
        if not rounded:
            raise TriviallyInfeasibleError(str(error)) from error
        try:
            for con in rounded:
                con.deactivate()
            return _compile(model)
        finally:
            for con in rounded:
                con.activate()
    except ValueError as error:
        # An unknown kind of component, or a fixed variable without a value.
        raise ModelRefused(str(error)) from error


def _violated_by_rounding(model: ConcreteModel) -> list[Any]:
    """Return rows of fixed variables only that rounding alone makes false.

    Pyomo compares constants without any tolerance: variables fixed at 0.1 and 0.2 do not sum to
    0.3 then, and a feasible model would be called infeasible.
    """
    found = []
    for con in model.component_data_objects(Constraint, active=True):
        if any(not v.fixed for v in identify_variables(con.body)):
            continue
        body = value(con.body)
        violation = max(
            0.0 if con.lb is None else con.lb - body, 0.0 if con.ub is None else body - con.ub
        )
        if 0 < violation <= CONSTANT_TOLERANCE * max(1.0, abs(body)):
            found.append(con)
    return found


def _merge_ranges(info: Any) -> tuple[csr_array, Floats, Floats, list[Any]]:
    """Return rows with two-sided bounds, the two rows of each range constraint made one."""
    entries = info.rows
    kind = np.fromiter((e.bound_type for e in entries), np.int8, len(entries))
    rhs = _without_rounding_error(np.asarray(info.rhs, dtype=np.float64), entries)
    lower = np.where(kind <= 0, rhs, -np.inf)
    upper = np.where(kind >= 0, rhs, np.inf)
    keep = np.ones(len(entries), dtype=bool)
    # A range comes as its upper-bound row directly followed by its lower-bound row.
    for i in np.flatnonzero((kind[1:] == -1) & (kind[:-1] == 1)):
        if entries[i].constraint is entries[i + 1].constraint:
            lower[i] = lower[i + 1]
            keep[i + 1] = False
    A = csr_array(info.A.tocsr())
    if not keep.all():
        A = A[keep]
    rows = [e.constraint for e, kept in zip(entries, keep.tolist(), strict=True) if kept]
    return A, lower[keep], upper[keep], rows


def _without_rounding_error(rhs: Floats, entries: list[Any]) -> Floats:
    """Undo the rounding of right-hand sides from which Pyomo has subtracted a body's constant.

    `10 x + 0.1 <= 30.1 + 0.2` comes out with a right-hand side a few units in the last place off
    30.2, and an integer x may hang on them.
    """
    for i in np.flatnonzero(rhs != np.rint(rhs)):
        con, kind = entries[i]
        written = con.lb if kind < 0 else con.ub
        if written != rhs[i]:
            rhs[i] = _tidied(float(rhs[i]))
    return rhs


def _tidied(x: float) -> float:
    """Return a number within four units in the last place that is far simpler than `x`, or `x`."""
    if not math.isfinite(x):
        return x
    near = 4 * Fraction(math.ulp(x))
    exact = Fraction(x)
    denominator = simplest_rational(x).denominator
    p_old, q_old, p, q = 0, 1, 1, 0
    rest = exact
    # Convergents with a denominator a thousand times smaller: no accident for an arbitrary double.
    while True:
        a = math.floor(rest)
        p_old, q_old, p, q = p, q, a * p + p_old, a * q + q_old
        if 1000 * q > denominator:
            return x
        if abs(Fraction(p, q) - exact) <= near:
            return p / q
        rest = 1 / (rest - a)


def _domains(columns: list[Any]) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return lower bounds, upper bounds and integrality, bounds of the domain included."""
    # Variables share few domain objects, and asking one for its step is slow.
    steps: dict[int, bool] = {}
    lows, highs, integer = [], [], []
    for v in columns:
        domain = v.domain
        whole = steps.get(id(domain))
        if whole is None:
            whole = steps[id(domain)] = _takes_integers_only(v)
        try:
            low, high = v.bounds
        except ValueError as error:
            raise InputError(f"{v.name}: {error}") from error
        lows.append(-math.inf if low is None else low)
        highs.append(math.inf if high is None else high)
        integer.append(whole)
    lower, upper = np.array(lows, dtype=float), np.array(highs, dtype=float)
    whole_numbers = np.array(integer, dtype=bool)
    lower[whole_numbers] = np.ceil(_snapped(lower[whole_numbers]))
    upper[whole_numbers] = np.floor(_snapped(upper[whole_numbers]))
    return lower, upper, whole_numbers


def _snapped(x: Floats) -> Floats:
    """Return `x` with numbers within four units in the last place of an integer moved there."""
    finite = np.where(np.isfinite(x), x, 0.0)
    nearest = np.rint(finite)
    close = np.isfinite(x) & (np.abs(finite - nearest) <= 4 * np.spacing(np.abs(finite)))
    return np.where(close, nearest, x)


def _takes_integers_only(v: Any) -> bool:
    _, _, step = v.domain.get_interval()
    if step not in (0, 1):
        raise ModelRefused(f"{v.name}: its domain {v.domain} is no interval of reals or integers")
    return bool(step == 1)


def _check(form: StandardForm) -> None:
    for values, what in ((form.c, "objective coefficient"), (form.col_lower, "lower bound")):
        _check_numbers(values, form.columns, what)
    _check_numbers(form.col_upper, form.columns, "upper bound")
    _check_numbers(form.row_lower, form.rows, "lower bound")
    _check_numbers(form.row_upper, form.rows, "upper bound")
    if not (np.isfinite(form.A.data).all() and np.isfinite(form.c).all()):
        raise InputError("a coefficient of the model is infinite or not a number")
    for lower, upper, things in (
        (form.col_lower, form.col_upper, form.columns),
        (form.row_lower, form.row_upper, form.rows),
    ):
        crossed = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
        if crossed.size:
            i = crossed[0]
            raise TriviallyInfeasibleError(
                f"{things[i].name}: no number is at least {lower[i]} and at most {upper[i]}"
            )
    for v in form.unused:
        value_nearest_zero(v)


def _check_numbers(values: Floats, things: list[Any], what: str) -> None:
    wrong = np.flatnonzero(np.isnan(values))
    if wrong.size:
        raise InputError(f"{things[wrong[0]].name}: its {what} is not a number")


def value_nearest_zero(v: Any) -> float | int:
    """Return the value of a variable's domain nearest to zero."""
    lower, upper, integer = _domains([v])
    low, high = float(lower[0]), float(upper[0])
    if low > high:
        raise TriviallyInfeasibleError(f"{v.name}: its domain is empty")
    nearest = min(max(0.0, low), high)
    return int(nearest) if integer[0] else nearest


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
    """Return the values that the model's variables hold now; NaN where one has none."""
    values = (v.value for v in form.columns)
    return np.fromiter((math.nan if x is None else x for x in values), float, len(form.columns))
