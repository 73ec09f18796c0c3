"""GPipe and 1F1B: the schedules before the backward was split."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .outcome import one_route, outcome_of


@method(kind="baseline", reference="Huang et al. 2019")
def gpipe(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """All forwards, then all backwards. For one stage a device."""
    cells = []
    for s, count in enumerate(one_route(instance)):
        forwards: list[Cell] = [(Operation(s, "F", j),) for j in range(count)]
        cells.append(forwards + [(Operation(s, "B", j),) for j in range(count)])
    return outcome_of(instance, cells)


@method(kind="baseline", reference="Narayanan et al. 2019")
def one_f_one_b(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """Device d runs P - d forwards, then backward and forward in turn. For one stage a device."""
    cells = []
    for s, count in enumerate(one_route(instance)):
        warmup = min(count, instance.num_devices - s)
        order: list[Cell] = [(Operation(s, "F", j),) for j in range(warmup)]
        for j in range(count):
            order.append((Operation(s, "B", j),))
            if warmup + j < count:
                order.append((Operation(s, "F", warmup + j),))
        cells.append(order)
    return outcome_of(instance, cells)
