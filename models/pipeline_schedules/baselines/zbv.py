"""ZBV: two chunks a device in a V, split backward, the memory of 1F1B."""

from __future__ import annotations

from collections import Counter

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .layout import v_of
from .outcome import outcome_of


@method(kind="baseline", reference="Qi et al. 2024, in PyTorch")
def zbv(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """The V schedule of zero bubble: none idles if F, I and W take as long."""
    P = instance.num_devices
    _, M = v_of(instance)
    return outcome_of(instance, [_cells(d, P, M) for d in range(P)])


def _cells(d: int, P: int, M: int) -> list[Cell]:
    """Return the cells of device d, step by step; what is beyond M is left out."""
    all_of_them, stages = max(2 * P - 1, M), (d, 2 * P - 1 - d)
    done: Counter[tuple[str, int]] = Counter()
    order: list[Cell] = []

    def run(*steps: tuple[str, int]) -> None:
        for kind, chunk in steps:
            if (j := done[kind, chunk]) < M:
                order.append((Operation(stages[chunk], kind, j),))
            done[kind, chunk] += 1

    F0, F1, I0, I1, W0, W1 = (("F", 0), ("F", 1), ("I", 0), ("I", 1), ("W", 0), ("W", 1))
    for _ in range(2 * (P - d) - 1):  # warm-up 1
        run(F0)
    for _ in range(d):  # warm-up 2
        run(F1, F0)
    for _ in range(P - d):  # warm-up 3
        run(F1, I1, W1)
    while done[F1] < done[F0] or done[F0] < all_of_them:  # steady state
        if done[F0] < all_of_them:
            run(F0)
        run(I0, W0, F1, I1, W1)
    for _ in range(d):  # cool-down 1
        run(I0, I1)
    for _ in range(P - d):  # cool-down 2
        run(I0, W0)
    while done[W1] < done[I1]:
        run(W1)
    while done[W0] < done[I0]:
        run(W0)
    return order
