"""The bound of the linear pattern program, certified by prices of the processing times."""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...counting import TableTooLarge, is_raised
from ...instance import ParallelMachinesInstance
from ..certificate import ParallelMachinesCertificate, Prices, check_bound
from .dual_feasible import dual_feasible_bound
from .patterns import Demand, Pattern, pack_fractionally

#: Factors of the duals, tried in order until the duals, rounded to whole numbers, prove something:
#: simple fractions become prices that a person can check.
_SCALES = (60, 2520, 10**9)


@method(
    kind="relaxation",
    reference="Gilmore and Gomory 1961",
    formulation="pattern_bound",
    backend="highs",
)
def pattern_bound(instance: ParallelMachinesInstance, limits: Limits) -> MethodOutcome:
    """The largest capacity at which the linear pattern program needs more machines.

    It is found by bisection from the bound of dual feasible functions, each capacity by column
    generation. The duals at the largest capacity that is refuted are the certificate: prices under
    which the jobs are worth more than m machines can hold. The check solves that knapsack again.

    Raises
    ------
    ModelRefused
        If the capacity is too large for the knapsack that finds patterns.
    """
    clock = Clock(limits)
    bound, certificate = dual_feasible_bound(instance, clock)
    high = instance.mean_load_s + max(instance.processing_s)
    found = raise_bound(instance, (bound, certificate), high, clock)
    return MethodOutcome(
        dual_bound=found.bound,
        certificate=found.certificate,
        limit_hit=found.limit_hit,
        notes={"patterns": len(found.pool)},
    )


@dataclass(frozen=True)
class Raised:
    """The bound of the linear pattern program.

    Attributes
    ----------
    bound, certificate
        A lower bound and its proof.
    limit_hit : str or None
        None if no larger capacity below the upper end is refuted; "time_s" or "interrupted" if
        that is not known.
    pool : dict
        The patterns that were generated, with their loads.
    """

    bound: int
    certificate: ParallelMachinesCertificate
    limit_hit: str | None
    pool: dict[Pattern, int]


def raise_bound(
    instance: ParallelMachinesInstance,
    known: tuple[int, ParallelMachinesCertificate],
    high: int,
    clock: Clock,
) -> Raised:
    """Raise a bound to the least capacity, up to `high`, that the linear program does not refute.

    `high` is one that it does not refute, such as a makespan.
    """
    bound, certificate = known
    demand = demand_of(instance)
    pool: dict[Pattern, int] = {}
    low = bound
    while low < high:
        # Most bounds need not be raised at all, so the lowest capacity comes first.
        capacity_s = low if low == bound and certificate is known[1] else (low + high) // 2
        try:
            packing = pack_fractionally(demand, capacity_s, pool, clock)
        except KeyboardInterrupt:
            return Raised(bound, certificate, "interrupted", pool)
        if packing.fits is None:
            return Raised(bound, certificate, "time_s", pool)
        proof = (
            None
            if packing.fits or packing.prices is None
            else priced(instance, packing.prices, capacity_s)
        )
        if proof is None:  # duals that prove nothing in whole numbers refute nothing
            high = capacity_s
            continue
        certificate = proof
        bound = low = check_bound(instance, proof) or capacity_s + 1
    return Raised(bound, certificate, None, pool)


def demand_of(instance: ParallelMachinesInstance) -> Demand:
    """Return the demand of all jobs."""
    return Demand(tuple(instance.demand), tuple(instance.demand.values()), instance.used_machines)


def priced(
    instance: ParallelMachinesInstance, prices: Floats, capacity_s: int
) -> ParallelMachinesCertificate | None:
    """Return a certificate of the duals, rounded to whole numbers; None if it proves nothing."""
    largest = float(prices.max())
    if largest <= 0:
        return None
    for scale in _SCALES:
        whole = tuple(round(scale * y / largest) for y in prices.tolist())
        proof = Prices(prices=whole, capacity_s=capacity_s)
        try:
            bound = check_bound(instance, ParallelMachinesCertificate(proof=proof))
        except TableTooLarge:
            return None
        if bound is not None:
            raised = is_raised(instance, bound)
            return ParallelMachinesCertificate(proof=proof, attainable=raised)
    return None
