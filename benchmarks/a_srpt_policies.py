"""A-SRPT: policies against certified bounds, on random jobs and on traces, and how they scale.

- `shapes`: total completion and flow time of each policy over the price bound, for 1,000 jobs on 32
  servers of 8 GPUs at loads 1.2 and 3; larger and tiny instances; noise in the predictions. Below,
  the shapes that the dossier saw, each with whether it comes out here.
- `mappings`: the heavy-edge mappings, alone, together and improved, over the fastest mapping.
- `traces`: ratio intervals of each policy on instances imported from traces.
- `scale`: seconds of the simulation for more and more jobs and servers, per event.

Run `python benchmarks/a_srpt.py COMMAND`; the traces lie in --traces.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.a_srpt.data.generate.presets import paper
from gadgetopt.models.a_srpt.data.generate.random_jobs import (
    random_instance,
    random_type,
)
from gadgetopt.models.a_srpt.data.importers.traces import (
    muri,
    philly,
)
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.models.a_srpt.proving.certificate.check import check_bound
from gadgetopt.models.a_srpt.subproblems.mapper import MAPPINGS, graph_of
from gadgetopt.system.declaration import Method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

METHODS: dict[str, Method] = {m.name: m for m in problem("a_srpt").methods}

#: Rows of the tables: a name, a method and its parameters.
ROWS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("FIFO", "fifo", {}),
    ("EASY", "easy", {}),
    ("SPJF", "spjf", {}),
    ("SPWF", "spwf", {}),
    ("WCS-Duration", "wcs_duration", {}),
    ("WCS-Workload", "wcs_workload", {}),
    ("WCS-SubTime", "wcs_subtime", {}),
    ("A-SRPT, no delay", "a_srpt", {"delay_factor": 0.0}),
    ("A-SRPT, tau = 1", "a_srpt", {}),
    ("A-SRPT, tau = 3", "a_srpt", {"delay_factor": 3.0}),
    ("A-SRPT, tau = 1, best_of", "a_srpt", {"mapping": "best_of"}),
    ("A-SRPT, tau = 3, best_of", "a_srpt", {"mapping": "best_of", "delay_factor": 3.0}),
    ("SPWF, best_of", "spwf", {"mapping": "best_of"}),
    ("a_srpt_workload", "a_srpt_workload", {}),
)

NOISE = (0.0, 0.2, 0.5, 1.0, 2.0)

#: Jobs and servers of eight GPUs.
SCALE = ((1_000, 32), (10_000, 256), (100_000, 1024))

TRACES: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("muri_trace1", muri),
    ("muri_trace3", muri),
    ("philly", philly),
)


def total(instance: ASrptInstance, method: str, seed: int = 0, **parameters: Any) -> float:
    """Return the total completion time of a method's schedule, in ticks."""
    outcome = METHODS[method].run(instance, Limits(), np.random.default_rng(seed), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective is not None
    return float(evaluation.objective)


def bound(instance: ASrptInstance, *methods: str) -> float:
    """Return the best value that certificates of these methods prove."""
    proved = []
    for method in methods or ("price_bound",):
        outcome = METHODS[method].run(instance, Limits(), np.random.default_rng(0))
        value = check_bound(instance, outcome.certificate)
        assert value is not None
        proved.append(float(value))
    return max(proved)


def flow(instance: ASrptInstance, completion: float) -> float:
    """Return the total flow time that belongs to a total completion time (unit weights)."""
    return completion - float(instance.release_ticks.sum())


def drawn(load: float, seed: int, jobs: int = 1000, servers: int = 32) -> ASrptInstance:
    return paper(np.random.default_rng(seed), jobs=jobs, servers=servers, load=load)


def tiny(seed: int) -> ASrptInstance:
    """Return 5 to 12 jobs on four servers of four GPUs."""
    rng = np.random.default_rng(seed)
    return random_instance(
        rng,
        jobs=int(rng.integers(5, 13)),
        servers=4,
        gpus_per_server=4,
        load=2.0,
        largest_job_gpus=8,
        fewest_iterations=100,
        most_iterations=2000,
        tick_s=60,
    )


def shapes(options: argparse.Namespace) -> None:
    """Print the tables of section 8.6 and which of its shapes come out."""
    ratio: dict[tuple[str, float, int], tuple[float, float]] = {}
    for load in (1.2, 3.0):
        for seed in range(options.seeds):
            instance = drawn(load, seed)
            low = bound(instance)
            for row, method, parameters in ROWS:
                value = total(instance, method, **parameters)
                ratio[row, load, seed] = (value / low, flow(instance, value) / flow(instance, low))

    def mean(row: str, load: float, of_flow: bool = False) -> float:
        return statistics.mean(ratio[row, load, s][of_flow] for s in range(options.seeds))

    print(f"Over the price bound, mean of {options.seeds} seeds (flow time in brackets)\n")
    print("| policy | load 1.2 | load 3 |\n|---|---|---|")
    for row, _, _ in ROWS:
        cells = [f"{mean(row, load):.3f} ({mean(row, load, True):.2f})" for load in (1.2, 3.0)]
        print(f"| {row} | {' | '.join(cells)} |")

    large = drawn(1.2, 0, jobs=5000, servers=64)
    low = bound(large)
    of_large = {row: total(large, method, **p) / low for row, method, p in ROWS}
    print("\n5000 jobs, 64 x 8 GPUs, load 1.2:")
    print("  ".join(f"{row} {value:.3f}" for row, value in of_large.items()))

    tinies = [tiny(seed) for seed in range(12)]
    best = [bound(instance, "price_bound", "server_price_bound") for instance in tinies]
    of_tiny = {
        row: statistics.mean(
            total(instance, method, **p) / low for instance, low in zip(tinies, best, strict=True)
        )
        for row, method, p in ROWS
    }
    print("\n5 to 12 jobs, 4 x 4 GPUs, mean of 12, over the better of the two price bounds:")
    print("  ".join(f"{row} {value:.3f}" for row, value in of_tiny.items()))

    noisy = drawn(2.0, 0, jobs=400, servers=16)
    print("\nTotal flow time, thousand ticks; 400 jobs, 16 x 8 GPUs, load 2, noisy predictions")
    print(f"| noise_sd | {' | '.join(map(str, NOISE))} |\n|---|{'---|' * len(NOISE)}")
    of_noise = {}
    for row, method in (
        ("A-SRPT, tau = 1", "a_srpt"),
        ("SPWF", "spwf"),
        ("a_srpt_workload", "a_srpt_workload"),
    ):
        found = []
        for sd in NOISE:
            values = [
                total(noisy, method, seed, predictor="noisy_oracle", noise_sd=sd)
                for seed in range(options.seeds)
            ]
            found.append(flow(noisy, statistics.mean(values)))
        of_noise[row] = found
        print(f"| {row} | {' | '.join(f'{value / 1000:.0f}' for value in found)} |")

    greedy = ("FIFO", "SPJF", "SPWF", "WCS-Duration", "WCS-Workload", "WCS-SubTime")
    policies = (*greedy, "A-SRPT, no delay", "A-SRPT, tau = 1", "A-SRPT, tau = 1, best_of")
    orders = {
        (load, seed): sorted(policies, key=lambda row: ratio[row, load, seed][0])
        for load in (1.2, 3.0)
        for seed in range(options.seeds)
    }

    def gain(load: float) -> bool:
        best_greedy = min(mean(row, load) for row in greedy)
        return mean("A-SRPT, no delay", load) > best_greedy > mean("A-SRPT, tau = 1", load)

    noise = of_noise["A-SRPT, tau = 1"]
    checks: Iterable[tuple[str, bool]] = (
        ("without delay A-SRPT is behind the best greedy rule, with it before", gain(1.2)),
        ("the same at load 3", gain(3.0)),
        (
            "tau = 3 is a little better than tau = 1 at both loads",
            all(mean("A-SRPT, tau = 3", x) < mean("A-SRPT, tau = 1", x) for x in (1.2, 3.0)),
        ),
        (
            "best_of helps A-SRPT and SPWF at both loads",
            all(
                mean(f"{row}, best_of", x) < mean(row, x)
                for row in ("A-SRPT, tau = 1", "SPWF")
                for x in (1.2, 3.0)
            ),
        ),
        (
            "A-SRPT with tau = 1 and best_of is before the greedy rules and plain A-SRPT, "
            "tau up to 1, on every seed",
            all(order[0] == "A-SRPT, tau = 1, best_of" for order in orders.values()),
        ),
        (
            "FIFO is the worst on every seed",
            all(order[-1] == "FIFO" for order in orders.values()),
        ),
        (
            "SPWF is the best greedy rule at both loads",
            all(min(greedy, key=lambda r: mean(r, x)) == "SPWF" for x in (1.2, 3.0)),
        ),
        (
            "5000 jobs at load 1.2: A-SRPT with tau = 1 is behind SPWF",
            of_large["A-SRPT, tau = 1"] > of_large["SPWF"],
        ),
        (
            "tiny instances: the best greedy rule is before A-SRPT",
            min(of_tiny[row] for row in greedy) < of_tiny["A-SRPT, tau = 1"],
        ),
        (
            "noise: flat (within a quarter) up to 1, then worse by more than a third",
            noise[3] < 1.25 * noise[0] and noise[4] > 4 / 3 * noise[3],
        ),
    )
    print("\n| shape | comes out |\n|---|---|")
    for text, holds in checks:
        print(f"| {text} | {'yes' if holds else 'no'} |")


def mappings(options: argparse.Namespace) -> None:
    """Print ratios of the mappings to the fastest one, on fragmented servers."""
    rng = np.random.default_rng(0)
    instance = drawn(1.2, 0, jobs=1)
    intra, inter = instance.intra_bandwidth_gbytes_per_s, instance.inter_bandwidth_gbytes_per_s
    found: dict[str, list[float]] = {name: [] for name in MAPPINGS}
    spent = dict.fromkeys(MAPPINGS, 0.0)
    while len(found["exact"]) < 60:
        job_type = random_type(rng, 56)
        if len(job_type.replicas) < 2:
            continue
        times = mapping_times(job_type, intra, inter)
        graph = graph_of(job_type)
        capacities: list[int] = []
        while sum(capacities) < graph.num_gpus:
            capacities.append(int(rng.integers(1, 8)))
        if max(capacities) >= graph.num_gpus:
            continue
        optimum = fastest_mapping(times, capacities)
        if not optimum.proven:
            continue
        for name, rule in MAPPINGS.items():
            begin = time.perf_counter()
            units = times.units(sparse(rule(graph, times, capacities)))
            spent[name] += time.perf_counter() - begin
            found[name].append(units / optimum.units)
    print("60 random jobs on fragmented servers, iteration time over the optimum\n")
    print("| mapping | mean | median | worst | optimal | ms |\n|---|---|---|---|---|---|")
    for name, ratios in found.items():
        optimal = sum(r == 1 for r in ratios) / len(ratios)
        print(
            f"| `{name}` | {statistics.mean(ratios):.2f} | {statistics.median(ratios):.2f} | "
            f"{max(ratios):.1f} | {optimal:.0%} | {1000 * spent[name] / len(ratios):.1f} |"
        )


def traces(options: argparse.Namespace) -> None:
    """Print ratio intervals on instances imported from traces."""
    for name, read in TRACES:
        for load in (1.2, 3.0):
            path = options.traces / f"{name}.csv"
            ((_, instance),) = read([path], np.random.default_rng(0), load=load).instances
            begin = time.perf_counter()
            low = bound(instance, "price_bound", "server_price_bound")
            seconds = time.perf_counter() - begin
            values = {row: total(instance, method, **p) for row, method, p in ROWS}
            values["price_guided (offline)"] = total(instance, "price_guided")
            high = min(values.values())
            print(
                f"\n{name}, {len(instance.jobs)} jobs, 32 x 8 GPUs, load {load}: "
                f"bound {low:,.0f} ({seconds:.0f} s), best schedule {high:,.0f}\n"
            )
            print("| policy | completion time | width | flow time |\n|---|---|---|---|")
            flow_low, flow_high = flow(instance, low), flow(instance, high)
            for row, value in values.items():
                of_flow = flow(instance, value)
                print(
                    f"| {row} | {value / high:.3f} - {value / low:.3f} | "
                    f"{value / low - value / high:.3f} | "
                    f"{of_flow / flow_high:.3f} - {of_flow / flow_low:.3f} |"
                )


def scale(options: argparse.Namespace) -> None:
    """Print the processor seconds of simulations of more and more jobs, all types distinct."""
    print("| jobs | servers | method | events | s | us/event | ms/job |")
    print("|---|---|---|---|---|---|---|")
    for jobs, servers in SCALE[: options.sizes]:
        instance = drawn(1.2, 0, jobs=jobs, servers=servers)
        for method in ("a_srpt", "a_srpt_workload", "spwf", "wcs_duration", "fifo"):
            begin = time.process_time()
            outcome = METHODS[method].run(instance, Limits(), np.random.default_rng(0))
            seconds = time.process_time() - begin
            events = outcome.notes["events"]
            print(
                f"| {jobs:,} | {servers:,} | `{method}` | {events:,} | {seconds:.2f} | "
                f"{1e6 * seconds / events:.0f} | {1000 * seconds / jobs:.2f} |",
                flush=True,
            )
            if method == "a_srpt":
                assert evaluate(instance, outcome.solution).feasible


COMMANDS = {"shapes": shapes, "mappings": mappings, "traces": traces, "scale": scale}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of these commands."""
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, default=len(SCALE), help="of scale, smallest first")
    parser.add_argument(
        "--traces", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "traces"
    )
