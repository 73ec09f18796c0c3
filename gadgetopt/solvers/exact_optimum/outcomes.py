"""HiGHS's outcomes brought to exact optima and incumbents; only values are rounded to doubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.linear_terms import Exact
from gadgetopt.solvers.outcome import not_past
from gadgetopt.solvers.recheck import closed, with_objective
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

#: Seconds that repairing an incumbent may take when the time is up.
#: Tuned: `benchmarks/constants.py`.
LEAST_TIME_S = 1.0
#: Seconds that an exact optimum may take, however short the solve was.
#: Tuned: `benchmarks/constants.py`.
LEAST_EXACT_S = 5.0
#: Why the incumbent of a mixed model is not called optimal.
ONLY_WITHIN_TOLERANCE = (
    "rows with continuous variables hold within 1e-6 of their size; no exact values were found"
)
NO_EXACT_POINT = (
    "rows with continuous variables hold within 1e-6 of their size only; the integers admit no "
    "exact point"
)


def at_exact_optimum(form: StandardForm, outcome: SolverOutcome, limits: Limits) -> bool:
    """Replace HiGHS's optimum of a linear program by the exact one; return False if not reached.

    Parameters
    ----------
    limits : Limits
        `time_s` is the time left. No further basis is tried after that, nor after as long as the
        solve took, or a few seconds if that was less.
    """
    if outcome.status is not Status.OPTIMAL or outcome.basis is None:
        return False
    from gadgetopt.solvers.exact_optimum.refinement import exact_optimum

    try:
        exact = exact_optimum(form, outcome.basis, Clock(for_exact(limits, outcome)))
        if exact is None:
            return False
        values, duals = as_doubles(exact.values), as_doubles(exact.duals)
        objective = plain_rational(exact.objective)
    except OverflowError:  # beyond the range of doubles
        return False
    except KeyboardInterrupt:  # what HiGHS found is not lost
        outcome.limit_hit = "interrupted"
        return False
    outcome.values, outcome.row_duals = values, duals
    outcome.objective = outcome.bound = outcome.lp_bound = objective
    outcome.exact, outcome.exact_values, outcome.exact_duals = exact, exact.values, exact.duals
    return True


def with_exact_incumbent(
    form: StandardForm, outcome: SolverOutcome, limits: Limits, seed: int
) -> SolverOutcome:
    """Return HiGHS's outcome on a mixed model with an incumbent that holds exactly.

    Its integers stay; the continuous columns are those of the exact optimum that is left. Where it
    is not reached, rows hold within tolerance only and the objective may be out of reach, so the
    incumbent is no optimum.

    Parameters
    ----------
    limits : Limits
        `time_s` is the time left.
    """
    mixed = form.integer.any() and not form.integer.all()
    if not mixed or outcome.values is None or outcome.status is Status.ERROR:
        return outcome
    from gadgetopt.solvers.exact_optimum.incumbents import exact_incumbent

    # What the time limit has stopped gets a little, as for repairs.
    time_s = None if limits.time_s is None else max(LEAST_TIME_S, limits.time_s)
    clock = Clock(for_exact(replace(limits, time_s=time_s), outcome))
    try:
        exact = exact_incumbent(form, outcome.values, clock, seed)
        values = None if exact is None else as_doubles(exact.values)
        objective = None if exact is None else plain_rational(exact.objective)
    except OverflowError:  # beyond the range of doubles
        exact = None
    except KeyboardInterrupt:  # what HiGHS found is not lost
        exact, outcome.limit_hit = None, "interrupted"
    if exact is None or objective is None:
        reason = _why_within_tolerance(form, outcome, clock)
        return replace(outcome, status=Status.FEASIBLE, reason=reason)
    # Of numbers that are known only as doubles, so is the objective.
    rounded = bool(form.exact.inexact)
    known, value = (None, float(objective)) if rounded else (exact.values, objective)
    outcome = replace(outcome, values=values, exact_values=known)
    return _without_crossed_bound(form, with_objective(form, outcome, value))


def _why_within_tolerance(form: StandardForm, outcome: SolverOutcome, clock: Clock) -> str:
    """Return whether it is proved that an incumbent's integers admit no exact point."""
    from gadgetopt.solvers.exact_optimum.incumbents import admits_no_exact_point

    # What of the numbers is known as doubles only is rounded itself.
    if outcome.values is None or form.exact.inexact or outcome.limit_hit == "interrupted":
        return ONLY_WITHIN_TOLERANCE
    try:
        impossible = admits_no_exact_point(form, outcome.values, clock)
    except KeyboardInterrupt:  # what HiGHS found is not lost
        outcome.limit_hit, impossible = "interrupted", False
    return NO_EXACT_POINT if impossible else ONLY_WITHIN_TOLERANCE


def for_exact(limits: Limits, outcome: SolverOutcome) -> Limits:
    """Return the limits of exact arithmetic after a solve."""
    most_s = max(LEAST_EXACT_S, outcome.phases_s.get("solve", 0.0))
    return Clock(limits).limits(at_most_s=most_s)


def plain_rational(x: Fraction) -> Exact:
    """Return a rational number that has a double next to it, as an integer if it is one.

    Raises
    ------
    OverflowError
        If it is beyond the range of doubles.
    """
    float(x)
    return x.numerator if x.denominator == 1 else x


def as_doubles(numbers: Sequence[Fraction]) -> Floats:
    """Return the nearest doubles of rational numbers."""
    return np.array([float(x) if x else 0.0 for x in numbers])


def _without_crossed_bound(form: StandardForm, outcome: SolverOutcome) -> SolverOutcome:
    """Return an outcome whose bound is not past its incumbent, which no true bound is."""
    objective, bound = outcome.objective, outcome.bound
    if objective is None or bound is None:
        return outcome
    if bound >= objective if form.sense == "max" else bound <= objective:
        return outcome
    if closed(form, objective, bound):
        return replace(outcome, bound=not_past(objective, form.sense))
    reason = f"the solver's bound {bound} is past its incumbent's objective {objective}"
    return replace(outcome, status=Status.FEASIBLE, bound=None, reason=reason)
