"""Relaxation induced neighbourhood search: what incumbent and relaxation agree on is fixed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of, solve_arrays
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import MipInstance
from ..subproblems.points import Points
from .feasibility_pump import feasibility_pump

#: Distance below which a value of the relaxation agrees with the incumbent's.
#: Tuned: `benchmarks/constants.py`.
AGREES = 1e-6


@method(kind="baseline", reference="Danna, Rothberg, Le Pape 2005")
def rins(
    instance: MipInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    rounds: int = 10,
    part: float = 0.25,
) -> MethodOutcome:
    """The feasibility pump's point, improved by HiGHS on the integers that the relaxation disputes.

    Each round fixes the integers on which the incumbent and the relaxation agree, and HiGHS solves
    what is left. It ends when a round improves nothing.

    Parameters
    ----------
    instance : MipInstance
    limits : Limits
    rng : numpy.random.Generator
    rounds : int
        Most rounds.
    part : float
        Part of the time left that a round may take.
    """
    clock = Clock(limits)
    first = feasibility_pump(instance, clock.limits(0.5), rng)
    points = Points(instance, clock)
    relaxed = points.relaxed()
    if first.solution is None or relaxed is None:
        remark = {"remark": points.remark} if points.remark else {}
        return replace(first, limit_hit=clock.limit_hit, notes={**first.notes, **remark})
    points.offer_exact(_values(instance, first))
    done, before = 0, None
    while done < rounds and not clock.expired and points.value != before:
        before, done = points.value, done + 1
        _improve(points, relaxed, part, seed_of(rng))
    return points.outcome(rounds=done)


def _values(instance: MipInstance, outcome: MethodOutcome) -> list[Fraction]:
    values = getattr(outcome.solution, "values", {})
    return [values.get(name, Fraction(0)) for name in instance.columns]


def _improve(points: Points, relaxed: Floats, part: float, seed: int) -> None:
    """Solve what is left where integers that agree are fixed."""
    assert points.best is not None
    known = points.best.values
    current = np.array([float(known.get(name, 0)) for name in points.instance.columns])
    fixed = points.integer & (np.abs(current - relaxed) <= AGREES)
    form, kept = points.form, np.flatnonzero(fixed).tolist()
    exact = {j: int(current[j]) for j in kept}
    program = replace(
        form,
        col_lower=np.where(fixed, current, form.col_lower),
        col_upper=np.where(fixed, current, form.col_upper),
        exact=replace(
            form.exact,
            col_lower={**form.exact.col_lower, **exact},
            col_upper={**form.exact.col_upper, **exact},
        ),
    )
    try:
        solved = solve_arrays(program, "highs", points.clock.limits(part), seed)
    except ModelRefused:
        return
    if solved.exact_values is not None:
        points.offer_exact(solved.exact_values)
    elif solved.values is not None:
        points.offer(points.rounded(solved.values))
