"""SPP: order the GPUs, plan by PRM for every number of stages, schedule each plan by PE."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.search.alarm import TimeUp, ended_after
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import SppInstance, SppSolution
from .device_order import rdo_order
from .prm import BlockPlan, Prm, prm_of

#: Makespans are rounded up by this before loads in doubles are compared with them.
#: Tuned: `benchmarks/constants.py`.
_MARGIN = 1e-12


@dataclass(frozen=True)
class Candidate:
    """A plan with its schedule by PE.

    Attributes
    ----------
    plan : Plan
    load_s : float
        W of PRM.
    schedule : Schedule
    """

    plan: Plan
    load_s: float
    schedule: Schedule

    @property
    def makespan_s(self) -> Fraction:
        """T."""
        return self.schedule.makespan_s


@method(kind="approximation", reference="Luo et al. 2022 (reconstructed)")
def spp(instance: SppInstance, limits: Limits) -> MethodOutcome:
    r"""Recursive device ordering, least load for every number of stages, PE.

    Return the best of PRM's plans for :math:`\xi = 1, \dots, \min(L, V)` stages under PE.

    The same result as `plain`, tested, but for plans whose loads tie.

    With :math:`S^*` the stages of an optimal plan and :math:`\Phi = b_{max} / b_{min}`,

    .. math:: T \le \Big(2 + \frac{4 S^* - 4}{M}\Big)\, \Phi\, OPT

    for half duplex channels, no latency and no memory limits.

    Parameters
    ----------
    instance : SppInstance
    limits : Limits
        `time_s` ends the ordering and the dynamic program wherever they are; the best plan so far
        is returned, at first that of one stage on all GPUs.

    Notes
    -----
    PRM leaves out states that cannot end below the best makespan so far, which changes nothing:
    see `prm`. A plan whose makespan equals that of fewer stages is not taken.

    References
    ----------
    Z. Luo et al., "Efficient Pipeline Planning for Expedited Distributed DNN Training", INFOCOM
    2022. The constants of the reproduction are ours where the abstract is silent (reconstructed).
    """
    return best_of_orders(instance, limits, by_rdo(instance))


def by_rdo(instance: SppInstance) -> Iterator[tuple[int, ...]]:
    """Yield the order of recursive device ordering, found when it is asked for."""
    yield rdo_order(instance)


#: The plan that is scheduled for a plan of PRM on GPUs in an order.
Choose = Callable[[SppInstance, Prm, Sequence[int], BlockPlan], Plan]


def of_recurrence(_instance: SppInstance, _prm: Prm, gpus: Sequence[int], found: BlockPlan) -> Plan:
    """Return PRM's plan itself."""
    return plan_of(found, gpus)


def best_of_orders(
    instance: SppInstance,
    limits: Limits,
    orders: Iterable[tuple[int, ...]],
    choose: Choose = of_recurrence,
) -> MethodOutcome:
    """Return the best plan for any number of stages on any of some orders of the GPUs.

    The orders are asked for one by one, within the time limit.
    """
    search: Search[Candidate] = Search("min", limits)
    notes = {"orders": 0, "states": 0}
    with search.interruptible():
        _offer_one_stage(instance, search)  # before the alarm: there is a plan at any limit
        try:
            with ended_after(search.clock.left_s):
                _search_orders(instance, search, orders, choose, notes)
        except TimeUp:
            search.limit_hit = "time_s"
    best = search.best
    outcome = search.outcome(None if best is None else _solution(best), **notes)
    # A heuristic is complete or was stopped: it has no bound by which it could be closed.
    outcome.dual_bound, outcome.limit_hit = None, search.limit_hit
    if best is not None:
        outcome.notes = {"stages": best.plan.num_stages, **notes}
    return outcome


def _offer_one_stage(instance: SppInstance, search: Search[Candidate]) -> None:
    """Offer all layers on all GPUs: PRM's plan of one stage, or one that it will improve on."""
    everywhere = tuple(range(instance.num_gpus))
    whole = BlockPlan((instance.num_layers,), (instance.num_gpus,), math.inf)
    first = _scheduled(instance, plan_of(whole, everywhere), math.inf)
    if first is not None:
        search.offer(first.makespan_s, first)


def _search_orders(
    instance: SppInstance,
    search: Search[Candidate],
    orders: Iterable[tuple[int, ...]],
    choose: Choose,
    notes: dict[str, int],
) -> None:
    """Offer the plans of one order after the other, until the time is up."""
    for gpus in orders:
        notes["orders"] += 1
        with search.clock.phase("costs"):
            prm = prm_of(instance, gpus)
        with search.clock.phase("plans and schedules"):
            for found in candidates(instance, prm, gpus, search.best, choose):
                search.offer(found.makespan_s, found)
                if search.clock.expired:
                    search.limit_hit = "time_s"
                    break
        notes["states"] += prm.states
        if search.limit_hit is not None:
            break


def _solution(best: Candidate) -> SppSolution:
    return SppSolution.of(best.plan, best.schedule.orders)


def candidates(
    instance: SppInstance,
    prm: Prm,
    gpus: Sequence[int],
    best: Candidate | None = None,
    choose: Choose = of_recurrence,
) -> Iterator[Candidate]:
    """Yield PRM's plan with its schedule for every number of stages that may improve on the best.

    `best` is the best so far; what is yielded counts from then on.
    """
    for stages in range(1, instance.most_stages + 1):
        upper_s = math.inf if best is None else float(best.makespan_s) * (1 + _MARGIN)
        if stages > 1:
            prm.extend(upper_s)
        found = prm.best(stages)
        if found is None:
            continue
        candidate = _scheduled(instance, choose(instance, prm, gpus, found), found.load_s)
        if candidate is None:
            continue
        if best is None or candidate.makespan_s < best.makespan_s:
            best = candidate
        yield candidate


def _scheduled(instance: SppInstance, plan: Plan, load_s: float) -> Candidate | None:
    if plan_violations(instance, plan):  # does not fit into memory by less than a rounding error
        return None
    return Candidate(plan, load_s, pe(instance, plan))


def pe(instance: SppInstance, plan: Plan) -> Schedule:
    """Return the schedule of PE: the orders of rounds, every block as early as they allow.

    In round t = 1, 2, ... block j = 1..4S-3 of a microbatch, the last stage's two being one, is
    appended to its machine's order for microbatch t - j + 1, later blocks first.
    """
    shop = shop_of(instance, plan)
    return simulate(shop, round_orders(shop))


def plan_of(found: BlockPlan, gpus: Sequence[int]) -> Plan:
    """Return a plan on consecutive GPUs of an order as a plan."""
    layers = pairwise((0, *found.ends))
    blocks = pairwise((0, *accumulate(found.replicas)))
    return Plan(
        stage_layers=tuple(layers),
        stage_devices=tuple(tuple(sorted(gpus[a:b])) for a, b in blocks),
    )
