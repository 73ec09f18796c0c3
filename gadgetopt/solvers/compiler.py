"""Rows and objective of a Pyomo model collected into arrays, with exact numbers where needed.

A flat sum of distinct free variables with numbers as coefficients is taken as it stands. Everything
else (constants and fixed variables in a body, repeated variables, products, parameters, nested
sums, integers that no double holds) is collected in exact arithmetic first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from pyomo.common.errors import InvalidConstraintError
from pyomo.core.base import value
from pyomo.core.base.constraint import TemplateDataMixin
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from pyomo.core.expr.visitor import identify_variables
from pyomo.repn import generate_standard_repn

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers.exact_form import OBJECTIVE, ExactRow, Side
from gadgetopt.solvers.linear_terms import (
    LARGEST_EXACT,
    Exact,
    LargeDoubleError,
    Linear,
    NotExactError,
    TermReader,
    too_large,
)

#: Relative rounding error within which a row without variables counts as satisfied if its numbers
#: are known only as doubles. Tuned: `benchmarks/constants.py`.
CONSTANT_TOLERANCE = 1e-12

#: Types whose values below `LARGEST_EXACT` are exact as doubles.
_DOUBLES = frozenset({int, float, np.float64})


class TriviallyInfeasibleError(ValueError):
    """A constraint without variables, or a variable's domain, rules out every solution."""


class NotLinearError(ValueError):
    """The objective or a constraint is not linear."""


