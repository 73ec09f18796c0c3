"""SMD: exact methods and heuristics on large instances.

Run `python benchmarks/smd.py`. `used`: the optimum if used resources are charged, by columns and a
core, beside the direct model of the same columns on the same instance; `reserved`: the optimum if
reservations are charged; `heuristics`: time per job of the algorithms as instances grow. One
thread, wall-clock seconds. `limits`: incumbents where every resource has its own limit, beside
plain HiGHS under several time limits; seconds of processor time, so that other work on the machine
does not count.
"""

from __future__ import annotations

import argparse
import math
import time
from functools import partial

import numpy as np

from gadgetopt.models.smd.baselines.policies import esw, optimus
from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
    planted,
)
from gadgetopt.models.smd.heuristics.greedy import greedy
from gadgetopt.models.smd.heuristics.variants import smd_greedy
from gadgetopt.models.smd.instance import SmdInstance
from gadgetopt.models.smd.subproblems.columns import all_columns, collapsed
from gadgetopt.numbers.tolerance import Number, agrees
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

PRESETS = {"paper": paper, "independent_limits": independent_limits, "planted": planted}
HEURISTICS = {
    "SMD": lambda instance, limits: smd_greedy(instance, limits, np.random.default_rng(0)),
    "best pairs": greedy,
    "ESW": partial(esw, outer="greedy_density"),
    "Optimus": partial(optimus, outer="greedy_density"),
}


def exact_table(charging: str, instances: list[tuple[str, SmdInstance]], limits: Limits) -> None:
    print(f"\n### Optimum where what is {charging} is charged\n")
    print("| instance | jobs | columns | cg_core: s | gap | direct: s | gap | ratio of times |")
    print("|---" * 8 + "|")
    for name, instance in instances:
        document = Document(problem=problem("smd"), kind="instance", name=name, data=instance)
        result = solve(document, "cg_core", limits)
        began = time.perf_counter()
        # As arrays, which makes the direct model faster to build.
        knapsack = (all_columns(instance) if charging == "used" else collapsed(instance)).knapsack
        direct = solve_mip(knapsack, "highs", limits)
        direct_s = time.perf_counter() - began
        if direct.optimal and result.objective is not None:
            assert agrees(direct.value, result.objective)
        cells = [name, f"{len(instance.jobs):,}", f"{knapsack.num_items:,}"]
        cells += [f"{result.time_s:.1f}", gap(result.objective, result.bound)]
        cells += [f"{direct_s:.1f}", gap(direct.value, direct.bound)]
        cells += [f"{'' if direct.optimal else '>= '}{direct_s / result.time_s:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def limits_table(sizes: list[int], seeds: int, time_limits_s: list[float]) -> None:
    """Compare incumbents; a solver's time limit is wall-clock, the seconds shown are not."""
    print("\n### Independent limits, reservations charged, seconds of processor time\n")
    heads = [f"HiGHS, limit {limit:g} s: s | its gap | behind" for limit in time_limits_s]
    print("| jobs | seed | cg_core: s | gap | " + " | ".join(heads) + " |")
    print("|---" * (4 + 3 * len(heads)) + "|")
    for jobs in sizes:
        for seed in range(seeds):
            knapsack = collapsed(instance_of("independent_limits", "reserved", jobs, seed)).knapsack
            began = time.process_time()
            ours = cg_core(knapsack, Limits(time_s=min(time_limits_s)), np.random.default_rng(0))
            cells = [f"{jobs:,}", f"{seed}", f"{time.process_time() - began:.2f}"]
            cells.append(gap(ours.value, ours.bound))
            for limit in time_limits_s:
                began = time.process_time()
                plain = solve_mip(knapsack, "highs", Limits(time_s=limit))
                cells += [f"{time.process_time() - began:.1f}", gap(plain.value, plain.bound)]
                cells.append(f"{100 * (ours.value - plain.value) / ours.value:.4f} %")
            print("| " + " | ".join(cells) + " |", flush=True)


def gap(value: Number | None, bound: Number | None) -> str:
    """Return the gap in percent as text; "optimal" if it is closed."""
    if value is None or bound is None or math.isinf(value) or math.isinf(bound):
        return "no decision" if value is None or math.isinf(value) else "no bound"
    if agrees(value, bound):
        return "optimal"
    return f"{100 * float(bound - value) / max(abs(float(value)), 1e-10):.4f} %"


def heuristics_table(sizes: list[int], seed: int) -> None:
    print("\n### Heuristics, seconds and microseconds per job\n")
    print("| jobs | " + " | ".join(HEURISTICS) + " |")
    print("|---" * (len(HEURISTICS) + 1) + "|")
    for jobs in sizes:
        cells = []
        for method in HEURISTICS.values():
            # A new instance each time, because jobs cache their computed times.
            instance = paper(
                np.random.default_rng(seed), jobs=jobs, sgd_mode="mixed", cluster_units=0.2 * jobs
            )
            began = time.perf_counter()
            method(instance, Limits())
            seconds = time.perf_counter() - began
            cells.append(f"{seconds:.1f} ({1e6 * seconds / jobs:.0f})")
        print(f"| {jobs:,} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["used", "reserved", "limits", "heuristics"])
    parser.add_argument("--jobs", type=int, nargs="+", default=[200, 1000, 2000])
    parser.add_argument("--presets", nargs="+", default=list(PRESETS), choices=list(PRESETS))
    parser.add_argument("--scale", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--time-limits", type=float, nargs="+", default=[10.0, 20.0, 60.0])
    arguments = parser.parse_args()
    limits = Limits(time_s=arguments.time_limit)
    for part in arguments.parts:
        if part == "heuristics":
            heuristics_table(arguments.scale, arguments.seed)
            continue
        if part == "limits":
            limits_table(arguments.jobs, arguments.seeds, arguments.time_limits)
            continue
        instances = [
            (name, instance_of(name, part, jobs, arguments.seed))
            for name in arguments.presets
            for jobs in arguments.jobs
        ]
        exact_table(part, instances, limits)


def instance_of(name: str, charging: str, jobs: int, seed: int) -> SmdInstance:
    """Draw an instance whose cluster has a quarter of all reservations."""
    instance = PRESETS[name](np.random.default_rng(seed), jobs=jobs, charging=charging)
    total = np.sum([job.reservation_limit for job in instance.jobs], axis=0)
    return instance.model_copy(update={"capacity": tuple(np.floor(0.25 * total).tolist())})


if __name__ == "__main__":
    main()
