"""Schedules that are built for the times at hand: zero bubble's automatic ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..cells import Cell, Operation
from ..evaluate import evaluate
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from .layout import v_of
from .list_schedule import ListSchedule
from .outcome import one_route, outcome_of


@method(kind="baseline", reference="Qi et al. 2024 (reconstructed)")
def zb_auto(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """F and I as they come, W in the gaps or where memory is full; best of 8."""
    one_route(instance)
    unlimited, first_back = list(instance.microbatches), _first_backs(instance)

    def built(more_forwards: bool, backward_first: bool, eager: bool) -> list[list[Cell]] | None:
        def rank(op: Operation) -> tuple[int, ...]:
            return (("IFW" if backward_first else "FIW").index(op.kind),)

        schedule = ListSchedule(instance, unlimited, fused=False)
        return schedule.run(rank, FillGaps(first_back, more_forwards, eager))

    switches = itertools.product((False, True), repeat=3)
    return _best(instance, (built(*switch) for switch in switches), Clock(limits))


@method(kind="baseline", reference="Qi et al. 2024b (reconstructed)")
def zbv_greedy(instance: PipelineSchedulesInstance, limits: Limits | None = None) -> MethodOutcome:
    """Two chunks in a V: what can start first runs, W last among equals; best of 4."""
    v_of(instance)
    unlimited = list(instance.microbatches)

    def built(backward_first: bool, later_first: bool) -> list[list[Cell]] | None:
        def rank(op: Operation) -> tuple[int, ...]:
            place = ("IFW" if backward_first else "FIW").index(op.kind)
            return (place, -op.stage if later_first else op.stage)

        return ListSchedule(instance, unlimited, fused=False).run(rank)

    switches = itertools.product((True, False), repeat=2)
    return _best(instance, (built(*switch) for switch in switches), Clock(limits))


def _best(
    instance: PipelineSchedulesInstance, built: Iterable[list[list[Cell]] | None], clock: Clock
) -> MethodOutcome:
    """Return the shortest of several schedules that fit into memory, of those built in time."""
    found = []
    for n, cells in enumerate(built):
        if cells is not None:
            value = evaluate(instance, PipelineSchedulesSolution.of(cells))
            if value.objective is not None and not value.violations:
                found.append((value.objective, n, cells))
        if clock.expired and found:
            break
    if not found:
        raise ModelRefused("memory_bytes: too little for the schedule")
    return replace(outcome_of(instance, min(found)[2]), limit_hit=clock.limit_hit)


@dataclass
class FillGaps:
    """The rule of `zb_auto`: which forwards a warm-up takes, and when a W may run.

    Attributes
    ----------
    first_back : sequence of int
        Of each stage: the tick at which its first I can arrive.
    more_forwards : bool
        True if the warm-up also takes forwards that delay the first I.
    eager : bool
        True if a W runs in every gap; else where it ends before the next operation can start, or
        the gap is longer than any so far of its device.
    """

    first_back: Sequence[int]
    more_forwards: bool
    eager: bool
    longest: dict[int, int] = field(default_factory=dict)

    def __call__(
        self, schedule: ListSchedule, start: int, op: Operation, arrivals: Mapping[int, int]
    ) -> bool:
        """Return True if an operation may start."""
        s, kind, j = op
        if kind == "F" and j and Operation(s, "I", 0) not in schedule.ends:
            spent = start if self.more_forwards else start + schedule.ticks[s, "F"]
            return spent <= self.first_back[s]
        if kind != "W" or self.eager or s not in arrivals:
            return True
        gap = arrivals[s] - start
        if gap < schedule.ticks[s, "W"] and gap <= self.longest.get(s, 0):
            return False
        if gap < schedule.ticks[s, "W"]:
            self.longest[s] = gap
        return True


def _first_backs(instance: PipelineSchedulesInstance) -> list[int]:
    """Return the tick at which the first I can arrive on each stage of a route."""
    stages, per_s = instance.stages, instance.ticks_per_s
    found = []
    for s in range(len(stages)):
        ahead = sum(r.fwd_s + r.transfer_s for r in stages[:s]) + stages[s].fwd_s
        behind = sum(r.fwd_s + r.input_grad_s for r in stages[s + 1 :])
        found.append(int((ahead + behind + 2 * sum(r.transfer_s for r in stages[s:])) * per_s))
    return found
