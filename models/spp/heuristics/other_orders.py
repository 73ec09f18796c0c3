"""SPP on other orders of the GPUs than RDO's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.block_costs import bandwidth_matrix
from ..algorithms.spp import best_of_orders
from ..instance import SppInstance

#: Most GPUs of which all orders are tried. Tuned: `benchmarks/constants.py`.
MOST_PERMUTED = 8

Order = Literal["natural", "list", "best_of_all"]


@method(kind="heuristic", reference="SPP, another order of the GPUs (reconstructed)")
def spp_order(
    instance: SppInstance,
    limits: Limits,
    *,
    order: Order = "natural",
    gpu_order: str = "",
) -> MethodOutcome:
    """SPP on the GPUs in another order than by recursive device ordering.

    Parameters
    ----------
    order : "natural", "list" or "best_of_all", default "natural"
        As numbered; `gpu_order`; or every one, for at most eight GPUs.
    gpu_order : str
        GPUs separated by commas.

    Raises
    ------
    ModelRefused
        If a list is not one of all GPUs, or there are too many GPUs for all orders.
    """
    return best_of_orders(instance, limits, device_orders(instance, order, gpu_order))


def device_orders(
    instance: SppInstance, order: Order, gpu_order: str = ""
) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the GPUs that a choice stands for, no two with the same links.

    Raises
    ------
    ModelRefused
        If a list is not one of all GPUs, or there are too many GPUs for all orders.
    """
    V, b = instance.num_gpus, bandwidth_matrix(instance)
    if order == "natural":
        yield tuple(range(V))
    elif order == "list":
        yield _listed(gpu_order, V)
    elif V > MOST_PERMUTED:
        raise ModelRefused(f"order: 'best_of_all' for {V} GPUs, expected at most {MOST_PERMUTED}")
    else:
        seen = set()
        speeds = instance.cluster.gpu_speeds
        for gpus in itertools.permutations(range(V)):
            key = (b[np.ix_(gpus, gpus)].tobytes(), tuple(speeds[v] for v in gpus))
            if key not in seen:
                seen.add(key)
                yield gpus


def _listed(text: str, num_gpus: int) -> tuple[int, ...]:
    cells = [cell.strip() for cell in text.split(",")]
    gpus = [int(cell) for cell in cells if cell.isdecimal()]
    if len(gpus) != len(cells) or sorted(gpus) != list(range(num_gpus)):
        raise ModelRefused(f"gpu_order: {text!r}, expected the GPUs 0 to {num_gpus - 1}, each once")
    return tuple(gpus)
