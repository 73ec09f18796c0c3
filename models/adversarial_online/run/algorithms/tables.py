r"""Deterministic tables of prices: accept a request if it is worth the price of its units.

Of several resources each has its own table, for values from L to U a unit: a request of demand
:math:`d_r` is accepted if and only if :math:`v \ge \sum_r d_r \varphi_r(u_r)` and it fits
(reconstructed).
"""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance
from ..subproblems.outcome import outcome_of_tables


@method(kind="online", reference="standard theory (reconstructed)")
def exponential(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""The exponential price with its flat part, 1 + ln theta for infinitesimal units.

    Post :math:`\varphi(u/k)` with :math:`\varphi(y) = \max(L, L e^{\alpha y - 1})`.

    Its ratio tends to :math:`\alpha = 1 + \ln\theta` as units become small; of k units it is
    `curves.table_ratio`, which is more. The same result as `plain`, tested.
    """
    low, high = instance.value_min, instance.value_max
    return outcome_of_tables(
        instance, [curves.curve_table(curves.exponential, c, low, high) for c in instance.capacity]
    )


@method(kind="online", reference="standard theory (reconstructed)")
def finite_k(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    """The optimal deterministic table of k units.

    Post the table of the least ratio of k units, found by bisection.

    The same result as `plain`, tested.
    """
    low, high = instance.value_min, instance.value_max
    return outcome_of_tables(
        instance, [curves.finite_table(c, low, high) for c in instance.capacity]
    )
