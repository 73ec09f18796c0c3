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
    """Let a model have the nearest doubles in place of its fractions within a block."""
    undo: Undo = []
    try:
        for v in model.component_data_objects(Var):
            _replace(v._lb, partial(setattr, v, "lower"), undo)
            _replace(v._ub, partial(setattr, v, "upper"), undo)
        for parameter in model.component_objects(Param):
            if parameter.mutable:
                for p in parameter.values():
                    _replace(p._value, partial(setattr, p, "_value"), undo)
        for kind in (Constraint, Objective):
            for row in model.component_data_objects(kind, active=True):
                _replace(row.expr, row.set_value, undo)
        yield
    finally:
        for restore, before in reversed(undo):
            restore(before)


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
