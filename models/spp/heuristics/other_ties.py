"""SPP with another of the plans whose largest load is least: that of the least bound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.prm import BlockPlan, Prm
from ..algorithms.spp import best_of_orders, by_rdo, plan_of
from ..instance import SppInstance

#: Plans of one least load among which is chosen. Tuned: `benchmarks/constants.py`.
MOST_TIED = 1000


@method(kind="heuristic", reference="SPP, ties of PRM broken by the bound (reconstructed)")
def spp_by_bound(instance: SppInstance, limits: Limits) -> MethodOutcome:
    """SPP with PRM's ties broken by the head-load-tail bound.

    Of the first thousand plans of the least W for a number of stages it takes the one of the least
    bound, not that of the recurrence.
    """
    return best_of_orders(instance, limits, by_rdo(instance), least_bound_of_ties)


def least_bound_of_ties(
    instance: SppInstance, prm: Prm, gpus: Sequence[int], found: BlockPlan
) -> Plan:
    """Return of the plans that tie with one the allowed one of the least bound."""
    tied = (plan_of(other, gpus) for other in islice(prm.tied(found), MOST_TIED))
    allowed = [other for other in tied if not plan_violations(instance, other)]
    return min(
        allowed,
        key=lambda other: head_load_tail(shop_of(instance, other)).value_s,
        default=plan_of(found, gpus),
    )
