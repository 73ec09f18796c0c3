"""Pyomo expressions read as sums of terms in exact numbers.

Pyomo adds and multiplies in doubles when it collects an expression: `0.1 x + 0.2 x` becomes
`0.30000000000000004 x`. Here each double is first read as the number it was written as, and only
then are constants, repeated variables and products collected, in integers and rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.expr import numeric_expr as expressions
from pyomo.core.expr.numvalue import value

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.pyomo_numbers import know_fractions
from gadgetopt.numbers.tolerance import simplest_rational

know_fractions()

Exact = int | Fraction
Stack = list[tuple[Any, Exact]]

#: Doubles represent every integer below this, but not every larger one. By definition.
LARGEST_EXACT = 2**53

#: Largest power of a constant that is multiplied out. Tuned: `benchmarks/constants.py`.
LARGEST_POWER = 1000


class NotExactError(ValueError):
    """The exact terms of an expression cannot be determined; the message says why."""


class LargeDoubleError(NotExactError):
    """A double of 2^53 or more, in which an integer may have been rounded."""


@dataclass
class Linear:
    """`sum(terms[id(x)] * x) + constant`; terms may be zero."""

    terms: dict[int, Exact] = field(default_factory=dict)
    constant: Exact = 0

    def add(self, other: Linear, factor: Exact) -> None:
        """Add `factor * other`."""
        self.constant += factor * other.constant
        for key, a in other.terms.items():
            self.terms[key] = self.terms.get(key, 0) + factor * a

    def is_constant(self) -> bool:
        """Return True if no variable is left."""
        return not any(self.terms.values())


class TermReader:
    """Reads the expressions of a model; fixed variables are constants.

    Attributes
    ----------
    variables : dict of int to VarData
        Every free variable seen, by its `id`.
    """

    def __init__(self) -> None:
        self.variables: dict[int, Any] = {}
        self._rationals: dict[float, Exact] = {}
        self._named: dict[int, Linear] = {}

    def number(self, x: Any) -> Exact:
        """Return a number held by Pyomo as the number that was written.

        Raises
        ------
        InputError
            If it is infinite or not a number.
        LargeDoubleError
            If it is a double of 2^53 or more.
        """
        if x.__class__ is Fraction:
            return _plain(x)
        if x.__class__ is int or isinstance(x, Integral):
            return int(x)
        if isinstance(x, Rational | Decimal):
            return _plain(Fraction(x))
        if isinstance(x, str):
            raise InputError(f"{x!r} is not a number")
        try:
            x = float(x)
        except (TypeError, ValueError):
            raise InputError(f"{x!r} is not a number") from None
        known = self._rationals.get(x)
        if known is None:
            if not math.isfinite(x):
                raise InputError(f"{x} is not a finite number")
            if abs(x) >= LARGEST_EXACT:
                raise LargeDoubleError(too_large(x))
            known = self._rationals[x] = _plain(simplest_rational(x))
        return known

    def constant(self, expression: Any) -> Exact:
        """Return the value of an expression without free variables."""
        if expression.__class__ in native_numeric_types:
            return self.number(expression)
        linear = self.read(expression)
        if not linear.is_constant():
            raise NotExactError("a variable where a constant is needed")
        return linear.constant

    def read(self, expression: Any) -> Linear:
        """Return an expression's exact terms.

        Raises
        ------
        NotExactError
            If it is not linear, contains a function without a rational value, or a double of 2^53
            or more.
        InputError
            If a number is infinite or not a number.
        ModelRefused
            If a fixed variable or parameter has no value, or the expression divides by zero.
        """
        sum_ = Linear()
        stack: Stack = [(expression, 1)]
        while stack:
            node, factor = stack.pop()
            kind = node.__class__
            if kind in _SUMS:
                self._add_flat(node.args, factor, sum_, stack)
            elif kind in native_numeric_types:
                sum_.constant += factor * self.number(node)
            elif kind is expressions.MonomialTermExpression:
                self._add_flat((node,), factor, sum_, stack)
            elif not node.is_expression_type():
                if node.is_variable_type() and not node.fixed:
                    self._add_variable(node, factor, sum_.terms)
                else:
                    sum_.constant += factor * self._value(node)
            elif node.is_named_expression_type():
                sum_.add(self._named_terms(node), factor)
            else:
                handler = _HANDLERS.get(kind)
                if handler is None:
                    raise NotExactError(f"{node.getname()} has no exact linear form")
                handler(self, node, factor, stack, sum_)
        return sum_

    def _add_flat(self, args: Sequence[Any], factor: Exact, sum_: Linear, stack: Stack) -> None:
        """Add those terms among `args` that are a number times a variable; set the others aside."""
        rationals = self._rationals
        others = []
        for arg in args:
            if arg.__class__ is not expressions.MonomialTermExpression:
                others.append((arg, factor))
                continue
            a, v = arg._args_
            exact = rationals.get(a) if a.__class__ is float else None
            if exact is None:
                exact = self.constant(a)
            if factor != 1:
                exact = factor * exact
            if v.fixed:
                sum_.constant += exact * self._value(v)
            else:
                self._add_variable(v, exact, sum_.terms)
        stack.extend(reversed(others))

    def _add_variable(self, v: Any, a: Exact, terms: dict[int, Exact]) -> None:
        key = id(v)
        if key in terms:
            terms[key] += a
        else:
            terms[key] = a
            self.variables[key] = v

    def _value(self, leaf: Any) -> Exact:
        """Return the value of a parameter, fixed variable or unit."""
        try:
            number = value(leaf, exception=False)
        except ValueError:  # a parameter without a value
            number = None
        if number is None:
            what = "fixed, but has no value" if leaf.is_variable_type() else "without a value"
            raise ModelRefused(f"{leaf.name} is {what}")
        return self.number(number)

    def _named_terms(self, node: Any) -> Linear:
        """Return the terms of a named expression, which several rows may share."""
        known = self._named.get(id(node))
        if known is None:
            if node.args[0] is None:
                raise ModelRefused(f"{node.name} has no expression")
            known = self._named[id(node)] = self.read(node.args[0])
        return known


def _negation(reader: TermReader, node: Any, factor: Exact, stack: Stack, _: Linear) -> None:
    stack.append((node.args[0], -factor))


def _product(reader: TermReader, node: Any, factor: Exact, stack: Stack, sum_: Linear) -> None:
    left, right = node.args
    first = reader.read(left)
    if first.is_constant():
        if first.constant != 0:
            stack.append((right, factor * first.constant))
        return
    second = reader.read(right)
    if not second.is_constant():
        raise NotExactError("a product of variables")
    sum_.add(first, factor * second.constant)


def _division(reader: TermReader, node: Any, factor: Exact, stack: Stack, _: Linear) -> None:
    above, below = node.args
    divisor = reader.constant(below)
    if divisor == 0:
        raise ModelRefused("a division by zero")
    stack.append((above, _plain(Fraction(factor) / divisor)))


def _power(reader: TermReader, node: Any, factor: Exact, stack: Stack, sum_: Linear) -> None:
    base, exponent = node.args
    power = reader.constant(exponent)
    if power == 1:
        stack.append((base, factor))
        return
    if power == 0:
        sum_.constant += factor
        return
    if not isinstance(power, int) or abs(power) > LARGEST_POWER:
        raise NotExactError(f"a power of {power}")
    value = reader.constant(base)
    if value == 0 and power < 0:
        raise ModelRefused("a division by zero")
    sum_.constant += factor * _plain(Fraction(value) ** power)


def _of_constants(function: Callable[..., Exact]) -> Callable[..., None]:
    def handler(reader: TermReader, node: Any, factor: Exact, stack: Stack, sum_: Linear) -> None:
        sum_.constant += factor * function(*map(reader.constant, node.args))

    return handler


_SUMS = frozenset(
    {expressions.SumExpression, expressions.LinearExpression, expressions.NPV_SumExpression}
)
_HANDLERS: dict[type, Callable[..., None]] = {
    expressions.NegationExpression: _negation,
    expressions.NPV_NegationExpression: _negation,
    expressions.ProductExpression: _product,
    expressions.NPV_ProductExpression: _product,
    expressions.DivisionExpression: _division,
    expressions.NPV_DivisionExpression: _division,
    expressions.PowExpression: _power,
    expressions.NPV_PowExpression: _power,
    expressions.AbsExpression: _of_constants(abs),
    expressions.NPV_AbsExpression: _of_constants(abs),
    expressions.NPV_MaxExpression: _of_constants(max),
    expressions.NPV_MinExpression: _of_constants(min),
}


def too_large(x: float) -> str:
    """Return the message that a double of 2^53 or more is not taken as exact."""
    return (
        f"{x:.17g} is 2^53 or more, where doubles no longer hold every integer, so it cannot be "
        "taken as exact"
    )


def _plain(x: Fraction) -> Exact:
    return x.numerator if x.denominator == 1 else x
