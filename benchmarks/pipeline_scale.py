"""Large pipelines: processor time of SPP by layers and GPUs, and of schedules by blocks.

No study measures single functions and a recurrence without shortcuts.

Two tables, one thread:

- `plans`: SPP on random chains (preset `paper`) and, where its profile is at hand, on ResNet-50;
  beside it the recurrence (S7) with its loop over l, l' as one array operation, for few GPUs;
- `schedules`: PE with its simulation, and the event queue, up to a million blocks.

Run `python benchmarks/pipeline_scale.py [plans schedules] [--resnet50 graph.txt]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gadgetopt.models.spp.algorithms.block_costs import BlockCosts
from gadgetopt.models.spp.algorithms.device_order import rdo_order
from gadgetopt.models.spp.algorithms.prm import Prm
from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.data.generate.presets import paper
from gadgetopt.models.spp.data.importers.profiles import pipedream_profile
from gadgetopt.models.spp.instance import SppInstance
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.pipeline.dispatch import dispatch
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import Shop, shop_of_times
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.system.result import Limits

#: Layers, machines of eight GPUs, microbatches.
RANDOM = ((36, 2, 16), (158, 2, 32), (158, 4, 32), (500, 4, 32), (1000, 8, 64))
#: GPUs up to which the recurrence is also computed without our shortcuts.
MOST_PLAIN = 16
#: Stages and microbatches.
BLOCKS = ((8, 334), (8, 3334), (8, 33_334), (32, 7937), (64, 3938))


def plans(resnet50: Path | None) -> None:
    """Print seconds of SPP."""
    print(
        "| layers | GPUs | M | SPP, s | states | all states, s | recurrence without shortcuts, s |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, instance in _instances(resnet50):
        start = time.process_time()
        found = spp(instance, Limits())
        took = time.process_time() - start
        few = instance.num_gpus <= MOST_PLAIN
        every = f"{_seconds_of(_all_states, instance):.2f}" if instance.num_gpus <= 32 else ""
        plain = f"{_seconds_of(_plain, instance):.2f}" if few else ""
        print(
            f"| {name} | {instance.num_gpus} | {instance.num_microbatches} | {took:.2f} | "
            f"{found.notes['states']:,} | {every} | {plain} |",
            flush=True,
        )


def schedules() -> None:
    """Print seconds of PE and of the event queue."""
    print("| stages | M | blocks | PE, s | microseconds a block | event queue, s | microseconds |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for stages, M in BLOCKS:
        shop = _shop(stages, M)
        blocks = 2 * M * shop.num_machines
        start = time.process_time()
        simulate(shop, round_orders(shop))
        middle = time.process_time()
        dispatch(shop, [None] * shop.num_machines)
        end = time.process_time()
        print(
            f"| {stages} | {M:,} | {blocks:,} | {middle - start:.2f} | "
            f"{(middle - start) / blocks * 1e6:.2f} | {end - middle:.2f} | "
            f"{(end - middle) / blocks * 1e6:.2f} |",
            flush=True,
        )


def _instances(resnet50: Path | None) -> Iterator[tuple[str, SppInstance]]:
    for layers, machines, M in RANDOM:
        rng = np.random.default_rng(layers)
        drawn = paper(rng, layers=layers, machines=machines, gpus_per_machine=8, microbatches=M)
        yield f"{layers} random", drawn
    if resnet50 is not None and resnet50.exists():
        for cluster in ("4x4", "4x8"):
            options = {"cluster": cluster, "microbatches": 32}
            outcome = pipedream_profile([resnet50], np.random.default_rng(0), **options)
            instance = outcome.instances[0][1]
            assert isinstance(instance, SppInstance)
            yield f"{instance.num_layers}, ResNet-50", instance


def _seconds_of(run: object, instance: SppInstance) -> float:
    assert callable(run)
    start = time.process_time()
    run(instance)
    return time.process_time() - start


def _all_states(instance: SppInstance) -> None:
    """PRM for all numbers of stages without a known makespan."""
    prm = Prm(BlockCosts(instance, rdo_order(instance)))
    for _ in range(2, instance.most_stages + 1):
        prm.extend()


def _plain(instance: SppInstance) -> None:
    """(S7) with the loops over i, r and r', and l, l' in one array operation."""
    costs = BlockCosts(instance, rdo_order(instance))
    L, V = costs.num_layers, costs.num_gpus
    start, end = np.arange(L + 1)[:, None], np.arange(L + 1)[None, :]
    empty = start >= end
    W: dict[tuple[int, int], Floats] = {}
    for i in range(1, V + 1):
        W[i, i] = np.where(empty, np.inf, costs.stage_s(i, i, start, end))[0]
    for _ in range(2, instance.most_stages + 1):
        after: dict[tuple[int, int], Floats] = {}
        for i in range(2, V + 1):
            for r in range(1, i):
                stage = np.where(empty, np.inf, costs.stage_s(i, r, start, end))
                channel = costs.channel_s(i, r, i - r, slice(None))
                best = np.full(L + 1, np.inf)
                for before in range(1, i - r + 1):
                    if (i - r, before) in W:
                        known = np.maximum(W[i - r, before], channel[before - 1])
                        np.minimum(best, np.maximum(known[:, None], stage).min(axis=0), out=best)
                after[i, r] = best
        W = after


def _shop(stages: int, M: int) -> Shop:
    rng = np.random.default_rng(stages)
    f = rng.integers(50, 150, size=2 * stages - 1).tolist()
    b = rng.integers(100, 300, size=2 * stages - 1).tolist()
    return shop_of_times(f, b, [0] * (2 * stages - 1), M)


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["plans", "schedules"])
    parser.add_argument("--resnet50", type=Path)
    asked = parser.parse_args()
    if "plans" in asked.tables:
        plans(asked.resnet50)
        print()
    if "schedules" in asked.tables:
        schedules()


if __name__ == "__main__":
    main()
