"""Fractions of a Pyomo model replaced by doubles, for solvers and writers of Pyomo's own.

Pyomo writes a fraction into LP and NL files as `1/3`, which no solver reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

from pyomo.core.base import ConcreteModel, Constraint, Objective, Param, Var
from pyomo.core.expr.visitor import ExpressionReplacementVisitor

from gadgetopt.errors import ModelRefused

#: What puts an expression back, and the expression.
Undo = list[tuple[Callable[[Any], None], Any]]


class _ToDoubles(ExpressionReplacementVisitor):
    """Replaces fractions; what holds none stays the same object."""

    def beforeChild(self, node: Any, child: Any, child_idx: int) -> Any:
        if child.__class__ is Fraction:
            return False, float(child)
        return super().beforeChild(node, child, child_idx)


@contextmanager
def in_doubles(model: ConcreteModel) -> Iterator[None]:
    """Let a model have the nearest doubles in place of its fractions within a block.

    A row that is found to have no variables, such as a sum over nothing, is inactive there.

    Raises
    ------
    ModelRefused
        If such a row does not hold.
    """
    undo: Undo = []
    try:
        for v in model.component_data_objects(Var):
            _replace(v._lb, partial(setattr, v, "lower"), undo)
            _replace(v._ub, partial(setattr, v, "upper"), undo)
        for parameter in model.component_objects(Param):
            if parameter.mutable:
                for p in parameter.values():
                    _replace(p._value, partial(setattr, p, "_value"), undo)
        for objective in model.component_data_objects(Objective, active=True):
            _replace(objective.expr, objective.set_value, undo)
        for row in list(model.component_data_objects(Constraint, active=True)):
            _replace(row.expr, partial(_set_row, row), undo)
        yield
    finally:
        for restore, before in reversed(undo):
            restore(before)


def _set_row(row: Any, expression: Any) -> None:
    """Give a row an expression, or take the row out if the expression is only true or false."""
    if expression is False:
        raise ModelRefused(f"{row.name}: does not hold, whatever the values of the variables")
    if expression is True:
        row.deactivate()
        return
    row.set_value(expression)
    row.activate()


def _replace(expression: Any, put: Callable[[Any], None], undo: Undo) -> None:
    """Put an expression in doubles, if that is another one, and note how to restore it."""
    if isinstance(expression, Fraction):
        doubled: Any = float(expression)
    elif hasattr(expression, "is_expression_type") and expression.is_expression_type():
        doubled = _ToDoubles().walk_expression(expression)
    else:
        return
    if doubled is not expression:
        undo.append((put, expression))
        put(doubled)
