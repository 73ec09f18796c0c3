r"""Deterministic tables of prices: accept a request if it is worth the price of its units.

Of several resources each has its own table, for values from L to U a unit: a request of demand
:math:`d_r` is accepted if and only if :math:`v \ge \sum_r d_r \varphi_r(u_r)` and it fits
(reconstructed).
"""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance
from ..subproblems.outcome import outcome_of_tables


def exponential(
    instance: AdversarialOnlineRunInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Post :math:`\varphi(u/k)` with :math:`\varphi(y) = \max(L, L e^{\alpha y - 1})`.

    Its ratio tends to :math:`\alpha = 1 + \ln\theta` as units become small; of k units it is
    `curves.table_ratio`, which is more. The same result as `plain`, tested.
    """
    low, high = instance.value_min, instance.value_max
    return outcome_of_tables(
        instance, [curves.curve_table(curves.exponential, c, low, high) for c in instance.capacity]
    )


def finite_k(
    instance: AdversarialOnlineRunInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Post the table of the least ratio of k units, found by bisection.

    The same result as `plain`, tested.
    """
    low, high = instance.value_min, instance.value_max
    return outcome_of_tables(
        instance, [curves.finite_table(c, low, high) for c in instance.capacity]
    )
