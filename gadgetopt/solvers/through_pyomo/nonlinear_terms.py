"""Nonlinear expressions over the variables of a plain model, and how large their terms are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pyomo.common.numeric_types import native_numeric_types, native_types
from pyomo.core.base import value
from pyomo.core.expr import numeric_expr as expressions
from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

from gadgetopt.errors import InputError, ModelRefused


class Copier(StreamBasedExpressionVisitor):
    """Writes expressions anew: numbers for parameters and fixed variables, others replaced.

    Parameters
    ----------
    replaced : mapping
        The new variable by the `id` of the old.
    """

    def __init__(self, replaced: Mapping[int, Any]):
        super().__init__()
        self.replaced = replaced
        self.name = ""

    def copy(self, name: str, expression: Any) -> Any:
        """Return the copy of an expression of the component `name`.

        Raises
        ------
        InputError
            If a number is infinite or not a number.
        ModelRefused
            If a fixed variable or parameter has no value, or a constant cannot be computed.
        """
        self.name = name
        return self.walk_expression(expression)

    def initializeWalker(self, expression: Any) -> tuple[bool, Any]:
        """Begin with an expression."""
        return self.beforeChild(None, expression, 0)

    def beforeChild(self, _: Any, child: Any, __: int) -> tuple[bool, Any]:
        """Return whether to descend into a part, or what it is."""
        if child.__class__ in native_numeric_types:
            return False, self._finite(child)
        if child.__class__ in native_types:
            raise InputError(f"{self.name}: {child!r} is not a number")
        if child.is_expression_type():
            return True, None
        if child.is_variable_type() and not child.fixed:
            return False, self.replaced[id(child)]
        number = value(child, exception=False)
        if number is None:
            what = "fixed, but has no value" if child.is_variable_type() else "without a value"
            raise ModelRefused(f"{self.name}: {child.name} is {what}")
        return False, self._finite(number)

    def exitNode(self, node: Any, args: list[Any]) -> Any:
        """Return what an expression is, from its parts."""
        if node.is_named_expression_type():
            return args[0]
        new = node.create_node_with_local_data(tuple(args))
        if any(a.__class__ not in native_numeric_types for a in args):
            return new
        try:
            return self._finite(value(new))
        except (ValueError, ArithmeticError, TypeError) as error:
            raise ModelRefused(f"{self.name}: {' '.join(str(error).split())}") from error

    def _finite(self, x: Any) -> float:
        try:
            number = float(x)
        except (TypeError, ValueError):
            raise InputError(f"{self.name}: {x!r} is not a number") from None
        except OverflowError:
            raise ModelRefused(f"{self.name}: a number beyond the range of doubles") from None
        if not math.isfinite(number):
            raise InputError(f"{self.name}: {number} is not a finite number")
        return number


class _Size(StreamBasedExpressionVisitor):
    """Computes the size of expressions; see `size_of`."""

    def __init__(self, *, at_values: bool):
        super().__init__()
        self.at_values = at_values

    def initializeWalker(self, expression: Any) -> tuple[bool, Any]:
        """Begin with an expression."""
        return self.beforeChild(None, expression, 0)

    def beforeChild(self, _: Any, child: Any, __: int) -> tuple[bool, Any]:
        """Return whether to descend into a part, or what it is."""
        if child.__class__ in native_numeric_types:
            return False, abs(child)
        if child.is_expression_type():
            return True, None
        x = abs(child.value) if self.at_values else 1.0
        return False, x if child.is_integer() else max(1.0, x)

    def exitNode(self, node: Any, sizes: list[float]) -> float:
        """Return what an expression is, from its parts."""
        kind = node.__class__
        if kind in (expressions.SumExpression, expressions.LinearExpression):
            return max(sizes)
        if kind is expressions.NegationExpression:
            return sizes[0]
        if kind in (expressions.ProductExpression, expressions.MonomialTermExpression):
            return sizes[0] * sizes[1]
        return abs(value(node)) if self.at_values else 1.0


def size_of(expression: Any, *, at_values: bool) -> float:
    """Return the size of the largest term of an expression over variables and numbers.

    The size of a product is the product of sizes. A continuous variable has at least the size 1, as
    it may be off by a solver's tolerance; any other function has the size of its value.

    Parameters
    ----------
    expression : expression of Pyomo
    at_values : bool
        False for the size where every variable and every function is 1: that of coefficients.

    Returns
    -------
    float
        Infinite or NaN where doubles overflow.
    """
    return float(_Size(at_values=at_values).walk_expression(expression))
