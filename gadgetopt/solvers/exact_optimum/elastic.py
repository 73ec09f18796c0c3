"""By how much the rows of a linear program have to be violated, in rational numbers.

If that is not 0, the program is infeasible, and the duals prove it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.exact_form import ExactParts, ExactRow
from gadgetopt.solvers.exact_optimum.refinement import ExactOptimum, exact_optimum
from gadgetopt.solvers.standard_form import Named

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm


def least_violation(form: StandardForm, clock: Clock) -> ExactOptimum | None:
    """Return the least sum of violations of rows, and its duals; None if it is not reached.

    Parameters
    ----------
    form : StandardForm
        Without integer columns; its costs do not matter.
    clock : Clock
        When the time is up, nothing is returned.
    """
    from gadgetopt.solvers import highs

    elastic = _elastic(form)
    if clock.expired:
        return None
    try:
        basis = highs.solve_form(elastic, clock.limits()).basis
    except ModelRefused:
        return None
    return None if basis is None else exact_optimum(elastic, basis, clock)


def _elastic(form: StandardForm) -> StandardForm:
    """Return the program that minimises by how much the rows of another are violated.

    It has the same columns, then one for each side of a row. Its duals are a proof of
    infeasibility if its optimum is not 0.
    """
    below, above = (np.flatnonzero(np.isfinite(side)) for side in (form.row_lower, form.row_upper))
    count, slacks = len(form.columns), len(below) + len(above)
    unit = csr_array(eye_array(len(form.rows)))
    rows = {
        i: ExactRow(list(row.columns), list(row.coefficients), row.lower, row.upper)
        for i, row in form.exact.rows.items()
    }
    for sign, sides, start in ((1, below, count), (-1, above, count + len(below))):
        for j, i in enumerate(sides.tolist(), start):
            if i in rows:
                rows[i].columns.append(j)
                rows[i].coefficients.append(sign)
    return replace(
        form,
        columns=[*form.columns, *(Named(f"s{k}") for k in range(slacks))],
        col_lower=np.concatenate([form.col_lower, np.zeros(slacks)]),
        col_upper=np.concatenate([form.col_upper, np.full(slacks, np.inf)]),
        integer=np.zeros(count + slacks, dtype=bool),
        c=np.concatenate([np.zeros(count), np.ones(slacks)]),
        A=csr_array(hstack([form.A, unit[:, below], -unit[:, above]])),
        exact=ExactParts(rows=rows, col_lower=form.exact.col_lower, col_upper=form.exact.col_upper),
    )
