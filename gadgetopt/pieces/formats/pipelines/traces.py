"""Pipelines of stages on GPUs as Chakra traces, one a GPU, and back.

Every GPU of a stage computes every block of the stage's order, exchanges its share of activations
and gradients with every GPU of the neighbouring stages, and takes part in an AllReduce at the end.
Transfers have no order: the simulator begins each when it can.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.chakra.traces import COMPUTE, Trace, decode, encode, unmatched
from gadgetopt.pieces.formats.chakra.work import (
    Transfer,
    Work,
    first_difference,
    trace_of,
    whole_micros,
)
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.pieces.pipeline.simulator import DeadlockError

#: The endings of the files: a trace of each GPU, and the GPUs of each stage.
TRACES, GROUPS = ".*.et", ".groups.json"

_BLOCK = re.compile(r"(forward|backward) ([1-9][0-9]{0,8})", re.ASCII)
_ABOUT = re.compile(r"(\d{1,9}) of layers (\d{1,9}) to (\d{1,9})", re.ASCII)


def first_come(shop: Shop, stage_orders: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the orders of all machines if channels serve what comes first."""
    try:
        return dispatch(shop, channels_first_come(stage_orders)).orders
    except DeadlockError as error:
        raise InputError(str(error)) from None


def write_traces(
    instance: PipelineInstance, plan: Plan, stage_orders: Sequence[Sequence[int]]
) -> Exported:
    """Return the traces of a plan and the orders of its stages."""
    files: dict[str, str | bytes] = {
        f".{gpu}.et": encode(trace)
        for gpu, trace in enumerate(_traces(instance, plan, stage_orders))
    }
    groups = {f"stage {n}": sorted(gpus) for n, gpus in enumerate(plan.stage_devices)}
    files[GROUPS] = json.dumps(groups, indent=1) + "\n"
    return Exported(files, ("durations are rounded to whole microseconds",))


def _traces(
    instance: PipelineInstance, plan: Plan, stage_orders: Sequence[Sequence[int]]
) -> list[Trace]:
    shop = shop_of(instance, plan)
    stage_of = {gpu: n for n, gpus in enumerate(plan.stage_devices) for gpu in gpus}
    found = []
    for gpu in range(instance.num_gpus):
        n = stage_of.get(gpu)
        if n is None:
            found.append(Trace({}, ()))
            continue
        first, end = plan.stage_layers[n]
        work = [_block(instance, plan, shop, n, gpu, code) for code in stage_orders[n]]
        num_bytes = math.ceil(
            sum(decimal_rational(layer.param_bytes) for layer in instance.layers[first:end])
        )
        if len(plan.stage_devices[n]) > 1 and num_bytes:
            work.append(Work("AllReduce", 0, group=f"stage {n}", num_bytes=num_bytes))
        found.append(trace_of(work, {"stage": f"{n} of layers {first} to {end - 1}"}))
    return found


def _block(instance: PipelineInstance, plan: Plan, shop: Shop, n: int, gpu: int, code: int) -> Work:
    """Return a block of a stage on one of its GPUs: what it takes, receives and sends."""
    forward, m = code > 0, abs(code)
    word = "forward" if forward else "backward"
    units = (shop.fwd if forward else shop.bwd)[2 * n]
    micros = whole_micros(units * shop.unit, f"{word} of stage {n}")
    before, after = (n - 1, n + 1) if forward else (n + 1, n - 1)
    receives = [
        _transfer(instance, plan, before, n, other, gpu, code) for other in _gpus(plan, before)
    ]
    sends = [_transfer(instance, plan, n, after, gpu, other, code) for other in _gpus(plan, after)]
    return Work(f"{word} {m}", micros, tuple(receives), tuple(sends))


def _gpus(plan: Plan, n: int) -> list[int]:
    """Return the GPUs of a stage, none if there is no such stage."""
    return sorted(plan.stage_devices[n]) if 0 <= n < len(plan.stage_devices) else []


def _transfer(
    instance: PipelineInstance,
    plan: Plan,
    source: int,
    target: int,
    gpu: int,
    other: int,
    code: int,
) -> Transfer:
    """Return what a GPU of a stage sends to one of a neighbouring stage of a microbatch."""
    layer = instance.layers[plan.stage_layers[min(source, target)][1] - 1]
    back = layer.act_bytes if layer.grad_bytes is None else layer.grad_bytes
    whole = decimal_rational(layer.act_bytes if code > 0 else back)
    pairs = len(plan.stage_devices[source]) * len(plan.stage_devices[target])
    m = abs(code)
    kind = "activation" if code > 0 else "gradient"
    return Transfer(f"{kind} {m}", gpu, other, 2 * m + (code < 0), math.ceil(whole / pairs))


def read_traces(instance: PipelineInstance, exported: Exported) -> tuple[Plan, list[list[int]]]:
    """Return the plan and the orders of all machines that traces say.

    Raises
    ------
    InputError
        If a file is no trace, is missing, or the traces are not those of a plan of this instance.
    """
    traces = read_all(exported, instance.num_gpus)
    layers: dict[int, tuple[int, int]] = {}
    gpus: dict[int, list[int]] = {}
    orders: dict[int, list[int]] = {}
    for gpu, trace in enumerate(traces):
        if not trace.about:
            continue
        said = _ABOUT.fullmatch(trace.about.get("stage", ""))
        if said is None:
            raise InputError(f"rank {gpu}: metadata: expected a stage such as '0 of layers 0 to 3'")
        n = int(said[1])
        layers[n] = int(said[2]), int(said[3]) + 1
        gpus.setdefault(n, []).append(gpu)
        orders[n] = [_code(node.name) for node in trace.nodes if node.kind == COMPUTE]
    stages = sorted(layers)
    if stages != list(range(len(stages))) or layers[stages[-1]][1] != instance.num_layers:
        raise InputError("the stages of the traces are not those of all layers")
    plan = Plan(
        stage_layers=tuple(layers[n] for n in stages),
        stage_devices=tuple(tuple(gpus[n]) for n in stages),
    )
    stage_orders = [orders[n] for n in stages]
    difference = first_difference(traces, _traces(instance, plan, stage_orders))
    if difference is not None:
        raise InputError(difference)
    return plan, first_come(shop_of(instance, plan), stage_orders)


def read_all(exported: Exported, ranks: int) -> list[Trace]:
    """Return the traces of all ranks, in which each send has its receive.

    Raises
    ------
    InputError
        If one is missing or is none, or a send has no receive.
    """
    traces = []
    for rank in range(ranks):
        data = exported.files.get(f".{rank}.et")
        if data is None:
            raise InputError(f"the trace of rank {rank} is missing, expected {ranks} traces")
        try:
            traces.append(decode(data if isinstance(data, bytes) else data.encode()))
        except InputError as error:
            raise InputError(f"rank {rank}: {error}") from None
    fault = unmatched(traces)
    if fault is not None:
        raise InputError(fault)
    return traces


def _code(name: str) -> int:
    said = _BLOCK.fullmatch(name)
    if said is None:
        raise InputError(f"{name!r}: expected a block such as 'forward 1'")
    return int(said[2]) if said[1] == "forward" else -int(said[2])
