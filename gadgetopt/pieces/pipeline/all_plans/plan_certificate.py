"""What proves that no plan has a shorter schedule, and its check.

The certificate is a number of seconds. Its check searches all plans again, in integers and without
a solver (`label_search`), below that number: plans whose head-load-tail bound is smaller are
enumerated, and each has its one-machine bound. The least of these and of the number up to which
plans were enumerated is proved, whoever wrote the certificate.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.pieces.pipeline.all_plans.label_search import LADDER, PlanSpace
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock

#: Bounds up to this multiple of the root's are searched at once, others by ever larger cutoffs: a
#: claim far above the least bound would not prune anything.
NEAR = 1.05


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
    bounds: dict[Plan, Fraction] = {}
    for factor in LADDER if least.plans else ():
        rung = min(cutoff, int(least.ticks * factor) + 1)
        found = space.search(rung, clock, dominance=False)
        if not found.complete:
            break
        for plan in (x.plan for x in found.plans):
            if plan not in bounds:
                shop = shop_of(instance, plan)
                bounds[plan] = one_machine_bound(shop) * shop.unit
        smallest = min(bounds.values(), default=at_most_s)
        proved_s = max(proved_s, min(rung * space.tick_s, smallest))
        # A smallest bound below the rung stays the smallest.
        if rung >= cutoff or smallest <= rung * space.tick_s:
            break
    return min(proved_s, at_most_s)
