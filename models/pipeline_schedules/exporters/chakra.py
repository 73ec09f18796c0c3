"""Chakra execution traces for simulators such as ASTRA-sim: one file a device.

Transfers of an instance have times, those of a trace have bytes: a bandwidth turns one into the
other, and the metadata of the traces have it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.chakra.traces import COMPUTE, Trace, encode
from gadgetopt.pieces.formats.chakra.work import (
    Transfer,
    Work,
    first_difference,
    trace_of,
    whole_micros,
)
from gadgetopt.pieces.formats.pipelines.traces import read_all
from gadgetopt.pieces.formats.timelines.spans import read_time
from gadgetopt.system.declaring import exporter

from ..cells import Cell, Operation, read_cell, write_cell
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution

#: The name of the bandwidth in the metadata.
RATE = "link_bytes_per_s"


def kept(
    instance: PipelineSchedulesInstance,
    solution: PipelineSchedulesSolution,
    link_bytes_per_s: float,
) -> PipelineSchedulesSolution:
    """Return the solution without the orders of transfers."""
    return solution.model_copy(update={"link_orders": None})


@exporter(
    suffixes=(".*.et",),
    drops="the order of transfers: each link serves what comes first",
    help={RATE: "bandwidth by which the times of transfers become bytes"},
)
def write(
    instance: PipelineSchedulesInstance,
    solution: PipelineSchedulesSolution,
    link_bytes_per_s: float = 25e9,
) -> Exported:
    """Chakra execution traces of the devices, for simulators such as ASTRA-sim.

    Raises
    ------
    InputError
        If devices copy to the host, which a trace has no node for, or no bandwidth is given.
    """
    if not 0 < link_bytes_per_s < math.inf:
        raise InputError(f"chakra: link_bytes_per_s {link_bytes_per_s}; expected more than 0")
    if any(op.kind in "OL" for cells in solution.cells for cell in cells for op in cell):
        raise InputError(
            "chakra: a trace has no copies to the host; solve without offload_s of the stages"
        )
    if any(stage.allreduce_s for stage in instance.stages):
        raise InputError(
            "chakra: an AllReduce of given seconds has no bytes; solve with allreduce_s 0, or "
            "export the plan of SPP or DAPPLE"
        )
    traces = _traces(instance, solution, repr(float(link_bytes_per_s)))
    files: dict[str, str | bytes] = {f".{d}.et": encode(trace) for d, trace in enumerate(traces)}
    note = f"transfers are as many bytes as {link_bytes_per_s:g} bytes/s move in their times"
    return Exported(files, ("durations are rounded to whole microseconds", note))


def _traces(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution, rate: str
) -> list[Trace]:
    bytes_per_s = decimal_rational(float(rate))
    return [
        trace_of([_work(instance, cell, bytes_per_s) for cell in cells], {RATE: rate})
        for cells in solution.cells
    ]


def _work(instance: PipelineSchedulesInstance, cell: Cell, bytes_per_s: Fraction) -> Work:
    """Return what a cell takes, receives and sends."""
    receives, sends = [], []
    for op in cell:
        s = op.stage
        before, after = instance.previous_stage[s], instance.next_stage[s]
        if op.kind == "F":
            receives += _transfer(instance, before, s, op, bytes_per_s)
            sends += _transfer(instance, s, after, op, bytes_per_s)
        elif op.kind in "IB":
            receives += _transfer(instance, after, s, op, bytes_per_s)
            sends += _transfer(instance, s, before, op, bytes_per_s)
    name = write_cell(cell)
    micros = whole_micros(_seconds(instance, cell), name)
    return Work(name, micros, tuple(receives), tuple(sends))


def _transfer(
    instance: PipelineSchedulesInstance,
    source: int | None,
    target: int | None,
    op: Operation,
    bytes_per_s: Fraction,
) -> list[Transfer]:
    """Return what a stage sends to its neighbour, nothing on the same device or at an end."""
    if source is None or target is None:
        return []
    stages = instance.stages
    devices = stages[source].device, stages[target].device
    if devices[0] == devices[1]:
        return []
    forward = op.kind == "F"
    num_bytes = math.ceil(stages[min(source, target)].transfer_s * bytes_per_s)
    tag = (op.microbatch * len(stages) + source) * 2 + (not forward)
    kind = "activation" if forward else "gradient"
    return [Transfer(f"{kind} {op.microbatch} of stage {source}", *devices, tag, num_bytes)]


def _seconds(instance: PipelineSchedulesInstance, cell: Cell) -> Fraction:
    """Return how long a cell takes."""
    op = cell[0]
    stage = instance.stages[op.stage]
    if len(cell) == 2:
        pair = (op.stage, cell[1].stage)
        return next(
            o.duration_s for o in instance.overlaps if (o.forward_stage, o.backward_stage) == pair
        )
    backward = stage.input_grad_s + stage.weight_grad_s
    return {
        "F": stage.fwd_s,
        "I": stage.input_grad_s,
        "W": stage.weight_grad_s,
        "B": backward - (stage.fused_saving_s or 0),
        "R": stage.fwd_s,
    }[op.kind]


def read_back(instance: PipelineSchedulesInstance, exported: Exported) -> PipelineSchedulesSolution:
    """Return the orders of traces.

    Raises
    ------
    InputError
        If they are not those of a schedule of this instance.
    """
    traces = read_all(exported, instance.num_devices)
    orders = []
    for rank, trace in enumerate(traces):
        names = [node.name for node in trace.nodes if node.kind == COMPUTE]
        for name in names:
            _check_cell(instance, name, f"rank {rank}")
        orders.append(tuple(names))
    solution = PipelineSchedulesSolution(orders=tuple(orders))
    rate = traces[0].about.get(RATE, "")
    if not 0 < float(read_time(rate, f"rank 0: {RATE}")) < math.inf:
        raise InputError(f"rank 0: {RATE}: {rate}, expected more than 0")
    difference = first_difference(traces, _traces(instance, solution, rate))
    if difference is not None:
        raise InputError(difference)
    return solution


def _check_cell(instance: PipelineSchedulesInstance, name: str, where: str) -> None:
    """Refuse a cell that no order of this instance has."""
    try:
        cell = read_cell(name)
    except ValueError as error:
        raise InputError(f"{where}: {name!r}: {error}") from None
    pairs = {(o.forward_stage, o.backward_stage) for o in instance.overlaps}
    for op in cell:
        if op.stage >= len(instance.stages) or op.kind in "OL":
            raise InputError(f"{where}: {name!r}: is no cell of this instance")
    if len(cell) == 2 and (cell[0].stage, cell[1].stage) not in pairs:
        raise InputError(f"{where}: {name!r}: these stages have no overlap in this instance")
