"""Bounds and integrality of Pyomo variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact, NotExactError, TermReader

#: Types of bounds that need no evaluation.
_NUMBERS = frozenset({int, float, type(None)})


@dataclass(frozen=True)
class Domains:
    """Bounds and integrality of variables, one entry each.

    Attributes
    ----------
    lower, upper : ndarray of float
        The tighter of the variable's and its domain's bounds, infinite if there is none; integers
        for integer variables.
    integer : ndarray of bool
    exact_lower, exact_upper : dict of int to Exact
        Bounds that are not the simplest rational that rounds to their double.
    """

    lower: Floats
    upper: Floats
    integer: Bools
    exact_lower: dict[int, Exact]
    exact_upper: dict[int, Exact]


def read_domains(variables: list[Any], reader: TermReader) -> Domains:
    """Return the bounds and integrality of variables.

    Raises
    ------
    ModelRefused
        If a domain is not an interval of reals or integers.
    InputError
        If a bound is not a number.
    """
    # Variables share few domain objects, and asking one for its step is slow.
    steps: dict[int, bool] = {}
    lows: list[float] = []
    highs: list[float] = []
    integer: list[bool] = []
    exact_lower: dict[int, Exact] = {}
    exact_upper: dict[int, Exact] = {}
    for j, v in enumerate(variables):
        domain = v.domain
        whole = steps.get(id(domain))
        if whole is None:
            whole = steps[id(domain)] = _takes_integers_only(v)
        integer.append(whole)
        try:
            low, high = v.bounds
        except ValueError as error:
            raise InputError(f"{v.name}: {error}") from error
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if v._lb.__class__ not in _NUMBERS or _is_large_integer(low):
            exact = _exact_bound(v, v.lower, low, reader)
            if exact is not None:
                exact_lower[j] = math.ceil(exact) if whole else exact
                low = _double(exact_lower[j], v)
        if v._ub.__class__ not in _NUMBERS or _is_large_integer(high):
            exact = _exact_bound(v, v.upper, high, reader)
            if exact is not None:
                exact_upper[j] = math.floor(exact) if whole else exact
                high = _double(exact_upper[j], v)
        lows.append(low)
        highs.append(high)
    lower, upper = np.array(lows, dtype=float), np.array(highs, dtype=float)
    whole_numbers = np.array(integer, dtype=bool)
    lower[whole_numbers] = np.ceil(lower[whole_numbers])
    upper[whole_numbers] = np.floor(upper[whole_numbers])
    return Domains(lower, upper, whole_numbers, exact_lower, exact_upper)


def _is_large_integer(x: Any) -> bool:
    return x.__class__ is int and abs(x) >= LARGEST_EXACT


def _exact_bound(v: Any, bound: Any, value: float, reader: TermReader) -> Exact | None:
    """Return the exact bound; None if it is infinite or known only as a double."""
    if math.isinf(value):
        return None
    try:
        return reader.constant(bound)
    except (ModelRefused, InputError) as error:
        raise type(error)(f"{v.name}: {error}") from error
    except NotExactError:
        return None  # known only as a double


def _double(x: Exact, v: Any) -> float:
    try:
        return float(x)
    except OverflowError:
        raise ModelRefused(f"{v.name}: a bound beyond the range of doubles") from None


def _takes_integers_only(v: Any) -> bool:
    low, high, step = v.domain.get_interval()
    # A step of 1 from one half on makes no integers.
    ends = (end for end in (low, high) if end is not None and math.isfinite(end))
    if step not in (0, 1) or (step == 1 and not all(end == int(end) for end in ends)):
        raise ModelRefused(
            f"{v.name}: its domain {v.domain} is not an interval of reals or integers"
        )
    return bool(step == 1)


def value_nearest_zero(v: Any) -> float | int:
    """Return the value of a variable's domain nearest to zero."""
    domains = read_domains([v], TermReader())
    low = domains.exact_lower.get(0, float(domains.lower[0]))
    high = domains.exact_upper.get(0, float(domains.upper[0]))
    if low > high:
        raise TriviallyInfeasibleError(f"{v.name}: its domain is empty")
    nearest = min(max(0, low), high)
    return int(nearest) if domains.integer[0] else float(nearest)
