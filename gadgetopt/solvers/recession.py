"""Recession directions: rays along which a linear model stays feasible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gadgetopt.solvers.standard_form import StandardForm


def recession_form(form: StandardForm) -> StandardForm:
    """Return the LP that looks for the best improving direction within the box [-1, 1].

    Its columns form a direction d along which no column or row bound is ever violated. The model
    has an improving ray if and only if the optimum is better than zero.
    """
    return replace(
        form,
        col_lower=np.where(np.isfinite(form.col_lower), 0.0, -1.0),
        col_upper=np.where(np.isfinite(form.col_upper), 0.0, 1.0),
        integer=np.zeros(len(form.columns), dtype=bool),
        offset=0.0,
        row_lower=np.where(np.isfinite(form.row_lower), 0.0, -np.inf),
        row_upper=np.where(np.isfinite(form.row_upper), 0.0, np.inf),
    )
