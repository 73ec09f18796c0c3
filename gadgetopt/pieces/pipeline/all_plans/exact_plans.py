"""Least makespan over all plans: enumeration below a cutoff, then schedules of what is left.

1. The least bound of all plans by heads, loads and tails, and a plan near it (`label_search`).
2. Its schedule by rules and local search is the first incumbent, if there is no better one.
3. All plans whose bound of one machine, or of heads, loads and tails where plans are labels, is
   below a cutoff, which grows to the incumbent. Each gets its one-machine bound, and a schedule by
   rules if that is below the incumbent.
4. What is still below the incumbent gets a bound by windows (`exact_orders.windows`), smallest
   bound first, and is searched for orders where windows leave little; then it gets local search
   and branch and bound over its orders (`order_search`). CP-SAT gets what that leaves open.

Whatever ends it early, the smallest bound of a plan that is not done is a lower bound. It is proved
by going through all plans (`proofs`), with what branch and bound found about orders, unless it is
above what CP-SAT decided: that is CP-SAT's word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.numbers.exact import ceiling
from gadgetopt.pieces.pipeline.all_plans.found_plans import FoundPlan, LabelOutcome
from gadgetopt.pieces.pipeline.all_plans.label_search import LADDER, PlanSpace
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.pieces.pipeline.all_plans.stage_tables import NEVER
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.exact_orders.windows import (
    MOST_EXACT,
    MOST_SEQUENCED,
    Sequenced,
    longest_schedule,
)
from gadgetopt.pieces.pipeline.improvement import improved_schedule, short_schedule
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.data import Certificate
from gadgetopt.system.result import OWN_LIMIT

#: Seconds of CP-SAT for a plan, in turns over all plans that are left.
#: Tuned: `benchmarks/constants.py`.
TURNS_S = (2.0, 10.0, 60.0, 1e9)
#: Cutoffs of enumeration, as multiples of the least bound. On published profiles, 4x4 GPUs, each
#: percent more holds three to ten times as many plans.
RUNGS = (1.0005, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, *LADDER[6:])
#: Seconds of the check of a certificate for each of the search, which goes through the same plans:
#: 0.3 to 1 on instances of the papers' size, 1 to 4 on measured profiles; and the part of the time
#: left that a search of the least bound gets, so that its check still fits.
#: Tuned: `benchmarks/pipeline_profiles.py`.
CHECK_TIMES, BEFORE_CHECK_PART = 2.0, 0.5
#: Blocks that branch and bound may look at for all plans, 0.1 to 2 microseconds each; one plan may
#: take half of what is left. Tuned: `benchmarks/constants.py`.
MOST_WORK = 5_000_000
#: Parts of the time left for bounds by windows, of one plan and of all that are left, and for
#: orders where they leave little; and plans in a row that may get the last in vain.
#: Tuned: `benchmarks/pipeline_profiles.py`.
WINDOWS_PART, ALL_WINDOWS_PART, DIVE_PART, MOST_DIVES = 0.02, 0.1, 0.02, 4
#: Where times are rounded for branch and bound, a check proves less by this part: what rounding
#: takes off. By definition.
ROUNDED = 2**40

Planned = tuple[Plan, Schedule]


@dataclass
class Leaf:
    """A plan that may be better than the incumbent, and what is known of its makespan.

    No schedule takes less than `bound_s`; `proved_s` is what a check finds without a solver, with
    the parts of its orders that branch and bound went through; without them `least_s`.
    """

    plan: Plan
    shop: Shop
    bound_s: Fraction
    proved_s: Fraction
    least_s: Fraction
    schedule: Schedule | None = None
    parts: list[tuple[int, ...]] | None = None
    dived: bool = False
    searched: bool = False
    closed: bool = False

    def prove(self, units: int, parts: list[tuple[int, ...]]) -> None:
        """Take a bound that parts of its orders prove, in units."""
        if longest_schedule(self.shop) >= MOST_EXACT:
            units -= -(-units // ROUNDED)
        if units * self.shop.unit > self.proved_s:
            self.proved_s, self.parts = units * self.shop.unit, parts
            self.bound_s = max(self.bound_s, self.proved_s)


@dataclass
class ExactPlans:
    """One run over all plans of an instance.

    Parameters
    ----------
    instance : PipelineInstance
    search : Search
        Incumbent (plan and schedule), bound and time; exact seconds. May come with an incumbent.
    rng : numpy.random.Generator
    certify : callable, optional
        Turns a bound in seconds that enumeration proves, and proofs about orders, into the system's
        certificate of it.
    part : float
        Part of the time that is left when it begins to run that it may use.

    Attributes
    ----------
    notes : dict
        Labels, plans enumerated, plans left for a search for orders, calls of CP-SAT.
    """

    instance: PipelineInstance
    search: Search[Planned]
    rng: np.random.Generator
    certify: Callable[[Fraction, tuple[OrderProof, ...]], Certificate] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    part: float = 1.0
    #: All plans that may have a schedule shorter than this are among the leaves.
    _frontier_s: Fraction = Fraction(0)
    #: Seconds that the check of the certificate takes, about.
    _check_s: float = 0.0
    _out_of_time: bool = False
    #: Seconds that are left of the search's time when that of this run is over.
    _after_s: float = 0.0
    #: Plans in a row in which orders were looked for where windows leave little, and not found.
    _in_vain: int = 0
    #: Blocks that branch and bound may still look at.
    _work_left: int = MOST_WORK

    def __post_init__(self) -> None:
        self.clock: Clock = self.search.clock

    def run(self) -> None:
        """Find the least makespan, or what time allows."""
        if self.part < 1:
            self._after_s = (1 - self.part) * self.search.clock.left_s
        self.clock = Clock(self.search.clock.limits(self.part))
        phase = self.search.clock.phase
        self.notes["calls of CP-SAT"] = 0
        with phase("least bound"):
            space = PlanSpace(self.instance, onward=True)
            began_s = self.clock.elapsed_s
            before_check = Clock(self.clock.limits(BEFORE_CHECK_PART))
            least = space.least_bound(before_check, self._cutoff(space))
            self._out_of_time = before_check.expired
            self._leave_time_to_check(self.clock.elapsed_s - began_s)
        if least.ticks >= NEVER:
            self.search.infeasible = True
            return
        self._proved(least.ticks * space.tick_s)
        self.notes["labels"] = least.labels
        with phase("first schedule"):
            self._first(least)
        if self._over:
            return
        with phase("enumeration"):
            leaves = self._enumerated(space, least.ticks)
        with phase("schedules"):
            self._scheduled(leaves)
        if not self._over:
            # Otherwise there were more labels than a search keeps.
            self.search.limit_hit = "time_s" if self._out_of_time else OWN_LIMIT

    def _leave_time_to_check(self, searched_s: float) -> None:
        """Keep time for the check of the certificate after some more seconds of search.

        None is kept where it would not be enough: the bound is the solver's word then.
        """
        self._check_s += CHECK_TIMES * searched_s
        self.search.clock.reserve(0.0)
        kept_s = self._check_s if self._check_s <= self.search.clock.left_s else 0.0
        self.clock.reserve(kept_s - self._after_s)
        self.search.clock.reserve(kept_s)

    @property
    def _over(self) -> bool:
        return self.search.over or self.clock.expired

    def _cutoff(self, space: PlanSpace) -> int:
        """Return the incumbent in ticks, rounded up."""
        value = self.search.value
        return NEVER if value == math.inf else space.ticks_above(Fraction(value))

    def _proved(self, bound_s: Fraction, leaves: Iterable[Leaf] = ()) -> None:
        """Take a bound that enumeration proves, with the orders of some plans."""
        if bound_s <= self.search.bound:
            return
        needed = (leaf for leaf in leaves if leaf.parts and leaf.least_s < bound_s)
        proofs = tuple(_order_proof(leaf.shop, leaf.parts) for leaf in needed if leaf.parts)
        self.search.prove(bound_s, self.certify(bound_s, proofs) if self.certify else None)

    def _offer(self, plan: Plan, schedule: Schedule) -> None:
        self.search.offer(schedule.makespan_s, (plan, schedule))

    def _first(self, least: LabelOutcome) -> None:
        """Schedule the plan of the least bound."""
        for plan in (found.plan for found in least.plans):
            shop = shop_of(self.instance, plan)
            bound = one_machine_bound(shop)
            clock = Clock(self.clock.limits(0.2))
            self._offer(plan, improved_schedule(shop, bound, clock, self.rng, rounds=50))

    def _enumerated(self, space: PlanSpace, least: int) -> list[Leaf]:
        """Return all plans whose bound is below the incumbent, and prove what follows from them."""
        leaves: dict[Shop, Leaf] = {}
        for factor in (*RUNGS, None):
            cutoff = self._cutoff(space)
            rung = cutoff if factor is None else min(cutoff, int(least * factor) + 1)
            began_s = self.clock.elapsed_s
            found = space.search(rung, self.clock, dominance=False, enough=rung)
            if found.complete:
                self._leave_time_to_check(self.clock.elapsed_s - began_s)
            self._out_of_time = self.clock.expired
            first_left = self._bounded(space, found.plans, leaves)
            if not found.complete:
                break
            done = rung if first_left is None else min(rung, first_left.least)
            self.notes["plans enumerated"] = len(found.plans)
            self._frontier_s = max(self._frontier_s, done * space.tick_s)
            bound_s = self._bound(leaves.values())
            proved_s = bound_s if bound_s < self.search.value else Fraction(self.search.value)
            self._proved(proved_s, leaves.values())
            if first_left or self._over or rung >= self._cutoff(space):
                break
        return sorted(leaves.values(), key=lambda leaf: leaf.bound_s)

    def _bound(self, leaves: Iterable[Leaf]) -> Fraction:
        """Return the least bound of any plan."""
        return min([self._frontier_s, *(leaf.bound_s for leaf in leaves)])

    def _bounded(
        self, space: PlanSpace, plans: Sequence[FoundPlan], leaves: dict[Shop, Leaf]
    ) -> FoundPlan | None:
        """Give new plans their one-machine bound, and a schedule if they may be better.

        A bound that reaches the incumbent is not improved. Returns the first plan for which there
        was no time.
        """
        for found in plans:
            if found.least >= self._cutoff(space):
                break  # and so of all that follow
            if self.clock.expired:
                return found
            plan = found.plan
            shop = shop_of(self.instance, plan)
            if shop in leaves:
                continue
            known = self.search.value < math.inf
            bound = one_machine_bound(shop, enough=self._units_above(shop) if known else None)
            if bound * shop.unit >= self.search.value:
                continue
            least_s = bound * shop.unit
            leaf = leaves[shop] = Leaf(plan, shop, least_s, least_s, least_s)
            schedule = short_schedule(shop, bound)  # it is large, so only the best one is kept
            self._offer(plan, schedule)
            leaf.closed = schedule.makespan == bound
            if self._in_vain < MOST_DIVES and self._open(leaf):
                self._raise(leaf)
                self._dive(leaf)
        return None

    def _scheduled(self, leaves: list[Leaf]) -> None:
        """Search the orders of plans, in turns of more and more time."""
        self.notes["plans left"] = sum(self._open(leaf) for leaf in leaves)
        self._narrow(leaves)
        for seconds in TURNS_S:
            for leaf in leaves:
                if self._open(leaf) and not self._over:
                    self._turn(leaf, seconds)
                    self._prove(leaves)

    def _narrow(self, leaves: list[Leaf]) -> None:
        """Bound plans by windows, and look for orders where these leave little."""
        clock = Clock(self.clock.limits(ALL_WINDOWS_PART))
        for leaf in leaves:
            if self._open(leaf) and not self._over and not clock.expired:
                self._raise(leaf)
        leaves.sort(key=lambda leaf: leaf.bound_s)
        self._in_vain = 0
        for leaf in leaves:
            if self._over or self._in_vain == MOST_DIVES:
                break
            self._dive(leaf)
        self._prove(leaves)

    def _raise(self, leaf: Leaf) -> None:
        """Bound a plan by windows."""
        if leaf.shop.num_microbatches > MOST_SEQUENCED:
            return
        low, high = int(leaf.bound_s / leaf.shop.unit), self._units_above(leaf.shop)
        clock = Clock(self.clock.limits(WINDOWS_PART))
        found = Sequenced(leaf.shop, high).none_before(low, high, clock)
        leaf.closed = found >= high
        if found > low:
            leaf.prove(found, [()])

    def _dive(self, leaf: Leaf) -> None:
        """Look for orders of a plan where windows leave little."""
        if leaf.dived or leaf.shop.num_microbatches > MOST_SEQUENCED or not self._open(leaf):
            return
        leaf.dived = True
        low, below = int(leaf.bound_s / leaf.shop.unit), self._units_above(leaf.shop)
        clock = Clock(self.clock.limits(DIVE_PART))
        orders = Sequenced(leaf.shop, below).dive(low, below, clock)
        self._in_vain += 1
        if orders is not None:
            self._in_vain = 0
            leaf.schedule = simulate(leaf.shop, orders)
            self._offer(leaf.plan, leaf.schedule)

    def _prove(self, leaves: Sequence[Leaf]) -> None:
        """Prove what follows from the leaves: what a check finds, then what CP-SAT says."""
        value = Fraction(self.search.value)
        proved = min([self._frontier_s, *(leaf.proved_s for leaf in leaves)])
        self._proved(min(value, proved), leaves)
        self.search.prove(min(value, self._bound(leaves)))

    def _open(self, leaf: Leaf) -> bool:
        return not leaf.closed and leaf.bound_s < self.search.value

    def _turn(self, leaf: Leaf, seconds: float) -> None:
        """Look for a schedule shorter than the incumbent, or show that there is none."""
        if leaf.searched:
            self._ask_cp_sat(leaf, seconds)
            return
        leaf.searched = True
        clock = Clock(self.clock.limits(at_most_s=seconds))
        bound = one_machine_bound(leaf.shop)
        schedule = improved_schedule(leaf.shop, bound, clock, self.rng)
        self._offer(leaf.plan, schedule)
        if leaf.schedule is None or schedule.makespan < leaf.schedule.makespan:
            leaf.schedule = schedule
        leaf.closed = schedule.makespan == bound
        if self._open(leaf) and not self._over:
            self._branch(leaf, Clock(self.clock.limits(at_most_s=seconds)))
        if self._open(leaf) and not self._over:
            self._ask_cp_sat(leaf, seconds)

    def _branch(self, leaf: Leaf, clock: Clock) -> None:
        """Search the orders of a plan by branch and bound."""
        cutoff, began_s = self._units_above(leaf.shop), self.clock.elapsed_s
        found = shortest_orders(leaf.shop, cutoff, self._work_left // 2, clock)
        self._work_left -= found.work
        if found.orders is not None:
            leaf.schedule = simulate(leaf.shop, found.orders)
            cutoff = leaf.schedule.makespan
            self._offer(leaf.plan, leaf.schedule)
        if found.complete:
            leaf.closed = True
            leaf.prove(cutoff, found.parts)
            self._leave_time_to_check((self.clock.elapsed_s - began_s) / CHECK_TIMES)

    def _units_above(self, shop: Shop) -> int:
        """Return the incumbent in units of a plan, rounded up."""
        return ceiling(Fraction(self.search.value) / shop.unit)

    def _ask_cp_sat(self, leaf: Leaf, seconds: float) -> None:
        """Search the orders of a plan by CP-SAT."""
        self.notes["calls of CP-SAT"] += 1
        solved = cp_schedule(
            leaf.shop,
            self.clock.limits(at_most_s=seconds),
            int(self.rng.integers(2**31 - 1)),
            start=leaf.schedule,
            cutoff=self._units_above(leaf.shop),
        )
        leaf.bound_s = max(leaf.bound_s, solved.bound * leaf.shop.unit)
        leaf.closed = solved.closed
        if solved.schedule is not None:
            leaf.schedule = solved.schedule
            self._offer(leaf.plan, solved.schedule)
        if solved.limit_hit == "interrupted":
            self.search.limit_hit = "interrupted"


def _order_proof(shop: Shop, parts: Sequence[tuple[int, ...]]) -> OrderProof:
    """Return the proof that branch and bound found for a plan."""
    fwd, bwd, allreduce = (
        tuple(x * shop.unit for x in row) for row in (shop.fwd, shop.bwd, shop.allreduce)
    )
    return OrderProof(
        fwd_s=fwd,
        bwd_s=bwd,
        allreduce_s=allreduce,
        in_flight=shop.max_in_flight,
        parts=tuple(parts),
    )
