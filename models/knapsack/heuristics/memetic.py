"""The memetic search of single items on an instance."""

from __future__ import annotations

from dataclasses import replace

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.pieces.knapsack.cardinality import incumbent
from gadgetopt.pieces.knapsack.heuristics.memetic import MemeticSearch
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import Trace
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import KnapsackInstance
from ..scaling import scaled
from ..subproblems.outcome import outcome_of


@method(kind="heuristic", reference="Chu and Beasley 1998")
def memetic(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    children: int = 1_000_000,
) -> MethodOutcome:
    """Genetic algorithm with repair by prices, exchanges and restarts.

    Chu and Beasley's algorithm (1998) with our start, exchanges and restarts. The bound is that of
    the linear relaxation.

    Parameters
    ----------
    instance
    limits : Limits
        Ends the search earlier: the result then depends on the machine, else only on the seed.
    children : int
        Children to breed; fewer if the bound is met.

    Raises
    ------
    ModelRefused
        If groups have several items or need one, or the numbers have too many digits.
    """
    rng = fixed_rng()
    if instance.multiple_choice:
        raise ModelRefused("the memetic search takes single items that may be left out")
    if children < 0:
        raise ModelRefused(f"children: {children}, expected at least 0")
    clock = Clock(limits)
    whole = scaled(instance)
    relaxation = linear_relaxation(whole.knapsack, clock.limits())
    if relaxation.duals is None or relaxation.limit_hit:
        return MethodOutcome(limit_hit=relaxation.limit_hit)
    first = incumbent(whole.knapsack, relaxation, clock)
    # No `Search`: compiled loops keep the incumbent, in whole numbers of their own.
    trace = Trace(limits, clock)
    bound = whole.bound(relaxation.bound)

    def found_better(value: float) -> None:
        trace.note(whole.profit(value), bound)

    search = MemeticSearch(whole.knapsack, relaxation, first, seed_of(rng), found_better)
    limit_hit = None
    try:
        search.run(clock, children)
    except KeyboardInterrupt:
        limit_hit = "interrupted"
    if limit_hit is None and search.children < children and not search.finished:
        limit_hit = "time_s"
    found = CoreResult(
        search.chosen,
        search.value,
        max(search.value, relaxation.bound),
        "Lagrangian bound",
        relaxation.duals,
        relaxation.bound,
        limit_hit,
        {"children": search.children, "populations": search.populations, **slow_note()},
    )
    return replace(outcome_of(instance, whole, found), trace=tuple(trace.points))
