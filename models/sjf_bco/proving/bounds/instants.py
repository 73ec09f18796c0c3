r"""The bound by configurations of a slot: a linear program, and prices that prove it.

With a column for every configuration c (`configurations.py`), and :math:`x_c` the slots spent in
it,

.. math::
    \min \sum_c x_c \quad \text{s.t.} \quad \sum_c \phi_j(c) x_c \ge F_j \ \forall j, \quad x \ge 0

bounds the makespan from below. The duals, times a large number and rounded down, are the prices of
the certificate, which the check recomputes in integers whatever the solver said. The relaxation is
(reconstructed).
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import SjfBcoInstance
from ..certificate.check import (
    InstantPrices,
    SjfBcoCertificate,
    check_bound,
)
from ..certificate.configurations import iterations_per_slot
from .outcome import bound_outcome

#: Prices are the duals times this number, over the largest of them.
#: Tuned: `benchmarks/constants.py`.
_SCALE = 10**6


@method(kind="relaxation", reference="verified lower bounds (reconstructed)", backend="highs")
def instants(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """What the cluster can run in one slot, proved by prices of iterations.

    Raises
    ------
    ModelRefused
        If there are too many configurations to enumerate.
    """
    clock = Clock(limits)
    table = iterations_per_slot(instance)
    work = np.array(instance.rates.iterations, dtype=float)
    lp = PersistentLp("min")
    lp.add_rows(work, np.full(len(work), INFINITY), np.zeros(len(work), dtype=int), (), ())
    at, rows = np.nonzero(table)
    starts = np.searchsorted(at, np.arange(len(table)))
    ones, zeros = np.ones(len(table)), np.zeros(len(table))
    lp.add_columns(ones, zeros, np.full(len(table), INFINITY), starts, rows, table[at, rows])
    status = lp.solve(clock.limits())
    prices = _integers(lp.row_duals) if status is Status.OPTIMAL else []
    if not any(prices):
        return MethodOutcome(limit_hit=lp.limit_hit)
    certificate = SjfBcoCertificate(instants=InstantPrices(prices=tuple(prices)))
    bound = check_bound(instance, certificate)
    assert bound is not None
    outcome = bound_outcome(instance, bound, certificate)
    outcome.notes = {"configurations": len(table), "lp_bound": lp.objective}
    return outcome


def _integers(duals: Floats) -> list[int]:
    largest = float(duals.max())
    if largest <= 0:
        return [0] * len(duals)
    return [int(x) for x in np.maximum(0, np.floor(duals / largest * _SCALE))]
