"""Incumbents of mixed-integer models in rational numbers: integers fixed, the rest solved exactly.

HiGHS takes rows that are short by 1e-6 for satisfied, so the objective of its incumbent may be one
that no point attains. With the integers fixed a linear program is left, whose optimum can be had.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.exact_optimum.elastic import least_violation
from gadgetopt.solvers.exact_optimum.refinement import ExactOptimum, exact_optimum
from gadgetopt.system.result import Status

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.solvers.standard_form import StandardForm


def exact_incumbent(
    form: StandardForm, values: Floats, clock: Clock, seed: int
) -> ExactOptimum | None:
    """Return the best point whose integers are those of `values`; None if it is not reached.

    Parameters
    ----------
    form : StandardForm
    values : ndarray of float, shape (columns,)
        Integers in integer columns.
    clock : Clock
        When the time is up, nothing is returned.
    seed : int

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C.
    """
    from gadgetopt.solvers import highs

    if clock.expired:
        return None
    program = with_integers_fixed(form, values)
    try:
        solved = highs.solve_form(program, clock.limits(), seed)
    except ModelRefused:
        return None
    if solved.limit_hit == "interrupted":
        raise KeyboardInterrupt
    if solved.status is not Status.OPTIMAL or solved.basis is None:
        return None
    return exact_optimum(program, solved.basis, clock)


def admits_no_exact_point(form: StandardForm, values: Floats, clock: Clock) -> bool:
    """Return True if it is proved that no point has the integers of `values`."""
    best = least_violation(with_integers_fixed(form, values), clock)
    return best is not None and best.objective > 0


def with_integers_fixed(form: StandardForm, values: Floats) -> StandardForm:
    """Return the linear program that is left when integer columns have these values.

    Numbers that are known only as doubles are taken for what they are read as.
    """
    lower, upper = (
        {j: x for j, x in bounds.items() if not form.integer[j]}
        for bounds in (form.exact.col_lower, form.exact.col_upper)
    )
    return replace(
        form,
        col_lower=np.where(form.integer, values, form.col_lower),
        col_upper=np.where(form.integer, values, form.col_upper),
        integer=np.zeros(len(values), dtype=bool),
        exact=replace(form.exact, col_lower=lower, col_upper=upper, inexact={}),
    )
