"""Chimera and Hanayo: 1F1B in two directions, or over waves of chunks."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Operation
from ..instance import PipelineSchedulesInstance
from ..shop import shop_of, without_options
from .layout import two_ways_of, v_of
from .list_schedule import Ranked
from .outcome import outcome_of


@method(kind="baseline", reference="Li and Hoefler 2021 (reconstructed)")
def chimera(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """Two 1F1B pipelines of opposite directions, merged.

    Stage s of either has at most P - s forwards in flight. The rule on ties is ours: backwards
    first.
    """
    P, _ = instance.num_devices, two_ways_of(instance)
    return _merged(instance, [P - s for s in range(P)] * 2)


@method(kind="baseline", reference="Liu et al. 2023 (reconstructed)")
def hanayo(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """1F1B over V-shaped waves of chunks, each wave from device 0 to the last and back.

    Stage s has at most as many forwards in flight as stages follow, itself included, but not more
    than devices. The rule on ties is ours: backwards first, the later stage first.
    """
    P = instance.num_devices
    v_of(instance, chunks=None)
    S = len(instance.stages)
    return _merged(instance, [min(P, S - s) for s in range(S)])


def _merged(instance: PipelineSchedulesInstance, most_in_flight: list[int]) -> MethodOutcome:
    def rank(op: Operation) -> tuple[int, ...]:
        return (op.kind == "F", op.microbatch, -op.stage)

    shop = shop_of(without_options(instance))
    cells = Ranked(shop, rank, most_in_flight, fused=True).run()
    if cells is None:
        raise ModelRefused("memory_bytes: too little for the schedule")
    return outcome_of(instance, cells)
