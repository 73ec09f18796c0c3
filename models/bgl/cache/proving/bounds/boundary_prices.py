"""Prices of the caches' space between batches: duals of the retention at a given order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...formulations.retention import build_relaxation, given_intervals
from ...heuristics.network import is_interval_matrix, keep_by_flow, prices_of_flow, savings
from ...instance import CacheInstance
from ...subproblems.intervals import Intervals
from ...subproblems.sweep import keep_earliest_ends, unit_prices
from ..certificate.check import BoundaryPrices, CacheCertificate

#: Largest denominator of prices that are read from a solver's duals.
#: Tuned: `benchmarks/constants.py`.
_DENOMINATOR = 10**6


@method(kind="relaxation", reference="dual of (5)", formulation="boundary_prices")
def boundary_prices(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """Prices of the caches' space between batches, for a given order.

    With unit sizes and no host it is the optimum: equal weights by the sweep and its dual, others
    by a minimum-cost flow and its potentials. Otherwise the prices are the duals of the linear
    relaxation in HiGHS.

    Raises
    ------
    ModelRefused
        If the order is free, or there are too many boundaries.
    """
    clock = Clock(limits)
    intervals = given_intervals(instance)
    if is_interval_matrix(instance):
        _, certificate = kept_and_priced(instance, intervals)
    else:
        certificate = relaxed_prices(instance, intervals, clock)
    return MethodOutcome(
        certificate=certificate,
        limit_hit="time_s" if certificate is None and clock.expired else None,
        phases_s=clock.phases_s,
    )


def kept_and_priced(
    instance: CacheInstance, intervals: Intervals
) -> tuple[Bools, CacheCertificate | None]:
    """Return an optimal choice of intervals where it is a flow, and prices that prove it.

    The prices are None where there are too many boundaries.
    """
    if instance.unit_weights:
        kept = keep_earliest_ends(intervals, instance.capacity)
        chosen = unit_prices(intervals, instance.capacity)
        if chosen is None:
            return kept, None
        cost = instance.miss_cost(next(iter(instance.frequency)))
        prices = [0] * intervals.boundaries
        for i in chosen:
            prices[i] = cost
        return kept, _certificate(prices)
    saving = savings(instance, intervals)
    kept = keep_by_flow(intervals, instance.capacity, saving)
    found = prices_of_flow(intervals, instance.capacity, saving, kept)
    return kept, None if found is None else _certificate(found)


def relaxed_prices(
    instance: CacheInstance, intervals: Intervals, clock: Clock
) -> CacheCertificate | None:
    """Return the duals of the linear relaxation as prices; None if it was not solved in time."""
    with clock.phase("build"):
        form = compile_model(build_relaxation(instance))
    solved = solve_form(form, clock.limits())
    if solved.row_duals is None:
        return None
    covered = np.zeros(intervals.boundaries + 1, dtype=np.int64)
    np.add.at(covered, intervals.start, 1)
    np.subtract.at(covered, intervals.end, 1)
    rows = np.flatnonzero(np.cumsum(covered)[: intervals.boundaries] > 0)
    caches = 2 if instance.host_capacity else 1
    prices = [[Fraction(0)] * intervals.boundaries for _ in range(caches)]
    for k in range(caches):  # the first rows of the model are those of the caches
        for i, dual in zip(rows.tolist(), solved.row_duals[k * len(rows) :].tolist(), strict=False):
            prices[k][i] = Fraction(max(0.0, -dual)).limit_denominator(_DENOMINATOR)
    return _certificate(*prices)


def _certificate(
    device: Sequence[int | Fraction], host: Sequence[int | Fraction] = ()
) -> CacheCertificate:
    proof = BoundaryPrices(device=tuple(map(Fraction, device)), host=tuple(map(Fraction, host)))
    return CacheCertificate(proof=proof)
