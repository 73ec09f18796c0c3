r"""The evaluator: makespan or period of the orders of a pipeline's devices, and what they violate.

A device executes its cells in their order, each as early as it can. The forward of a microbatch on
a stage waits for that on the stage before, (1); the gradient of the input (I) for the forward, (2),
and for I of the stage after, (3); the gradient of the weights (W) for I, (4). A device executes one
cell at a time, (5). Transfers between devices take :math:`c_s`, in each direction.

A device's activations never exceed its memory, (6): a stage holds :math:`a_s` of a microbatch from
the start of F on, of which :math:`a_s - g_s` until the end of I and :math:`g_s` until that of W.

.. math::

    (7)\quad \text{makespan} = \max_{s, j} (t_{W,s,j} + w_s + A_s) \qquad
    (8)\quad \text{period} = \min_t \max_d \Big(\max_{s \in d, j} (t_{W,s,j} + w_s + A_s)
    - \min_{s \in d, j} t_{F,s,j}\Big)

The period is the time from step to step if only devices and links have to be free: the steps are
shifted copies of each other, and starts need not be the earliest. All numbers are exact.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .cells import Cell, Operation
from .instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from .timing import Timing, period_of, starts_of_period, timing_of


def evaluate(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> Evaluation:
    """Recompute the makespan or period of orders, and which constraints they violate.

    Returns
    -------
    Evaluation
        The objective is None if operations are missing, repeated or not possible, or wait for each
        other. Components: `makespan_s` and `period_s`; `peak_bytes` of the fullest device;
        `bubble_share`, the mean idle share of the devices, and its parts before the first I of a
        device, after its last F, and between: `warmup_share`, `cooldown_share`, `middle_share`.
    """
    broken = tuple(_broken(instance, solution))
    if broken:
        return Evaluation(None, broken)
    timing = timing_of(instance, solution)
    if timing.stuck:
        return Evaluation(None, tuple(_waiting(timing)))
    tick = Fraction(1, instance.ticks_per_s)
    makespan, period = max(map(timing.end, timing.order)) * tick, period_of(timing) * tick
    levels = memory_levels(instance, solution)
    components: dict[str, Number] = {
        "makespan_s": makespan,
        "period_s": period,
        "peak_bytes": max(max(level) for level in levels),
        **_idle_shares(instance, timing),
    }
    objective = makespan if instance.objective == "makespan" else period
    return Evaluation(objective, tuple(_overfull(instance, levels)), components)


# -- what makes the orders no schedule ---------------------------------------------------------


def _broken(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> Iterator[Violation]:
    """Yield what leaves undefined what is executed."""
    if len(solution.orders) != instance.num_devices:
        wrong = abs(len(solution.orders) - instance.num_devices)
        yield Violation("device_without_order", f"orders of {instance.num_devices} devices", wrong)
        return
    for d, cells in enumerate(solution.cells):
        for n, cell in enumerate(cells):
            for op in cell:
                name = _unknown(instance, d, op)
                if name:
                    yield Violation(name, f"orders[{d}][{n}], {op}", 1)
                    return
            name = _impossible(instance, cell)
            if name:
                yield Violation(name, f"orders[{d}][{n}], {solution.orders[d][n]}", 1)
        yield from _not_once(instance, d, cells)
    yield from _broken_links(instance, solution)


def _unknown(instance: PipelineSchedulesInstance, device: int, op: Operation) -> str | None:
    if op.stage >= len(instance.stages):
        return "unknown_stage"
    if op.microbatch >= instance.microbatches[op.stage]:
        return "unknown_microbatch"
    if instance.stages[op.stage].device != device:
        return "stage_of_another_device"
    return None


def _impossible(instance: PipelineSchedulesInstance, cell: Cell) -> str | None:
    stage, kind = instance.stages[cell[0].stage], cell[0].kind
    if len(cell) == 2:
        pairs = {(pair.forward_stage, pair.backward_stage) for pair in instance.overlaps}
        return None if (cell[0].stage, cell[1].stage) in pairs else "overlap_not_possible"
    if kind == "R" and stage.recompute_act_bytes is None:
        return "recomputation_not_possible"
    if kind in "OL" and stage.offload_s is None:
        return "offload_not_possible"
    return None


def _not_once(
    instance: PipelineSchedulesInstance, device: int, cells: tuple[Cell, ...]
) -> Iterator[Violation]:
    """Yield the operations of a device that are missing or repeated; B is I and W."""
    listed = Counter(
        op._replace(kind=kind)
        for cell in cells
        for op in cell
        for kind in ("IW" if op.kind == "B" else op.kind)
    )
    for s in instance.stages_of_device[device]:
        for j in range(instance.microbatches[s]):
            for kind in "FIW":
                op = Operation(s, kind, j)
                if listed[op] != 1:
                    wrong = abs(listed[op] - 1)
                    yield Violation("operation_not_listed_once", f"orders[{device}], {op}", wrong)
            once = {kind: listed[Operation(s, kind, j)] for kind in "ROL"}
            if once["R"] > 1 or once["O"] > 1 or once["O"] != once["L"]:
                where = f"orders[{device}], {Operation(s, 'O' if once['R'] < 2 else 'R', j)}"
                yield Violation("operation_not_listed_once", where, 1)
            if once["R"] and once["O"]:
                where = f"orders[{device}], {Operation(s, 'R', j)}"
                yield Violation("recomputed_and_offloaded", where, 1)


def _broken_links(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> Iterator[Violation]:
    orders, channels = solution.link_orders, instance.channels
    if orders is None:
        return
    if len(orders) != len(channels):
        wrong = abs(len(orders) - len(channels))
        yield Violation("channel_without_order", f"link_orders of {len(channels)} channels", wrong)
        return
    sent = {channel: Counter[str]() for channel in channels}
    for s, after in enumerate(instance.next_stage):
        if after is None or instance.stages[s].device == instance.stages[after].device:
            continue
        for j in range(instance.microbatches[s]):
            sent[instance.channel(s, after)][str(Operation(s, "F", j))] += 1
            sent[instance.channel(after, s)][str(Operation(after, "I", j))] += 1
    for k, channel in enumerate(channels):
        listed = Counter(orders[k])
        wrong = (listed - sent[channel]).total() + (sent[channel] - listed).total()
        if wrong:
            where = f"link_orders[{k}], from {channel[0]} to {channel[1]}"
            yield Violation("transfer_not_listed_once", where, wrong)


def _waiting(timing: Timing) -> Iterator[Violation]:
    """Yield the step at which each device waits for ever, and how many it has left."""
    done = set(timing.order)
    for d, steps in enumerate(timing.program.devices):
        left = [step for step in steps if step not in done]
        if left:
            where = f"device {d}, {timing.program.names[left[0]]}"
            yield Violation("operations_wait_for_each_other", where, len(left))


# -- memory ------------------------------------------------------------------------------------


def memory_levels(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> list[list[Fraction]]:
    """Return the bytes that each device holds while it executes each of its cells."""
    found = []
    for cells in solution.cells:
        recomputed = {op._replace(kind="F") for cell in cells for op in cell if op.kind == "R"}
        level, levels = Fraction(0), []
        for cell in cells:
            level += sum((_taken(instance, op, op in recomputed) for op in cell), Fraction(0))
            levels.append(level)
            level -= sum((_freed(instance, op) for op in cell), Fraction(0))
        found.append(levels)
    return found


def _taken(instance: PipelineSchedulesInstance, op: Operation, recomputed: bool) -> Fraction:
    """Return the bytes that an operation takes when it starts."""
    stage = instance.stages[op.stage]
    dropped = stage.act_bytes - (stage.recompute_act_bytes or 0)
    if op.kind == "F":
        return stage.act_bytes - (dropped if recomputed else 0)
    return {"R": dropped, "L": stage.act_bytes}.get(op.kind, Fraction(0))


def _freed(instance: PipelineSchedulesInstance, op: Operation) -> Fraction:
    """Return the bytes that an operation frees when it ends."""
    stage = instance.stages[op.stage]
    a, g = stage.act_bytes, stage.weight_act_bytes
    return {"I": a - g, "W": g, "B": a, "O": a}.get(op.kind, Fraction(0))


def _overfull(
    instance: PipelineSchedulesInstance, levels: list[list[Fraction]]
) -> Iterator[Violation]:
    for d, capacity in enumerate(instance.memory_bytes or ()):
        most = max(levels[d])
        if most > capacity:
            where = f"device {d}, orders[{d}][{levels[d].index(most)}], bytes"
            yield Violation("memory_exceeded", where, most - capacity)


# -- what is idle ------------------------------------------------------------------------------


def _idle_shares(instance: PipelineSchedulesInstance, timing: Timing) -> dict[str, Number]:
    parts = idle_parts(instance, timing)
    shares = [float(sum(part) / len(parts)) for part in zip(*parts, strict=True)]
    names = ("warmup_share", "middle_share", "cooldown_share")
    return {"bubble_share": sum(shares), **dict(zip(names, shares, strict=True))}


def idle_parts(
    instance: PipelineSchedulesInstance, timing: Timing
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Return the idle shares of each device: before its first I, after its last F, and between.

    They are shares of the makespan; or of the period from the device's begin on. In this order:
    warm-up, middle, cool-down.
    """
    whole_ticks, exact_starts = window(instance, timing)
    parts = whole_ticks.denominator  # of a tick, in which all starts are whole
    whole = whole_ticks.numerator
    starts = [int(start * parts) for start in exact_starts]
    ends = [x + parts * ticks for x, ticks in zip(starts, timing.program.durations, strict=True)]
    names, found = timing.program.names, []
    for steps in timing.program.devices:
        begin = 0 if instance.objective == "makespan" else starts[steps[0]]
        first_back = next(starts[s] for s in steps if "I" in names[s] or "B" in names[s])
        last_forward = max(first_back, *(ends[s] for s in steps if "F" in names[s]))
        edges = (begin, first_back, last_forward, begin + whole)
        idle = []
        for left, right in itertools.pairwise(edges):
            busy = (min(ends[s], right) - max(starts[s], left) for s in steps)
            idle.append(Fraction(right - left - sum(x for x in busy if x > 0), whole))
        found.append((idle[0], idle[1], idle[2]))
    return found


def window(
    instance: PipelineSchedulesInstance, timing: Timing
) -> tuple[Fraction, Sequence[Fraction]]:
    """Return the objective in ticks, and starts of all steps that attain it."""
    if instance.objective == "makespan":
        return Fraction(max(map(timing.end, timing.order))), list(map(Fraction, timing.starts))
    period = period_of(timing)
    return period, starts_of_period(timing, period)
