"""DualPipe and DualPipeV: forwards and backwards of opposite directions run as pairs."""

from __future__ import annotations

from collections import Counter

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .layout import two_ways_of, v_of
from .outcome import outcome_of


@method(kind="baseline", reference="DeepSeek-AI 2024")
def dual_pipe(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """Two pipelines of opposite directions, M / 2 microbatches each, of at least P.

    A forward and a backward run together where the instance has the pair as an overlap.
    """
    P, M = instance.num_devices, two_ways_of(instance)
    if M < P:
        raise ModelRefused(f"num_microbatches: {M}, expected at least the {P} devices")
    cells = []
    for d in range(P):
        h, ways = min(d, P - 1 - d), (d, 2 * P - 1 - d)
        near, far = ways if d < P // 2 else reversed(ways)
        cells.append(_cells(instance, h, P // 2, (near, far), M, M - P + h + 1))
    return outcome_of(instance, cells)


@method(kind="baseline", reference="Sea AI Lab and DeepSeek-AI 2025, in PyTorch")
def dual_pipe_v(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """DualPipe cut in half: the two chunks of a V in place of the directions; M at least 2 P.

    A forward and a backward run together where the instance has the pair as an overlap.
    """
    P = instance.num_devices
    _, M = v_of(instance)
    if M < 2 * P:
        raise ModelRefused(f"num_microbatches: {M}, expected at least twice the {P} devices")
    return outcome_of(
        instance,
        [_cells(instance, d, P, (d, 2 * P - 1 - d), M, M - 2 * P + d + 1) for d in range(P)],
    )


def _cells(
    instance: PipelineSchedulesInstance,
    h: int,
    half: int,
    stages: tuple[int, int],
    count: int,
    main: int,
) -> list[Cell]:
    """Return the cells of a device: its place of `half` from the outside, its stages, and M.

    Stages are those of directions 0 and 1, seen from the device; the main step is done `main`
    times.
    """
    pairs = {(pair.forward_stage, pair.backward_stage) for pair in instance.overlaps}
    done: Counter[tuple[str, int]] = Counter()
    pending: list[Operation] = []  # W's of the I's so far
    order: list[Cell] = []

    def step(kind: str, way: int) -> Operation:
        counted = "B" if kind in "IB" else kind
        j = done[counted, way]
        done[counted, way] += 1
        return Operation(stages[way], kind, j)

    def forward(way: int) -> None:
        order.append((step("F", way),))

    def backward(way: int, *, split: bool = False) -> None:
        operation = step("I" if split else "B", way)
        order.append((operation,))
        if split:
            pending.append(operation._replace(kind="W"))

    def weight() -> None:
        order.append((pending.pop(0),))

    def both(ahead: int, back: int) -> None:
        pair = (step("F", ahead), step("B", back))
        if (stages[ahead], stages[back]) in pairs:
            order.append(pair)
        else:
            order.extend((op,) for op in pair)

    middle = h == half - 1
    for _ in range(2 * (half - h - 1)):  # 1
        forward(0)
    for _ in range(h + 1):  # 2
        forward(0)
        forward(1)
    for _ in range(half - h - 1):  # 3
        backward(1, split=True)
        weight()
        forward(1)
    for n in range(main):  # 4
        if n == 0 and middle:  # what the forward sends comes back at once: the pair would wait
            forward(0)
            backward(1)
        else:
            both(0, 1)
        both(1, 0)
    for _ in range(half - h - 1):  # 5
        backward(1)
        both(1, 0)
    split, turn = False, (h + 1) // 2
    for n in range(h + 1):  # 6
        split = split or (n == turn and h % 2 == 1)
        backward(1, split=split)
        split = split or (n == turn and h % 2 == 0)
        backward(0, split=split)
    for _ in range(half - h - 1):  # 7
        weight()
        backward(0, split=True)
    for _ in range(h + 1):  # 8
        weight()
    if any(done[kind, way] != count for kind in "FB" for way in (0, 1)) or pending:
        raise AssertionError("the steps do not add up to the microbatches")
    return order
