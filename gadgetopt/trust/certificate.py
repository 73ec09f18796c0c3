"""Dual bounds checked from certificates in exact arithmetic, without trusting a solver.

A certificate is a system's own (a partition, prices, the name of a formula) and checked by the
system's `check_bound`, or the row duals of one of its formulations, checked here.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import Number, is_finite
from gadgetopt.system.data import Certificate, LpDuals
from gadgetopt.system.declaration import Problem, integral
from gadgetopt.system.methods import find_formulation

#: Most binary digits of a bound's denominator. Python does not print integers of thousands of
#: digits.
MOST_BITS = 2048


def certified_bound(problem: Problem, instance: Any, certificate: Certificate) -> Number | None:
    """Return the dual bound that a certificate proves on an instance, or None if it proves none.

    Raises
    ------
    InputError
        If the problem has no certificates of this kind.
    ValueError
        If the certificate refers to something the instance does not have, or the bound is not
        finite or larger than any double.
    """
    bound: Number | None
    if isinstance(certificate, LpDuals):
        bound = _bound_of_formulation(problem, instance, certificate)
    elif problem.check_bound is not None:
        bound = problem.check_bound(instance, certificate)
    else:
        raise InputError(f"{problem.name}: has no certificates of its own")
    if bound is None:
        return None
    if not is_finite(bound) or abs(bound) > sys.float_info.max:
        raise ValueError("the bound is larger than any double")
    return integral(problem, shortened(problem, bound))


def shortened(problem: Problem, bound: Number) -> Number:
    """Return a dual bound, or a negligibly weaker one with fewer digits."""
    if not isinstance(bound, Fraction) or bound.denominator.bit_length() <= MOST_BITS:
        return bound
    scaled = bound * (1 << MOST_BITS)
    whole = math.floor(scaled) if problem.sense == "min" else math.ceil(scaled)
    return Fraction(whole, 1 << MOST_BITS)


def _bound_of_formulation(problem: Problem, instance: Any, certificate: LpDuals) -> Number | None:
    from gadgetopt.numbers.exact import common_denominator
    from gadgetopt.solvers.dual_bounds import exact_dual_bound, rounded_number
    from gadgetopt.solvers.standard_form import compile_model

    formulation = find_formulation(problem, certificate.formulation)
    if formulation.strength == "restriction":
        raise ValueError(f"formulation: {formulation.name!r} is a restriction and bounds nothing")
    common_denominator(certificate.row_duals)  # refuses those with too many digits
    reason = rounded_number(instance)
    if reason is not None:
        raise ValueError(f"formulation: {formulation.name!r}: {reason}")
    try:
        form = compile_model(formulation.build(instance))
        return exact_dual_bound(form, certificate.row_duals)
    except ModelRefused as error:
        raise ValueError(f"formulation: {formulation.name!r}: {error}") from None
