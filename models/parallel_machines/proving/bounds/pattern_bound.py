"""The bound of the linear pattern program, certified by prices of the processing times."""

from __future__ import annotations

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...counting import TableTooLarge, is_raised
from ...instance import ParallelMachinesInstance, ParallelMachinesSolution
from ..certificate import ParallelMachinesCertificate, Prices, check_bound
from .dual_feasible import dual_feasible_bound
from .patterns import Demand, Pattern, pack_fractionally

#: Factors of the duals, tried in order until the duals, rounded to whole numbers, prove something:
#: simple fractions become prices that a person can check. Tuned: `benchmarks/constants.py`.
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
    search = Search[ParallelMachinesSolution]("min", limits, gap=0.0)
    search.prove(*dual_feasible_bound(instance, search.clock))
    high = instance.mean_load_s + max(instance.processing_s)
    pool: dict[Pattern, int] = {}
    with search.interruptible():
        if not raise_bound(instance, search, high, pool):
            search.limit_hit = "time_s"
    return search.outcome(None, patterns=len(pool))


def raise_bound(
    instance: ParallelMachinesInstance,
    search: Search[ParallelMachinesSolution],
    high: int,
    pool: dict[Pattern, int],
) -> bool:
    """Raise a search's bound to the least capacity that the linear program does not refute.

    Parameters
    ----------
    instance : ParallelMachinesInstance
    search : Search
        With a bound.
    high : int
        A capacity that is not refuted, such as a makespan.
    pool : dict
        Patterns with their loads; those that are generated are added.

    Returns
    -------
    bool
        False if time was up before.
    """
    demand = demand_of(instance)
    low = int(search.bound)
    # Most bounds need not be raised at all, so the lowest capacity comes first.
    capacity_s = low
    while low < high:
        packing = pack_fractionally(demand, capacity_s, pool, search.clock)
        if packing.fits is None:
            return False
        proof = (
            None
            if packing.fits or packing.prices is None
            else priced(instance, packing.prices, capacity_s)
        )
        if proof is None:  # duals that prove nothing in whole numbers refute nothing
            high = capacity_s
        else:
            low = check_bound(instance, proof) or capacity_s + 1
            search.prove(low, proof)
        capacity_s = (low + high) // 2
    return True


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
