"""The constant of an objective, added to what a solver finds without it.

Beside a constant that is much larger than the costs, doubles lose what the costs say, and a
relative gap of nothing is closed at once.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.tolerance import Number, as_double, simplest_rational
from gadgetopt.search.watched import Report
from gadgetopt.solvers.exact_form import OBJECTIVE
from gadgetopt.solvers.outcome import SolverOutcome, no_better

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm
    from gadgetopt.system.declaration import Sense

#: A constant is large from this many times the largest cost on. Tuned: `benchmarks/constants.py`.
LARGE = 2.0**10


def constant_of(form: StandardForm) -> Number:
    """Return the constant of a form's objective, exact where it is known so."""
    if OBJECTIVE in form.exact.inexact or not math.isfinite(form.offset):
        return form.offset
    known = form.exact.offset
    return simplest_rational(form.offset) if known is None else known


def without_large_constant(form: StandardForm) -> StandardForm:
    """Return a form without the constant of its objective, if that is large."""
    large = abs(form.offset) / LARGE > np.abs(form.c).max(initial=0.0)
    return without_constant(form) if large else form


def without_constant(form: StandardForm) -> StandardForm:
    """Return a form without the constant of its objective."""
    if form.offset == 0:
        return form
    return replace(form, offset=0.0, exact=replace(form.exact, offset=None))


def plus_constant(x: Number | None, constant: Number, sense: Sense) -> float | None:
    """Return the sum of two numbers in doubles, rounded so that it is no better for a sense."""
    if x is None:
        return None
    try:
        return no_better(simplest_rational(x) + Fraction(constant), sense)
    except (OverflowError, ValueError):  # beyond the range of doubles
        return as_double(x) + as_double(constant)


def told_with_constant(report: Report, form: StandardForm) -> Report:
    """Return who is told of objectives and bounds that lack the constant of a form."""
    constant = constant_of(form)
    if constant == 0:
        return report
    sense, other = form.sense, _other(form.sense)
    return lambda incumbent, bound: report(
        plus_constant(incumbent, constant, sense), plus_constant(bound, constant, other)
    )


def with_constant(outcome: SolverOutcome, form: StandardForm) -> SolverOutcome:
    """Return the outcome on a form without its constant for the form as it is.

    No objective becomes better by rounding, and no bound tighter.
    """
    constant = constant_of(form)
    if constant == 0:
        return outcome
    other = _other(form.sense)

    def of(x: Number | None, sense: Sense) -> float | None:
        return plus_constant(x, constant, sense)

    return replace(
        outcome,
        objective=of(outcome.objective, form.sense),
        bound=of(outcome.bound, other),
        lp_bound=of(outcome.lp_bound, other),
        root_bound=of(outcome.root_bound, other),
        trace=tuple(
            replace(p, incumbent=of(p.incumbent, form.sense), bound=of(p.bound, other))
            for p in outcome.trace
        ),
    )


def _other(sense: Sense) -> Sense:
    return "max" if sense == "min" else "min"
