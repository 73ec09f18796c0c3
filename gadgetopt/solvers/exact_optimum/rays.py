"""Improving rays, found in exact arithmetic: what HiGHS's dual tolerance hides.

HiGHS takes a reduced cost of up to 1e-7 for zero. A model whose objective improves by no more than
that along a ray is "optimal" for it, with a bound that is none. The linear program of directions in
a box, `recession_form`, is bounded, so its exact optimum can be had, and its sign decides.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.outcome import NO_RAY
from gadgetopt.solvers.standard_form import recession_form
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm


def pulled_to_infinity(form: StandardForm) -> bool:
    """Return True if some column costs less the nearer it is to an end that it does not have.

    Without such a column there is no improving ray.
    """
    costs = -form.c if form.sense == "max" else form.c
    up = (costs < 0) & np.isposinf(form.col_upper)
    return bool((up | ((costs > 0) & np.isneginf(form.col_lower))).any())


def has_ray(form: StandardForm, limits: Limits, seed: int) -> bool:
    """Return True if a direction is proved to improve the objective and to violate nothing ever.

    The parameters are those of `best_direction`.
    """
    return best_direction(form, limits, seed) is not None


def best_direction(form: StandardForm, limits: Limits, seed: int) -> list[Fraction] | None:
    """Return a direction that improves the objective and violates nothing ever; None if none is.

    Parameters
    ----------
    form : StandardForm
        Integers of it do not matter: a rational ray has an integer multiple.
    limits : Limits
        `time_s` ends the search; nothing is proved then.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C.
    """
    from gadgetopt.solvers import highs
    from gadgetopt.solvers.exact_optimum.refinement import exact_optimum

    clock = Clock(limits)
    if clock.expired:
        return None
    cone = recession_form(form)
    try:
        found = highs.solve_form(cone, limits, seed)
        if found.limit_hit == "interrupted":
            raise KeyboardInterrupt
        if found.status is not Status.OPTIMAL or found.basis is None:
            return None
        best = exact_optimum(cone, found.basis, clock)
    except (ModelRefused, OverflowError):  # beyond the range of doubles
        return None
    if best is None or not (best.objective > 0 if form.sense == "max" else best.objective < 0):
        return None
    return best.values


def without_false_bound(
    form: StandardForm, outcome: SolverOutcome, limits: Limits, seed: int
) -> SolverOutcome:
    """Return HiGHS's outcome, or that the model is unbounded where a ray is proved.

    It is sought where there is an incumbent, and where HiGHS has a feasible point and no more. With
    rational data a feasible point and a ray make a mixed-integer model unbounded, too.
    """
    has_point = outcome.status in (Status.OPTIMAL, Status.FEASIBLE) or outcome.reason == NO_RAY
    if not has_point or not pulled_to_infinity(form):
        return outcome
    try:
        unbounded = has_ray(form, limits, seed)
    except KeyboardInterrupt:  # what HiGHS found is not lost
        return replace(outcome, limit_hit="interrupted")
    if not unbounded:
        return outcome
    return replace(
        outcome,
        status=Status.UNBOUNDED,
        values=None,
        objective=None,
        bound=None,
        row_duals=None,
        basis=None,
        lp_bound=None,
        root_bound=None,
        limit_hit=None,
        reason=None,
        trace=(),
    )
