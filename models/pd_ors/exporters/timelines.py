"""Schedules as tables and traces: the workers and servers of each job on each machine, in slots.

Slots are numbered from 1; what runs in slot 3 alone starts at 3 and ends at 4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, joined, number_in, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import PdOrsInstance, PdOrsSolution, Placement, SlotPlan

#: What a span's count counts.
ROLES = ("workers", "servers")


def spans(instance: PdOrsInstance, solution: PdOrsSolution) -> list[Span]:
    """Return the workers and servers of each job on each machine, equal slots joined."""
    found = []
    for i, plans in enumerate(solution.schedules):
        of_job = []
        for plan in sorted(plans or (), key=lambda plan: plan.slot):
            for placed in plan.placements:
                for role in ROLES:
                    count = getattr(placed, role)
                    if count:
                        where = f"machine {placed.machine}"
                        end = plan.slot + 1
                        of_job.append(Span(f"job {i}", plan.slot, end, where, count, (), role))
        found += joined(of_job)
    return found


def decision(instance: PdOrsInstance, spans: Sequence[Span]) -> PdOrsSolution:
    """Return the placements of every job in every slot; jobs without any are not accepted."""
    schedules: list[tuple[SlotPlan, ...] | None] = []
    for i, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        placed: dict[int, dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        for span in found:
            machine = number_in(span.resource, "machine", f"job {i}: resource")
            if span.detail not in ROLES:
                raise InputError(f"job {i}: detail: {span.detail!r}, expected workers or servers")
            start, end = whole_time(span)
            if end - start > instance.horizon_slots:
                raise InputError(f"job {i}: ends at {end}, after the last slot")
            for slot in range(start, end):
                if span.detail in placed[slot][machine]:
                    raise InputError(f"job {i}: its {span.detail} of slot {slot} are there twice")
                placed[slot][machine][span.detail] = span.count
        plans = tuple(
            SlotPlan(
                slot=slot,
                placements=tuple(
                    Placement(machine=h, **counts) for h, counts in sorted(on.items())
                ),
            )
            for slot, on in sorted(placed.items())
        )
        schedules.append(plans or None)
    return PdOrsSolution(schedules=tuple(schedules))


TIMELINES = Timelines("slot", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: PdOrsInstance, solution: PdOrsSolution) -> Exported:
    """Workers and servers on machines as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: PdOrsInstance, files: Exported) -> PdOrsSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: PdOrsInstance, solution: PdOrsSolution) -> Exported:
    """Workers and servers on machines as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: PdOrsInstance, files: Exported) -> PdOrsSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
