"""A schedule as the outcome of a baseline, if it fits into memory."""

from __future__ import annotations

from collections.abc import Iterable

from gadgetopt.errors import ModelRefused
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell
from ..evaluate import memory_levels
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution


def outcome_of(
    instance: PipelineSchedulesInstance, cells: Iterable[Iterable[Cell]]
) -> MethodOutcome:
    """Return the outcome with these cells on each device.

    Raises
    ------
    ModelRefused
        If a device has too little memory for them.
    """
    solution = PipelineSchedulesSolution.of(cells)
    if instance.memory_bytes is not None:
        levels = memory_levels(instance, solution)
        for d, (level, capacity) in enumerate(zip(levels, instance.memory_bytes, strict=True)):
            if max(level) > capacity:
                raise ModelRefused(
                    f"memory_bytes: {capacity} of device {d}, the schedule needs {max(level)}"
                )
    return MethodOutcome(solution=solution)


def one_route(instance: PipelineSchedulesInstance) -> tuple[int, ...]:
    """Return the microbatches of each stage, if stage s is alone on device s, on one route.

    Raises
    ------
    ModelRefused
        If it is not.
    """
    if len(instance.routes) > 1:
        raise ModelRefused(f"routes: {len(instance.routes)}, expected one")
    if [stage.device for stage in instance.stages] != list(range(instance.num_devices)):
        raise ModelRefused("routes: expected stage s alone on device s")
    return instance.microbatches
