"""Instances and schedules that the tests share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.instance import (
    PipelineSchedulesInstance,
    PipelineSchedulesSolution,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve


@pytest.fixture
def two_devices() -> PipelineSchedulesInstance:
    """Two devices, two microbatches, all times 1 s, memory for two."""
    return equal(None, devices=2, microbatches=2)


@pytest.fixture
def zero_bubble_of_two() -> PipelineSchedulesSolution:
    """The optimum of `two_devices`, 7 s.

    Device 0: F0 F1 . I0 W0 I1 W1, device 1: . F0 I0 F1 I1 W0 W1.
    """
    return PipelineSchedulesSolution(
        orders=(
            ("0F0", "0F1", "0I0", "0W0", "0I1", "0W1"),
            ("1F0", "1I0", "1F1", "1I1", "1W0", "1W1"),
        )
    )


def solved(instance: PipelineSchedulesInstance, method: str = "close_gap", time_s: float = 60):
    """Return the judged result of a method."""
    document = Document(problem("pipeline_schedules"), "instance", "case", instance)
    return solve(document, method, Limits(time_s=time_s))


def changed(instance: PipelineSchedulesInstance, s: int = 0, **fields) -> PipelineSchedulesInstance:
    """Return a one-route instance with fields of a stage changed; numbers become fractions."""
    whole = ("device", "weight_group")
    exact = {
        k: Fraction(v) if isinstance(v, int | str) and k not in whole else v
        for k, v in fields.items()
    }
    (route,) = instance.routes
    stages = list(route.stages)
    stages[s] = stages[s].model_copy(update=exact)
    return instance.model_copy(
        update={"routes": (route.model_copy(update={"stages": tuple(stages)}),)}
    )
