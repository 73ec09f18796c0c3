"""Schedules that are built for the times at hand: zero bubble's automatic ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..cells import Cell, Operation
from ..evaluate import evaluate
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import Shop, shop_of, without_options
from .layout import v_of
from .list_schedule import ListSchedule, Ranked
from .outcome import one_route, outcome_of


@method(kind="baseline", reference="Qi et al. 2024 (reconstructed)")
def zb_auto(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """F and I as they come, W in the gaps or where memory is full; best of 8."""
    one_route(instance)
    shop = shop_of(without_options(instance))
    switches = itertools.product((False, True), repeat=3)
    return _best(instance, (FillGaps(shop, *switch) for switch in switches), Clock(limits))


@method(kind="baseline", reference="Qi et al. 2024b (reconstructed)")
def zbv_greedy(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """Two chunks in a V: what can start first runs, W last among equals; best of 4."""
    v_of(instance)
    shop = shop_of(without_options(instance))

    def built(backward_first: bool, later_first: bool) -> ListSchedule:
        def rank(op: Operation) -> tuple[int, ...]:
            place = ("IFW" if backward_first else "FIW").index(op.kind)
            return (place, -op.stage if later_first else op.stage)

        return Ranked(shop, rank)

    switches = itertools.product((True, False), repeat=2)
    return _best(instance, (built(*switch) for switch in switches), Clock(limits))


def _best(
    instance: PipelineSchedulesInstance, schedules: Iterable[ListSchedule], clock: Clock
) -> MethodOutcome:
    """Return the shortest of several schedules that fit into memory, of those built in time."""
    found: list[tuple[object, int, list[list[Cell]]]] = []
    for n, schedule in enumerate(schedules):
        cells = schedule.run()
        if cells is not None:
            value = evaluate(instance, PipelineSchedulesSolution.of(cells))
            if value.objective is not None and not value.violations:
                found.append((value.objective, n, cells))
        if clock.expired and found:
            break
    if not found:
        raise ModelRefused("memory_bytes: too little for the schedule")
    return replace(outcome_of(instance, min(found)[2]), limit_hit=clock.limit_hit)


class FillGaps(ListSchedule):
    """The rule of `zb_auto`, stage s alone on device s.

    Parameters
    ----------
    shop : Shop
    more_forwards : bool
        True if the warm-up also takes forwards that delay the first I.
    backward_first : bool
        I before F where both are there.
    eager : bool
        True if a W runs in every gap; else where it ends before the next operation is there, or
        the gap is longer than any so far that its device filled.
    """

    def __init__(self, shop: Shop, more_forwards: bool, backward_first: bool, eager: bool):
        super().__init__(shop)
        self.more_forwards, self.eager = more_forwards, eager
        self.kinds = "IF" if backward_first else "FI"
        #: Of each stage: the tick at which its first I can arrive.
        self.first_back = [
            head + f + between
            for head, f, between in zip(shop.head, shop.f, shop.between, strict=True)
        ]
        self.longest = [0] * len(shop.f)

    def chosen(self, device: int, now: int) -> Operation | None:
        """Return F or I that is there, or a W that fills the gap before them."""
        soon: int | None = None
        for time, op in self.arrivals(device, self.kinds):
            if time > now:
                soon = time if soon is None else min(soon, time)
            elif op.kind == "I" or self._is_worth_it(op, now):
                return op
        weight = self.oldest_weight(device)
        return weight if weight is not None and self._fills(weight, soon, now) else None

    def _is_worth_it(self, forward: Operation, now: int) -> bool:
        """Return True if a forward of the warm-up may begin, and any after the first I."""
        s, _, j = forward
        if not j or self.done[s, "I"]:
            return True
        end = now if self.more_forwards else now + self.shop.f[s]
        return end <= self.first_back[s]

    def _fills(self, weight: Operation, soon: int | None, now: int) -> bool:
        """Return True if a W may begin, given when the next F or I is there."""
        s = weight.stage
        if self.eager or soon is None or soon - now >= self.shop.w[s]:
            return True
        if soon - now <= self.longest[s]:
            return False
        self.longest[s] = soon - now
        return True
