"""What proves that no plan has a shorter schedule, and its check.

The certificate is a number of seconds. Its check searches all plans again, in integers and without
a solver (`label_search`), below that number: plans whose head-load-tail bound is smaller are
enumerated, and each has its one-machine bound. A plan whose one-machine bound is smaller, too, has
its orders searched for a schedule that ends before that number (`order_search`); if there is none,
the plan is no better than the number. The least of these and of the number up to which plans were
enumerated is proved, whoever wrote the certificate.

The check takes its own way through the plans, but its searches, and its bounds, are those of the
methods: `label_search` with its tables, `one_machine` and `order_search`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.exact import ceiling
from gadgetopt.pieces.pipeline.all_plans.label_search import LADDER, PlanSpace
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.search.clock import Clock

#: Bounds up to this multiple of the root's are searched at once, others by ever larger cutoffs: a
#: claim far above the least bound would not prune anything.
NEAR = 1.05
#: Blocks that the searches for orders may look at, about 20 microseconds each.
MOST_WORK = 400_000


@dataclass
class _Orders:
    """What is proved of plans by their orders, in seconds, up to what is claimed."""

    claim_s: Fraction
    work_left: int

    def bound_s(self, shop: Shop) -> Fraction:
        """Return a lower bound on the makespan of a shop, never above the claim if it is wrong."""
        claim = ceiling(self.claim_s / shop.unit)
        one_machine_s = one_machine_bound(shop, enough=claim) * shop.unit
        if one_machine_s >= self.claim_s:
            return one_machine_s
        found = shortest_orders(shop, claim, self.work_left)
        self.work_left -= found.work
        none_shorter = found.complete and found.orders is None
        return self.claim_s if none_shorter else one_machine_s


def proved_makespan_s(instance: PipelineInstance, at_most_s: Fraction) -> Fraction:
    """Return a lower bound on the makespan of every plan and schedule, in seconds.

    Parameters
    ----------
    instance : PipelineInstance
    at_most_s : Fraction
        The bound that is claimed; the result is no larger.
    """
    clock = Clock()
    space = PlanSpace(instance)
    cutoff = space.ticks_above(at_most_s)
    near = cutoff <= NEAR * space.root_ticks
    least = (
        space.search(cutoff, clock, dominance=True) if near else space.least_bound(clock, cutoff)
    )
    proved_s = least.ticks * space.tick_s
    orders = _Orders(at_most_s, MOST_WORK)
    bounds: dict[Shop, Fraction] = {}
    for factor in LADDER if least.plans else ():
        rung = min(cutoff, int(least.ticks * factor) + 1)
        found = space.search(rung, clock, dominance=False)
        if not found.complete:
            break
        for shop in (shop_of(instance, x.plan) for x in found.plans):
            if shop not in bounds:
                bounds[shop] = orders.bound_s(shop)
        smallest = min(bounds.values(), default=at_most_s)
        proved_s = max(proved_s, min(rung * space.tick_s, smallest))
        # A smallest bound below the rung stays the smallest.
        if rung >= cutoff or smallest <= rung * space.tick_s:
            break
    return min(proved_s, at_most_s)
