"""Objectives whose small costs a solver in doubles loses beside its large ones.

Beside a cost of 1e20 a solver does not see one of 1: it calls a point optimal that is worse by that
cost, and its bound is as far past the optimum.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.constant import constant_of
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.outcome import CLOSED, NAMES, not_past
from gadgetopt.solvers.recheck import FEASIBILITY_TOLERANCE
from gadgetopt.system.result import Status

if TYPE_CHECKING:
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

#: Solvers close a gap of about this part of the objective: 1e-6 of a digit beyond doubles, as
#: for rows.
RESOLVED = Fraction(2) ** -52 / Fraction(FEASIBILITY_TOLERANCE)
#: Relative rounding error of a sum of doubles. By definition.
ROUNDING = Fraction(2) ** -52
#: A cost below this part of the objective is lost among the rounding errors of its terms.
#: Tuned: `benchmarks/constants.py`.
LOST = Fraction(2) ** -40
#: Costs are short decimals if they are multiples of a unit whose inverse is at most this.
#: Tuned: `benchmarks/constants.py`.
LARGEST_INVERSE_UNIT = 10**6


def size_beyond_doubles(form: StandardForm, outcome: SolverOutcome) -> Fraction | None:
    """Return the size of an objective whose costs doubles do not tell apart at that size.

    Returns
    -------
    Fraction or None
        The largest of the bound without the objective's constant, the largest term within the
        bounds of integer columns, and the sum of the incumbent's absolute terms; None if the
        smallest step of the costs is resolved beside it.
    """
    try:
        costs = {j: abs(Fraction(a)) for j, a in ExactReader(form).costs().items()}
    except ModelRefused:  # known in doubles only, and taken for what they are
        costs = {j: abs(Fraction(a)) for j, a in enumerate(form.c.tolist()) if a != 0}
    most = np.maximum(np.abs(form.col_lower), np.abs(form.col_upper))
    most = np.where(np.isfinite(most), most, 1.0)
    # The far bound of a continuous column is often a formality.
    terms = [a * Fraction(most[j]) for j, a in costs.items() if form.integer[j]]
    size = max([Fraction(0), *terms])
    if outcome.bound is not None:
        size = max(size, abs(Fraction(outcome.bound) - Fraction(constant_of(form))))
    if outcome.values is not None:
        at = np.abs(outcome.values).tolist()
        size = max(size, sum((a * Fraction(at[j]) for j, a in costs.items()), Fraction(0)))
    free = {j: a for j, a in costs.items() if form.col_lower[j] < form.col_upper[j]}
    return None if _tells_apart(form, free, size) else size


def _tells_apart(form: StandardForm, costs: dict[int, Fraction], size: Fraction) -> bool:
    """Return True if doubles of a size resolve the smallest step that costs of columns make.

    Whole costs make steps of their greatest common divisor; short decimals are told from 0 and
    from each other. Long decimals are often rounded themselves, and bound and objective of a mixed
    model have to meet within a tolerance only: there a cost must be lost as a whole to count.
    """
    if not costs:
        return True
    values = list(costs.values())
    least = min(_reach(form, j, a) for j, a in costs.items())
    if not _are_short(values):
        return not form.integer.all() or least >= LOST * size
    if not form.integer.all():
        return least >= ROUNDING * size
    if all(a.denominator == 1 for a in values):
        return math.gcd(*(a.numerator for a in values)) >= RESOLVED * size
    ordered = sorted(set(values))
    nearest = min((b - a for a, b in itertools.pairwise(ordered)), default=least)
    return min(least, nearest) >= RESOLVED * size


def _are_short(costs: list[Fraction]) -> bool:
    """Return True if costs are multiples of a common unit, as long decimals are not."""
    inverse = 1
    for a in costs:
        inverse = math.lcm(inverse, a.denominator)
        if inverse > LARGEST_INVERSE_UNIT:
            return False
    return True


def _reach(form: StandardForm, j: int, cost: Fraction) -> Fraction:
    """Return how far a column moves the objective: by a unit, a continuous one by its range."""
    span = float(form.col_upper[j] - form.col_lower[j])
    if form.integer[j] or not math.isfinite(span):
        return cost
    return cost * Fraction(max(1.0, span))


def with_less_claimed(
    form: StandardForm, outcome: SolverOutcome, size: Fraction, backend: str
) -> SolverOutcome:
    """Return an outcome whose bound is weaker by what a solver may have lost; it is not optimal."""
    shift = Fraction(CLOSED) * size * (1 if form.sense == "max" else -1)

    def weaker(x: Number | None) -> float | None:
        try:
            return None if x is None else not_past(Fraction(x) + shift, form.sense)
        except OverflowError:  # beyond the range of doubles
            return None

    changed = replace(outcome, bound=weaker(outcome.bound), root_bound=weaker(outcome.root_bound))
    if outcome.status is not Status.OPTIMAL:
        return changed
    reason = (
        f"the costs of the objective are too far apart for {NAMES[backend]}, which computes in "
        "doubles; its optimum is not confirmed"
    )
    return replace(changed, status=Status.FEASIBLE, reason=reason)
