"""From starts to the orders of devices and links."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..cells import Operation
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import Shop
from ..timing import period_of, starts_of_period, timing_of

_RANK = {"F": 0, "I": 1, "W": 2}


def operations(shop: Shop) -> list[Operation]:
    """Return all operations of a shop."""
    return [
        Operation(s, kind, j)
        for s, count in enumerate(shop.microbatches)
        for kind in "FIW"
        for j in range(count)
    ]


def duration(shop: Shop, op: Operation) -> int:
    """Return the ticks of an operation."""
    return {"F": shop.f, "I": shop.i, "W": shop.w}[op.kind][op.stage]


def solution_of(
    instance: PipelineSchedulesInstance,
    starts: Mapping[Operation, float],
    sent: Mapping[Operation, float] | None = None,
) -> PipelineSchedulesSolution:
    """Return the orders of starts, and of the starts of transfers.

    Operations that take no time come before those that start with them.
    """
    orders: list[list[tuple[Operation, ...]]] = [[] for _ in range(instance.num_devices)]
    stages = instance.stages

    def key(op: Operation) -> tuple[float, bool, int, int]:
        takes_time = op.kind != "W" or stages[op.stage].weight_grad_s > 0
        return starts[op], takes_time, _RANK[op.kind], op.microbatch

    for op in sorted(starts, key=key):
        orders[stages[op.stage].device].append((op,))
    if not sent:
        return PipelineSchedulesSolution.of(orders)
    links: dict[tuple[int, int], list[tuple[Operation, ...]]] = {c: [] for c in instance.channels}
    for op in sorted(sent, key=lambda op: (sent[op], op.kind == "F", op.microbatch)):
        follows = instance.next_stage if op.kind == "F" else instance.previous_stage
        target = follows[op.stage]
        if target is not None:
            links[instance.channel(op.stage, target)].append((op,))
    return PipelineSchedulesSolution.of(orders, list(links.values()))


def starts_of(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> dict[Operation, Fraction]:
    """Return starts in ticks of F, I and W that attain the objective of orders without pairs."""
    timing = timing_of(instance, solution)
    starts = [Fraction(x) for x in timing.starts]
    if instance.objective == "period":
        starts = starts_of_period(timing, period_of(timing))
    found = {}
    for cells, steps in zip(solution.cells, timing.program.devices, strict=True):
        flat = [
            op._replace(kind=kind)
            for (op,) in cells
            for kind in ("IW" if op.kind == "B" else op.kind)
        ]
        found.update({op: starts[step] for op, step in zip(flat, steps, strict=True)})
    return found
