"""Schedules that are built for the times at hand: zero bubble's automatic ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
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
from .list_schedule import ListSchedule
from .outcome import one_route, outcome_of


@method(kind="baseline", reference="Qi et al. 2024 (reconstructed)")
def zb_auto(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """F and I as they come, W in the gaps or where memory is full; best of 8.

    Forwards of the warm-up end before the first I can arrive, or begin before.
    """
    one_route(instance)
    shop = shop_of(without_options(instance))
    begins = [h + f + r for h, f, r in zip(shop.head, shop.f, shop.between, strict=True)]
    ends = [begin - f for begin, f in zip(begins, shop.f, strict=True)]
    switches = itertools.product((ends, begins), (False, True), (False, True))
    schedules = (FillGaps(shop, first, eager, latest) for latest, first, eager in switches)
    return _best(instance, schedules, Clock(limits))


@method(kind="baseline", reference="Qi et al. 2024b (reconstructed)")
def zbv_greedy(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """`zb_auto` for two chunks in a V, forwards as memory allows; best of 4."""
    v_of(instance)
    shop = shop_of(without_options(instance))
    switches = itertools.product((False, True), repeat=2)
    schedules = (FillGaps(shop, first, eager) for first, eager in switches)
    return _best(instance, schedules, Clock(limits))


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
    """Where an F or an I is there it runs, of several chunks the later first; W fills the gaps.

    Parameters
    ----------
    shop : Shop
    backward_first : bool
        I before F where both are there.
    eager : bool
        True if a W runs in every gap; else where it ends before the next operation is there, or
        where with the gap the device would be idle for longer than any other was so far. So a
        device may wait as long as the one that waits most, which sets the pace.
    latest : sequence of int, optional
        Of each device: when a forward begins at the latest, but for the first one, before the first
        I; None: as memory allows.
    """

    def __init__(
        self,
        shop: Shop,
        backward_first: bool,
        eager: bool,
        latest: Sequence[int] | None = None,
    ):
        super().__init__(shop)
        self.kinds = "IF" if backward_first else "FI"
        self.eager, self.latest = eager, latest

    def chosen(self, device: int, now: int) -> Operation | None:
        """Return F or I that is there, or a W that fills the gap before them."""
        soon: int | None = None
        there: list[Operation] = []
        for time, op in self.arrivals(device, self.kinds):
            if time > now:
                soon = time if soon is None else min(soon, time)
            elif op.kind == "I" or self._is_worth_it(op, device, now):
                there.append(op)
        if there:
            return min(there, key=lambda op: (self.kinds.index(op.kind), -op.stage))
        weight = self.oldest_weight(device)
        return weight if weight is not None and self._fills(weight, device, soon, now) else None

    def _is_worth_it(self, forward: Operation, device: int, now: int) -> bool:
        """Return True if a forward may begin: any after the first I of its device."""
        if self.latest is None or not forward.microbatch or self.done[forward.stage, "I"]:
            return True
        return now <= self.latest[device]

    def _fills(self, weight: Operation, device: int, soon: int | None, now: int) -> bool:
        """Return True if a W may begin, given when the next F or I is there."""
        if self.eager or soon is None or soon - now >= self.shop.w[weight.stage]:
            return True
        return self.idle[device] + soon - now > max(self.idle)
