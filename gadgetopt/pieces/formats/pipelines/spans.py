"""Pipelines as spans of time, and back: the blocks of stages and channels, their GPUs and layers.

A stage is a resource whose units are its GPUs; the detail of its spans names its layers. An
AllReduce at the end of a stage is shown and says nothing that a reader needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.timelines.spans import Span, number_in
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.simulator import Schedule

ALLREDUCE = "AllReduce"

_LAYERS = re.compile(r"layers (\d{1,9}) to (\d{1,9})", re.ASCII)


def pipeline_spans(schedule: Schedule, plan: Plan, channel: str) -> list[Span]:
    """Return the spans of a schedule in seconds; `channel` is the word for what joins stages."""
    shop, found = schedule.shop, []
    for q, order in enumerate(schedule.orders):
        resource, units, detail = f"{channel} {q // 2}", tuple[int, ...](), ""
        if not q % 2:
            first, end = plan.stage_layers[q // 2]
            resource, units = f"stage {q // 2}", tuple(plan.stage_devices[q // 2])
            detail = f"layers {first} to {end - 1}"
        count = len(units) or 1
        for code in order:
            m = abs(code)
            start = (schedule.fwd_start if code > 0 else schedule.bwd_start)[q][m - 1]
            length = (shop.fwd if code > 0 else shop.bwd)[q]
            job = f"{'forward' if code > 0 else 'backward'} {m}"
            times = (start * shop.unit, (start + length) * shop.unit)
            found.append(Span(job, *times, resource, count, units, detail))
        if not q % 2 and shop.allreduce[q]:
            ends = schedule.stage_ends[q // 2]
            times = ((ends - shop.allreduce[q]) * shop.unit, ends * shop.unit)
            found.append(Span(ALLREDUCE, *times, resource, count, units, detail))
    return found


def pipeline_decision(spans: Sequence[Span], channel: str) -> tuple[Plan, list[list[int]]]:
    """Return the plan and the orders that spans say.

    Raises
    ------
    InputError
        If a name is not as expected, or spans of a stage disagree about its GPUs and layers.
    """
    layers: dict[int, tuple[int, int]] = {}
    gpus: dict[int, tuple[int, ...]] = {}
    orders: dict[int, list[int]] = {}
    for span in sorted(spans, key=lambda span: span.start):  # equal starts keep their order
        is_stage = not span.resource.startswith(f"{channel} ")
        n = number_in(span.resource, "stage" if is_stage else channel, "resource")
        if is_stage:
            said = _LAYERS.fullmatch(span.detail)
            if said is None:
                raise InputError(
                    f"{span.resource}: detail: {span.detail!r}, expected such as 'layers 0 to 3'"
                )
            of_stage = int(said[1]), int(said[2]) + 1
            if layers.setdefault(n, of_stage) != of_stage:
                raise InputError(f"{span.resource}: has other layers in another line")
            if gpus.setdefault(n, span.units) != span.units:
                raise InputError(f"{span.resource}: has other units in another line")
        if span.job != ALLREDUCE:
            orders.setdefault(2 * n + (not is_stage), []).append(_code(span.job))
    stages = len(layers)
    if set(orders) != set(range(2 * stages - 1)) or set(layers) != set(range(stages)):
        raise InputError(f"resources: expected stages 0, 1, ... and a {channel} after each but one")
    plan = Plan(
        stage_layers=tuple(layers[n] for n in range(stages)),
        stage_devices=tuple(gpus[n] for n in range(stages)),
    )
    return plan, [orders[q] for q in range(2 * stages - 1)]


def _code(job: str) -> int:
    """Return +m for "forward m", -m for "backward m"."""
    if job.startswith("backward "):
        return -number_in(job, "backward", "job")
    return number_in(job, "forward", "job")
