"""What heads and tails of single devices (B6) add to the bounds by formulas (B1) to (B5).

No study compares one formula with the others, or counts passes.

- `random`: small random instances that `close_gap` closes: on how many the largest of (B1) to (B5)
  is the optimum, and on how many with (B6); the mean optimum over bound, and no bound above;
- `passes`: the sum of (B6) over the same instances, by how often heads and tails are raised;
- `time`: processor time of (B6) for one begin, by the size of the pipeline.

Run `python benchmarks/pipeline_schedules_bounds.py [random passes time] [--count 100]`.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from gadgetopt.models.pipeline_schedules import heads_tails
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.instance import PipelineSchedulesInstance, Route, Stage
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import all_bounds, machine_bounds
from gadgetopt.models.pipeline_schedules.proving.exact.close_gap import close_gap
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.result import Limits

KINDS = ("one stage a device", "two chunks, loop", "two chunks, V", "two directions")
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
    print("| stages, objective | closed | B1 to B5 | with B6 | optimum / B1 to B5 | with B6 |")
    print("|---|---:|---:|---:|---:|---:|")
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
                assert after <= optimum, instance
                rows.append((optimum / before, optimum / after))
            tight = [sum(row[n] == 1 for row in rows) for n in range(2)]
            means = [f"{float(sum(row[n] for row in rows) / len(rows)):.4f}" for n in range(2)]
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


def times(count: int) -> None:
    """Print processor time of one begin."""
    print("| devices, microbatches, chunks | operations | s |")
    print("|---|---:|---:|")
    for devices, microbatches, chunks in SIZES:
        instance = equal(
            np.random.default_rng(0),
            devices=devices,
            microbatches=microbatches,
            chunks=chunks,
            objective="period",
        )
        shop, start = shop_of(instance), time.process_time()
        known = heads_tails.HeadsTails(shop, 0)
        for device in range(devices):
            known.bound(device)
        took = time.process_time() - start
        operations = 3 * devices * microbatches * chunks
        print(f"| {devices}, {microbatches}, {chunks} | {operations} | {took:.2f} |", flush=True)


TABLES = {"random": random, "passes": passes, "time": times}


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
