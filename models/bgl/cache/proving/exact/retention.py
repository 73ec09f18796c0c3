"""The best retention for a given order: Belady's sweep, and minimum-cost flow."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome, Voucher

from ...formulations.retention import given_intervals
from ...heuristics.network import is_interval_matrix, keep_by_flow, prices_of_flow, savings
from ...instance import CacheInstance
from ...subproblems.intervals import solution_of
from ..bounds.boundary_prices import kept_and_priced
from ..certificate.check import BoundaryPrices, CacheCertificate, miss_cost


@method(kind="exact", reference="Belady 1966", formulation="sweep")
def belady(instance: CacheInstance) -> MethodOutcome:
    """The earliest next uses are kept: optimal for a given order and equal weights.

    Return the offline optimum for a given order and equal weights, with prices that prove it.

    O(R log K) for R intervals, and O(M^2) for the prices; beyond 20,000 batches these are left out
    and the bound is the method's own word.

    Raises
    ------
    ModelRefused
        If the order is free, weights or sizes differ, or there is a host.
    """
    if not (is_interval_matrix(instance) and instance.unit_weights):
        raise ModelRefused("weights: Belady's rule needs equal weights, unit sizes and one cache")
    intervals = given_intervals(instance)
    kept, certificate = kept_and_priced(instance, intervals)
    order = range(len(instance.requests))
    reloads = int((~kept).sum())
    cost = instance.compulsory_cost + reloads * miss_cost(instance)
    return MethodOutcome(
        solution=solution_of(instance, order, kept, intervals),
        claimed_objective=cost,
        dual_bound=cost if certificate is None else None,
        voucher=Voucher.SOLVER,
        certificate=certificate,
    )


@method(
    kind="exact",
    reference="minimum-cost flow (reconstructed)",
    formulation="flow",
    backend="ortools",
)
def retention_flow(instance: CacheInstance) -> MethodOutcome:
    """Minimum-cost flow of the cache's units along the batches, for a given order.

    Return the offline optimum for a given order and any weights, with prices that prove it.

    A minimum-cost flow, solved by OR-tools in integers; the prices are potentials of its residual
    network.

    Raises
    ------
    ModelRefused
        If the order is free, sizes differ, there is a host, or the weights have too many digits.
    """
    if not is_interval_matrix(instance):
        raise ModelRefused("sizes: a flow needs unit sizes and one cache")
    intervals = given_intervals(instance)
    saving = savings(instance, intervals)
    kept = keep_by_flow(intervals, instance.capacity, saving)
    prices = prices_of_flow(intervals, instance.capacity, saving, kept)
    cost = instance.compulsory_cost + int(saving[~kept].sum())
    certificate = None
    if prices is not None:
        certificate = CacheCertificate(proof=BoundaryPrices(device=tuple(map(Fraction, prices))))
    return MethodOutcome(
        solution=solution_of(instance, range(len(instance.requests)), kept, intervals),
        claimed_objective=cost,
        dual_bound=cost if certificate is None else None,
        certificate=certificate,
    )