class Compiler:
    """Collects a model's objective and constraints; columns are numbered in order of appearance.

    Attributes
    ----------
    variables : list of VarData
        One per column; a variable's component is added as a whole, so that the order of columns
        does not depend on how an expression was written.
    data, indices, starts : list
        The rows, compressed.
    lower, upper : list of float
        Sides of the rows.
    rows : list of ConstraintData
    costs : dict of int to float
    offset : float
    exact_rows, exact_costs, exact_offset, inexact
        As in `ExactParts`.
    nonlinear : list
        Constraints, and perhaps the objective, that are not linear; their variables have columns.
    nonlinear_columns : set of int
    """

    def __init__(self, sort: Any):
        self.sort = sort
        self.reader: TermReader = TermReader()
        self.variables: list[Any] = []
        self.data: list[float] = []
        self.indices: list[int] = []
        self.starts: list[int] = [0]
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.rows: list[Any] = []
        self.costs: dict[int, float] = {}
        self.offset: float = 0.0
        self.exact_rows: dict[int, ExactRow] = {}
        self.exact_costs: dict[int, Exact] | None = None
        self.exact_offset: Exact | None = None
        self.inexact: dict[int, str] = {}
        self.nonlinear: list[Any] = []
        self.nonlinear_columns: set[int] = set()
        self._position: dict[int, int] = {}

    def set_objective(self, objective: Any) -> None:
        """Collect the objective."""
        expression = objective.expr
        plain = self._flat(expression)
        if plain is not None:
            self.costs = dict(zip(plain[1], plain[0], strict=True))
            return
        name = objective.name
        try:
            linear = _named(name, self.reader.read, expression)
        except NotExactError as error:
            try:
                coefficients, columns, self.offset = self._in_doubles(expression, name)
            except NotLinearError:
                self._set_aside(objective, expression)
                return
            self.costs = dict(zip(columns, coefficients, strict=True))
            self.inexact[OBJECTIVE] = str(error)
            return
        self.exact_costs = self._terms(linear)
        self.exact_offset = linear.constant
        self.costs = {j: _double(a, name) for j, a in self.exact_costs.items()}
        self.offset = _double(linear.constant, name)

    def add(self, con: Any) -> None:
        """Collect a constraint.

        Raises
        ------
        TriviallyInfeasibleError
            If it has no variables and is violated, or no number lies between its sides.
        """
        if isinstance(con, TemplateDataMixin):
            _ = con.expr  # a row that is only a template becomes an expression on access
        try:
            lower, body, upper = con.to_bounded_expression()
        except InvalidConstraintError:
            raise ModelRefused(
                f"not a linear model: {con.name} has a variable on both sides of a range"
            ) from None
        if lower is None and upper is None:
            return
        plain = self._flat(body) if _is_double(lower) and _is_double(upper) else None
        if plain is not None:
            self._append(
                con,
                *plain,
                -math.inf if lower is None else lower,
                math.inf if upper is None else upper,
            )
            return
        try:
            self._add_exact(con, lower, body, upper)
        except NotExactError as error:
            try:
                self._add_in_doubles(con, lower, body, upper, error)
            except NotLinearError:
                self._set_aside(con, body)
        except OverflowError:
            raise ModelRefused(f"{con.name}: a number beyond the range of doubles") from None

    def _set_aside(self, component: Any, expression: Any) -> None:
        """Keep a component that is not linear, and give its variables columns."""
        self.nonlinear.append(component)
        for v in identify_variables(expression, include_fixed=False):
            column = self._column(v)
            assert column is not None
            self.nonlinear_columns.add(column)

    def _append(
        self, con: Any, data: Sequence[float], columns: Sequence[int], lower: float, upper: float
    ) -> None:
        self.data.extend(data)
        self.indices.extend(columns)
        self.starts.append(len(self.data))
        self.lower.append(lower)
        self.upper.append(upper)
        self.rows.append(con)

    def _flat(self, body: Any) -> tuple[Sequence[float], Sequence[int]] | None:
        """Return a flat sum's coefficients and columns; None for any other expression."""
        if body.__class__ is LinearExpression:
            args = body.args
        elif body.__class__ is MonomialTermExpression or _is_variable(body):
            args = (body,)
        else:
            return None
        pairs = [a._args_ if a.__class__ is MonomialTermExpression else (1, a) for a in args]
        if not pairs:
            return None
        coefficients, variables = zip(*pairs, strict=True)
        if not _DOUBLES.issuperset(map(type, coefficients)) or not all(coefficients):
            return None
        if max(coefficients) >= LARGEST_EXACT or min(coefficients) <= -LARGEST_EXACT:
            return None
        columns: list[int | None] = list(map(self._position.get, map(id, variables)))
        if None in columns:
            columns = [self._column(v) for v in variables]
        known = [j for j in columns if j is not None]
        if len(set(known)) != len(columns):
            return None
        return coefficients, known

    def _column(self, v: Any) -> int | None:
        """Return the column of a free variable, adding it if needed; None for anything else."""
        key = id(v)
        if key not in self._position:
            if not _is_variable(v) or v.fixed:
                return None
            _check_in_use(v)
            for sibling in (*v.parent_component().values(self.sort), v):
                if not sibling.fixed and id(sibling) not in self._position:
                    self._position[id(sibling)] = len(self.variables)
                    self.variables.append(sibling)
        return self._position[key]

    def _terms(self, linear: Linear) -> dict[int, Exact]:
        """Return the nonzero coefficients by column."""
        out = {}
        for key, a in linear.terms.items():
            column = self._column(self.reader.variables[key])
            assert column is not None
            if a != 0:
                out[column] = a
        return out

    def _add_exact(self, con: Any, lower: Any, body: Any, upper: Any) -> None:
        name = con.name
        linear = _named(name, self.reader.read, body)
        low = _named(name, self._side, lower, -math.inf)
        high = _named(name, self._side, upper, math.inf)
        if low > high:
            raise TriviallyInfeasibleError(
                f"{name}: no number is at least {low} and at most {high}"
            )
        if linear.is_constant():
            if not low <= linear.constant <= high:
                raise TriviallyInfeasibleError(
                    f"{name}: {linear.constant} is not between {low} and {high}"
                )
            return
        terms = self._terms(linear)
        sides = (_shifted(side, linear.constant) for side in (low, high))
        row = ExactRow(list(terms), list(terms.values()), *sides)
        if not all(map(_is_small_integer, (*row.coefficients, row.lower, row.upper))):
            self.exact_rows[len(self.rows)] = row
        self._append(
            con,
            [_double(a, name) for a in row.coefficients],
            row.columns,
            _double(row.lower, name),
            _double(row.upper, name),
        )

    def _side(self, x: Any, missing: float) -> Side:
        """Return a side as it was written, or as a double if it is infinite or very large."""
        if x is None:
            return missing
        if isinstance(x, float) and not abs(x) < LARGEST_EXACT:
            return float(x)
        return self.reader.constant(x)

    def _add_in_doubles(
        self, con: Any, lower: Any, body: Any, upper: Any, reason: NotExactError
    ) -> None:
        """Collect a row in doubles as Pyomo does, if its exact numbers are not known."""
        name = con.name
        coefficients, columns, constant = self._in_doubles(body, name)
        low = -math.inf if lower is None else float(_evaluated(lower, name))
        high = math.inf if upper is None else float(_evaluated(upper, name))
        if not columns:
            slack = CONSTANT_TOLERANCE * max(1.0, abs(constant))
            if not low - slack <= constant <= high + slack:
                raise TriviallyInfeasibleError(
                    f"{name}: {constant} is not between {low} and {high}"
                )
            return
        if isinstance(reason, LargeDoubleError) and all(
            self.variables[j].is_integer() for j in columns
        ):
            raise ModelRefused(f"{name}: {reason}")
        self.inexact[len(self.rows)] = str(reason)
        self._append(con, coefficients, columns, low - constant, high - constant)

    def _in_doubles(self, expression: Any, name: str) -> tuple[list[float], list[int], float]:
        """Return coefficients, columns and constant as Pyomo computes them."""
        try:
            repn = generate_standard_repn(expression, compute_values=True)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ModelRefused(f"{name}: {_line(error)}") from error
        if not repn.is_linear():
            raise NotLinearError(name)
        total: dict[int, float] = {}
        for v, a in zip(repn.linear_vars, repn.linear_coefs, strict=True):
            column = self._column(v)
            assert column is not None
            total[column] = total.get(column, 0.0) + float(a)
        terms = {j: a for j, a in total.items() if a != 0}
        return list(terms.values()), list(terms), float(repn.constant)


