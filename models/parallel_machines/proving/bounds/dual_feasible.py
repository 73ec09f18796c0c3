"""Bounds by dual feasible functions: the jobs do not fit into m machines of a capacity."""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...counting import combinatorial_bound, is_raised
from ...instance import ParallelMachinesInstance
from ..certificate import (
    DualFeasible,
    Function,
    ParallelMachinesCertificate,
    check_bound,
    dual_feasible_values,
)
from .combinatorial import combinatorial_certificate

#: Parameters tried of each function at a capacity, and values of a function computed there.
#: Tuned: `benchmarks/constants.py`.
MOST_PARAMETERS, MOST_VALUES = 100, 10**5


@method(
    kind="relaxation",
    reference="Martello and Toth 1990; Fekete and Schepers 2001",
    formulation="dual_feasible",
)
def dual_feasible(instance: ParallelMachinesInstance, limits: Limits) -> MethodOutcome:
    """The largest capacity at which a dual feasible function refutes a packing.

    A capacity is refuted if under some function the jobs together are worth more than m machines.
    Bisection looks for the largest, between the combinatorial bound and what list scheduling needs
    at most.

    References
    ----------
    S. Martello, P. Toth, "Lower bounds and reduction procedures for the bin packing problem",
    Discrete Applied Mathematics 28 (1990) 59-70. S. P. Fekete, J. Schepers, "New classes of fast
    lower bounds for bin packing problems", Mathematical Programming 91 (2001) 11-31. J. Carlier, F.
    Clautiaux, A. Moukrim, "New reduction procedures and lower bounds for the two-dimensional bin
    packing problem with fixed orientation", Computers & Operations Research 34 (2007) 2223-2250.
    """
    clock = Clock(limits)
    bound, certificate = dual_feasible_bound(instance, clock)
    return MethodOutcome(
        dual_bound=bound, certificate=certificate, limit_hit="time_s" if clock.expired else None
    )


def dual_feasible_bound(
    instance: ParallelMachinesInstance, clock: Clock
) -> tuple[int, ParallelMachinesCertificate]:
    """Return the best bound of counting and of dual feasible functions, with its certificate."""
    certificate = combinatorial_certificate(instance)
    low = combinatorial_bound(instance)
    high = instance.mean_load_s + max(instance.processing_s)  # no list schedule takes longer
    best = low
    while low < high and not clock.expired:
        capacity_s = (low + high) // 2
        proof = refutation(instance, capacity_s)
        if proof is None:
            high = capacity_s
        else:
            low = capacity_s + 1
            raised = is_raised(instance, low)
            found = ParallelMachinesCertificate(proof=proof, attainable=raised)
            low = check_bound(instance, found) or low
            best, certificate = low, found
    return best, certificate


def refutation(instance: ParallelMachinesInstance, capacity_s: int) -> DualFeasible | None:
    """Return a dual feasible function under which the jobs do not fit, None if none is found."""
    times_s = list(instance.demand)
    counts = list(instance.demand.values())
    for function, parameter in _candidates(times_s, capacity_s):
        values, whole = dual_feasible_values(function, parameter, capacity_s, times_s)
        total = sum(b * f for b, f in zip(counts, values, strict=True))
        if total > instance.machines * whole:
            return DualFeasible(function=function, parameter=parameter, capacity_s=capacity_s)
    return None


def _candidates(times_s: list[int], capacity_s: int) -> Iterator[tuple[Function, int]]:
    """Yield functions with the parameters at which their values change, not more than some."""
    half = capacity_s // 2
    turns = {x for t in times_s for x in (t, capacity_s - t, capacity_s - t + 1) if 1 <= x <= half}
    most = max(1, min(MOST_PARAMETERS, MOST_VALUES // len(times_s)))
    few = sorted(turns)[:: max(1, -(-len(turns) // most))]
    for parameter in few:
        yield "martello_toth", parameter
    for k in range(1, min(most, capacity_s) + 1):
        yield "fekete_schepers", k
    for parameter in few:
        yield "carlier_clautiaux_moukrim", parameter
