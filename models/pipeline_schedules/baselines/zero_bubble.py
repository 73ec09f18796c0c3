"""ZB-H1 and ZB-H2: one stage a device, and W late enough to fill the bubbles."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .outcome import one_route, outcome_of


@method(kind="baseline", reference="Qi et al. 2024 (reconstructed)")
def zb_h1(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """1F1B's warm-up and memory; W of device d comes d microbatches after its I."""
    P = instance.num_devices
    counts = one_route(instance)
    return outcome_of(instance, [_handcrafted(d, M, P - d, d) for d, M in enumerate(counts)])


@method(kind="baseline", reference="Qi et al. 2024 (reconstructed)")
def zb_h2(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """Warm-up of 2 (P - d) - 1 forwards; W comes 2 d microbatches after its I. Peak 2 P - 1."""
    P = instance.num_devices
    counts = one_route(instance)
    return outcome_of(
        instance, [_handcrafted(d, M, 2 * (P - d) - 1, 2 * d) for d, M in enumerate(counts)]
    )


def _handcrafted(stage: int, count: int, warmup: int, lag: int) -> list[Cell]:
    """Return a device's cells: after the warm-up I, perhaps W, and F, until all I are done."""
    warmup = min(warmup, count)
    order: list[Cell] = [(Operation(stage, "F", j),) for j in range(warmup)]
    for j in range(count):
        order.append((Operation(stage, "I", j),))
        if j >= lag:
            order.append((Operation(stage, "W", j - lag),))
        if warmup + j < count:
            order.append((Operation(stage, "F", warmup + j),))
    return order + [(Operation(stage, "W", j),) for j in range(max(0, count - lag), count)]