def _shifted(side: Side, constant: Exact) -> Side:
    """Return a side minus a constant; a very large double stays a double."""
    if not isinstance(side, float):
        return side - constant
    if constant == 0 or not math.isfinite(side):
        return side
    shifted = Fraction(side) - constant
    if abs(shifted) < max(abs(Fraction(side)) / 2, Fraction(LARGEST_EXACT)):
        raise LargeDoubleError(too_large(side))
    return float(shifted)


def _named(name: str, read: Any, *arguments: Any) -> Any:
    """Call `read`; add the name of the row to its error messages."""
    try:
        return read(*arguments)
    except (ModelRefused, InputError) as error:
        raise type(error)(f"{name}: {error}") from error
    except RecursionError:
        raise ModelRefused(f"{name}: its expression is nested too deeply") from None


def _evaluated(x: Any, name: str) -> Any:
    try:
        return value(x)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelRefused(f"{name}: {_line(error)}") from error


def _line(error: Exception) -> str:
    """Return an error's message as one line."""
    return " ".join(str(error).split())


def _check_in_use(v: Any) -> None:
    """Refuse a variable that its model has no longer."""
    component = v.parent_component()
    if component is None or component.parent_block() is None:
        name = "a variable" if component is None else v.name
        raise ModelRefused(f"{name} was deleted from its model, but is still in use")


def _is_variable(x: Any) -> bool:
    return hasattr(x, "is_variable_type") and bool(x.is_variable_type())


def _is_double(side: Any) -> bool:
    """Return True if a side is missing, or equals its double exactly."""
    kind = side.__class__
    return side is None or kind is float or (kind is int and abs(side) < LARGEST_EXACT)


def _is_small_integer(x: Side) -> bool:
    """Return True if a number equals its double: an integer below 2^53, or a float."""
    return abs(x) < LARGEST_EXACT if isinstance(x, int) else isinstance(x, float)


def _double(x: Side, name: str) -> float:
    try:
        return float(x)
    except OverflowError:
        raise ModelRefused(f"{name}: a number beyond the range of doubles") from None
