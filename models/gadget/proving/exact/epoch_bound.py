"""Prices that prove the offline bound where the epoch relaxation has no duality gap."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.system.result import Limits

from ...instance import GadgetInstance
from ..certificate.check import (
    GadgetCertificate,
    check_bound,
)
from .epoch_form import EpochForm

#: The check may compute the utility of every total of every job exactly, at about a millisecond;
#: beyond this many there is no certificate. Tuned: `benchmarks/constants.py`.
MOST_TOTALS = 2_000


def prices_of_epochs(
    instance: GadgetInstance, relaxation: EpochForm, bound: float, limits: Limits
) -> GadgetCertificate | None:
    """Return a certificate of a bound from the duals of the linear relaxation (reconstructed).

    None if its prices prove only a weaker bound: because levels of utility relax, links bind, or
    the time is up.

    Parameters
    ----------
    instance : GadgetInstance
    relaxation : EpochForm
        Without cuts.
    bound : float
        The bound to prove.
    limits : Limits
    """
    from gadgetopt.solvers.highs import solve_form

    terms = instance.terms
    if not math.isfinite(bound) or sum(job.max_total for job in terms.jobs) > MOST_TOTALS:
        return None
    form = relaxation.form
    solved = solve_form(replace(form, integer=np.zeros(len(form.columns), dtype=bool)), limits)
    most = bound + CLOSED_GAP * abs(bound)
    if solved.row_duals is None or solved.objective is None or float(solved.objective) > most:
        return None
    epochs, resources = len(relaxation.epochs.begin), terms.capacity.shape[1]
    # The rows of capacity are the last.
    duals = np.maximum(0.0, solved.row_duals[-epochs * resources :]).reshape(epochs, resources)
    certificate = GadgetCertificate(
        epochs=tuple(tuple(Fraction(x) for x in row) for row in duals.tolist())
    )
    return certificate if check_bound(instance, certificate) <= most else None
