"""The best of many list schedules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..evaluate import evaluate
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import Shop, shop_of
from ..timing import is_period_below, timing_of
from .list_schedule import ByRule, Rule


@method(kind="heuristic", reference="this project")
def list_schedules(instance: PipelineSchedulesInstance, limits: Limits) -> MethodOutcome:
    """The best of many list schedules, which differ in what a device keeps for later.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    shop = shop_of(instance)
    search: Search[PipelineSchedulesSolution] = Search("min", limits)
    with search.interruptible():
        try_rules(instance, shop, search)
    return search.outcome(search.best)


def try_rules(
    instance: PipelineSchedulesInstance, shop: Shop, search: Search[PipelineSchedulesSolution]
) -> None:
    """Offer the schedules of all rules to a search, until it is over."""
    seen: set[PipelineSchedulesSolution] = set()
    for rule in rules_of(shop):
        if search.over:
            return
        cells = ByRule(shop, rule).run()
        if cells is None:
            continue
        solution = PipelineSchedulesSolution.of(cells)
        if solution not in seen:
            seen.add(solution)
            offer(instance, solution, search)


def offer(
    instance: PipelineSchedulesInstance,
    solution: PipelineSchedulesSolution,
    search: Search[PipelineSchedulesSolution],
) -> None:
    """Offer a schedule that lists every operation once to a search, if it is feasible."""
    if not _may_be_shorter(instance, solution, search):
        return
    evaluation = evaluate(instance, solution)
    if evaluation.feasible and evaluation.objective is not None:
        search.offer(evaluation.objective, solution)


def _may_be_shorter(
    instance: PipelineSchedulesInstance,
    solution: PipelineSchedulesSolution,
    search: Search[PipelineSchedulesSolution],
) -> bool:
    """Return False if a schedule is no shorter than the incumbent, which is found out soon."""
    if search.best is None:
        return True
    timing, most = timing_of(instance, solution), Fraction(search.value) * instance.ticks_per_s
    if timing.stuck:
        return False
    if instance.objective == "period":
        return is_period_below(timing, most)
    return max(map(timing.end, timing.order)) < most


def rules_of(shop: Shop) -> Iterator[Rule]:
    """Yield rules: what a device may have in flight, what it keeps, and how long it waits."""
    P = len(shop.on_device)
    chunks = max(map(len, shop.on_device))
    kept: list[tuple[int, ...] | None] = [
        None,
        tuple(range(P)),
        tuple(2 * d for d in range(P)),
        (0,) * P,
    ]
    longest = max(shop.w)
    patience: list[tuple[int, ...] | None] = [None, (longest,) * P, (longest // 2,) * P]
    late_first = (True, False) if chunks > 1 else (True,)
    for waits, late, first, ahead, keep in itertools.product(
        patience, late_first, (False, True), _in_flight(shop), kept
    ):
        yield Rule(ahead, keep, first, waits, late)


def _in_flight(shop: Shop) -> list[tuple[int, ...] | None]:
    """Return how many microbatches each stage may have between F and I.

    So many that a microbatch is back when the device has worked on the others, or a half or twice
    as many; with one stage a device also P - d and 2 (P - d) - 1.
    """
    P, stages = len(shop.on_device), range(len(shop.device))
    if len(stages) == P:
        return [
            None,
            tuple(P - shop.device[s] for s in stages),
            tuple(2 * (P - shop.device[s]) - 1 for s in stages),
        ]
    rounds = [
        sum(shop.f[q] + shop.i[q] + shop.w[q] for q in shop.on_device[shop.device[s]])
        for s in stages
    ]
    away = [shop.f[s] + shop.between[s] + shop.i[s] for s in stages]
    return [None] + [
        tuple(max(1, -(-part * away[s] // (4 * rounds[s]))) for s in stages)
        for part in (4, 3, 5, 6, 8)
    ]
