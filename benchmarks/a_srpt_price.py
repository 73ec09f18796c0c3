"""A-SRPT: price bounds at scale, and what prices of parts of servers close.

No study measures the check of a certificate by itself, or draws jobs of given sizes.

Run `python benchmarks/a_srpt_price.py [servers scale]`.

`servers`: jobs of one stage with sizes that do not divide eight, or that do. The gap between the
best schedule and the bound, by prices of GPU-time (B5) and by prices of parts of servers, on
completion times and in brackets on flow times; seconds for each bound.

`scale`: recurring jobs at three times the cluster's capacity; seconds to find prices and to check
their certificate in whole numbers, and what the bound adds to B0 and to B2.

One thread; wall-clock seconds. Ratios on traces are those of `a_srpt_traces.toml`.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.presets import recurring
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType
from gadgetopt.models.a_srpt.proving.bounds.price import price_bound
from gadgetopt.models.a_srpt.proving.bounds.price_guided import price_guided
from gadgetopt.models.a_srpt.proving.bounds.server_price import server_price_bound
from gadgetopt.models.a_srpt.proving.certificate.check import check_bound
from gadgetopt.models.a_srpt.relaxations import busy_time_bound, pool_of, release_bound
from gadgetopt.system.result import Limits, MethodOutcome

#: Sizes of jobs, and loads, of `servers`.
FAMILIES = {
    "5": (5,),
    "3": (3,),
    "3, 5": (3, 5),
    "6, 2, 1": (6, 2, 1),
    "1, 2, 3, 5, 6, 7": (1, 2, 3, 5, 6, 7),
    "1, 2, 4, 8": (1, 2, 4, 8),
}
SERVER_LOADS = (0.5, 1.0, 1.5)
#: Jobs and servers of eight GPUs of `scale`.
SIZES = ((1_000, 32), (10_000, 128), (100_000, 1_024))


def value(instance: ASrptInstance, outcome: MethodOutcome) -> float:
    """Return the value of a feasible schedule."""
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return float(evaluation.objective)


def released(instance: ASrptInstance) -> float:
    """Return what total flow time is less than total completion time."""
    return float(sum(job.weight * job.release_tick for job in instance.jobs))


def servers() -> None:
    """Print what prices of parts of servers close, by sizes of jobs and load."""
    print("| sizes of jobs | load | B5 | prices of parts | gap closed | s B5 | s parts |")
    print("|---|---|---|---|---|---|---|")
    for name, sizes in FAMILIES.items():
        for load in SERVER_LOADS:
            instance = fragmented(sizes, load, np.random.default_rng(0))
            rng = np.random.default_rng(0)
            schedules = [
                price_guided(instance, Limits(), rng),
                a_srpt(instance, Limits(), rng, mapping="best_of"),
                a_srpt(instance, Limits(), rng, mapping="best_of", delay_factor=3.0),
            ]
            best = min(value(instance, outcome) for outcome in schedules)
            less = released(instance)
            cells, gaps, seconds = [], [], []
            for method in (price_bound, server_price_bound):
                started = time.perf_counter()
                outcome = method(instance, Limits())
                seconds.append(f"{time.perf_counter() - started:.1f}")
                bound = float(check_bound(instance, outcome.certificate))
                gaps.append(best - bound)
                flow = (best - less) / (bound - less) - 1
                cells.append(f"{best / bound - 1:.2%} ({flow:.1%})")
            closed = 1 - gaps[1] / gaps[0] if gaps[0] else 0.0
            row = [name, str(load), *cells, f"{closed:.0%}", *seconds]
            print(f"| {' | '.join(row)} |", flush=True)


def fragmented(sizes: tuple[int, ...], load: float, rng: np.random.Generator) -> ASrptInstance:
    """Return 200 jobs of these sizes on 8 servers of 8 GPUs; split, they take twice as long."""
    types = tuple(
        JobType(replicas=(g,), stage_time_s=(Fraction(1, 2),), gradient_gbytes=(Fraction(3, 5),))
        for g in sizes
    )
    kinds = rng.integers(0, len(sizes), 200)
    iterations = np.exp(rng.uniform(np.log(50), np.log(5000), 200)).astype(int)
    batch = ASrptInstance(
        gpus_per_server=(8,) * 8,
        intra_bandwidth_gbytes_per_s=Fraction(75, 2),
        nic_bandwidth_gbytes_per_s=Fraction(25, 2),
        tick_s=Fraction(10),
        job_types=types,
        jobs=tuple(
            Job(job_type=int(k), num_iterations=int(n))
            for k, n in zip(kinds, iterations, strict=True)
        ),
    )
    span = float(batch.gpus @ batch.min_ticks) / (64 * load)
    releases = np.sort(rng.uniform(0, span, 200)).astype(int)
    jobs = tuple(
        job.model_copy(update={"release_tick": int(r)})
        for job, r in zip(batch.jobs, releases, strict=True)
    )
    return batch.model_copy(update={"jobs": jobs})


def scale() -> None:
    """Print seconds of the price bound and of its check, by size."""
    print("| jobs | GPUs | intervals | s to find | s to check | bound / B0 | bound / B2 |")
    print("|---|---|---|---|---|---|---|")
    for jobs, count in SIZES:
        instance = recurring(np.random.default_rng(0), jobs=jobs, servers=count, load=3.0)
        pool = pool_of(instance)
        started = time.perf_counter()
        outcome = price_bound(instance, Limits())
        found = time.perf_counter() - started
        started = time.perf_counter()
        bound = check_bound(instance, outcome.certificate)
        checked = time.perf_counter() - started
        print(
            f"| {jobs:,} | {instance.total_gpus:,} "
            f"| {len(outcome.certificate.proof.prices)} | {found:.1f} | {checked:.1f} "
            f"| {float(bound / release_bound(pool)):.4f} "
            f"| {float(bound / busy_time_bound(pool)):.4f} |",
            flush=True,
        )


TABLES = {"servers": servers, "scale": scale}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tables", nargs="*", default=[], choices=[*TABLES, []])
    for name in parser.parse_args().tables or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
