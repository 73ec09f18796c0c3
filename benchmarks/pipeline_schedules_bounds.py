"""What heads and tails (B6) and contradictions (B7) add to the bounds by formulas (B1) to (B5).

No study compares one formula with the others, or counts passes.

- `random`: small random instances that `close_gap` closes: on how many the largest of (B1) to (B5)
  is the optimum, and on how many with (B6) and (B7); the mean optimum over bound, and no bound
  above;
- `passes`: the sum of (B6) over the same instances, by how often heads and tails are raised;
- `rounds`: the sum of (B7) over two chunks a device, by how often it draws conclusions at most;
- `time`: processor time of (B6) and of a length that (B7) does not refute, for one begin, by the
  size of the pipeline.

Run `python benchmarks/pipeline_schedules_bounds.py [random passes rounds time] [--count 100]`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from fractions import Fraction

import numpy as np

from gadgetopt.models.pipeline_schedules import contradiction, heads_tails
from gadgetopt.models.pipeline_schedules.data.generate.presets import Aim, Placement, equal
from gadgetopt.models.pipeline_schedules.instance import PipelineSchedulesInstance, Route, Stage
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import (
    all_bounds,
    contradictions,
    machine_bounds,
)
from gadgetopt.models.pipeline_schedules.proving.exact.close_gap import close_gap
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.result import Limits

KINDS = ("one stage a device", "two chunks, loop", "two chunks, V", "two directions")
PLACEMENTS: tuple[Placement, ...] = ("v", "loop")
AIMS: tuple[Aim, ...] = ("makespan", "period")
#: Devices, microbatches and chunks.
SIZES = ((4, 8, 2), (4, 16, 2), (8, 24, 2), (8, 32, 1), (16, 48, 1))


def drawn(rng: np.random.Generator, kind: str, objective: str) -> PipelineSchedulesInstance:
    """Return an instance of 2 or 3 devices, 2 to 4 microbatches and times of 1 to 6."""
    devices, microbatches = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    chunks = 2 if kind.startswith("two chunks") else 1
    transfer = Fraction(int(rng.integers(0, 3)))
    forward = list(range(devices)) * chunks
    if kind == "two chunks, V":
        forward[devices:] = reversed(range(devices))

    def route(places: list[int]) -> Route:
        stages = tuple(
            Stage(
                device=d,
                fwd_s=Fraction(int(rng.integers(1, 7))),
                input_grad_s=Fraction(int(rng.integers(1, 7))),
                weight_grad_s=Fraction(int(rng.integers(1, 7))),
                transfer_s=transfer if n + 1 < len(places) else Fraction(0),
                act_bytes=Fraction(1),
                weight_act_bytes=Fraction(int(rng.integers(0, 2))),
            )
            for n, d in enumerate(places)
        )
        return Route(num_microbatches=microbatches, stages=stages)

    routes = [route(forward)]
    if kind == "two directions":
        routes.append(route(forward[::-1]))
    room = int(rng.integers(2 * chunks, 2 * devices * chunks + 1)) + (kind == "two directions")
    return PipelineSchedulesInstance(
        num_devices=devices,
        routes=tuple(routes),
        objective="period" if objective == "period" else "makespan",
        memory_bytes=(Fraction(room),) * devices,
    )


def random(count: int) -> None:
    """Print how often the bounds are the optimum."""
    named = ("B1 to B5", "with B6", "with B7")
    ratios = [f"optimum / {name}" for name in named]
    print("| " + " | ".join(("stages, objective", "closed", *named, *ratios)) + " |")
    print("|---" + 7 * "|---:" + "|")
    for kind in KINDS:
        for objective in ("makespan", "period"):
            rng, rows = np.random.default_rng(0), []
            for _ in range(count):
                instance = drawn(rng, kind, objective)
                found = close_gap(instance, Limits(time_s=20), fixed_rng())
                value = found.claimed_objective
                if value is None or found.limit_hit is not None:
                    continue
                shop = shop_of(instance)
                optimum = Fraction(value) * instance.ticks_per_s
                before = max(ticks for ticks, _ in all_bounds(shop))
                after = max(before, *(ticks for ticks, _ in machine_bounds(shop)))
                refuted = contradictions(shop, after + 1, shop.horizon, Clock())
                most = max([after, *(ticks for ticks, _ in refuted)])
                assert most <= optimum, instance
                rows.append((optimum / before, optimum / after, optimum / most))
            tight = [sum(row[n] == 1 for row in rows) for n in range(3)]
            means = [f"{float(sum(row[n] for row in rows) / len(rows)):.4f}" for n in range(3)]
            cells = [f"{kind}, {objective}", len(rows), *tight, *means]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def passes(count: int) -> None:
    """Print the sum of the bounds after some passes."""
    print("| passes | sum of B6 |")
    print("|---:|---:|")
    for number in (1, 2, 3, 4, 6):
        heads_tails.PASSES, total = number, 0
        for kind in KINDS:
            rng = np.random.default_rng(0)
            for _ in range(count):
                shop = shop_of(drawn(rng, kind, "period"))
                total += max((ticks for ticks, _ in machine_bounds(shop)), default=0)
        print(f"| {number} | {total} |", flush=True)


def rounds(count: int) -> None:
    """Print the sum of (B7) of four devices with two chunks, after some rounds."""
    print("| rounds | sum of B7 |")
    print("|---:|---:|")
    for number in (5, 10, 20, 50, 100, 200):
        contradiction.ROUNDS, total = number, 0
        for placement, objective, memory in itertools.product(PLACEMENTS, AIMS, (8, 9, 14)):
            shop = shop_of(two_chunks(placement, objective, memory))
            known = max(ticks for ticks, _ in all_bounds(shop))
            refuted = contradictions(shop, known + 1, 7100, Clock())
            total += max([known, *(ticks for ticks, _ in refuted)])
        print(f"| {number} | {total} |", flush=True)


def two_chunks(placement: Placement, objective: Aim, memory: int) -> PipelineSchedulesInstance:
    """Return an instance of `pipeline_schedules_chunks.toml`."""
    return equal(
        np.random.default_rng(0),
        devices=4,
        microbatches=8,
        chunks=2,
        placement=placement,
        forward_us=149,
        input_grad_us=147,
        weight_grad_us=100,
        transfer_us=5,
        in_flight=memory,
        objective=objective,
    )


def times(count: int) -> None:
    """Print processor time of one begin."""
    print("| devices, microbatches, chunks | operations | B6, s | B7, s |")
    print("|---|---:|---:|---:|")
    for devices, microbatches, chunks in SIZES:
        instance = equal(
            np.random.default_rng(0),
            devices=devices,
            microbatches=microbatches,
            chunks=chunks,
            objective="period",
        )
        shop, start = shop_of(instance), time.process_time()
        machines = heads_tails.HeadsTails(shop, 0)
        for device in range(devices):
            machines.bound(device)
        took = time.process_time() - start
        start = time.process_time()
        known = max(ticks for ticks, _ in all_bounds(shop))
        contradiction.is_refuted(shop, known + known // 100, 0)
        row = [f"{devices}, {microbatches}, {chunks}", str(3 * devices * microbatches * chunks)]
        row += [f"{took:.2f}", f"{time.process_time() - start:.2f}"]
        print("| " + " | ".join(row) + " |", flush=True)


TABLES = {"random": random, "passes": passes, "rounds": rounds, "time": times}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--count", type=int, default=100, help="instances of each kind")
    args = parser.parse_args()
    for name in args.tables or TABLES:
        TABLES[name](args.count)


if __name__ == "__main__":
    main()
