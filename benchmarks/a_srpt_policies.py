"""A-SRPT: mappings of single jobs, and how the simulation of policies scales.

No study measures mappings of single jobs, which are no methods, or seconds per event.

- `mappings`: the heavy-edge mappings, alone, together and improved, over the fastest mapping.
- `scale`: processor seconds of the simulation for more and more jobs and servers, per event.

Run `python benchmarks/a_srpt_policies.py [mappings scale] [--sizes 3]`. Policies are compared by
the studies `a_srpt_*.toml`.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from gadgetopt.models.a_srpt.data.generate.presets import paper
from gadgetopt.models.a_srpt.data.generate.random_jobs import random_type
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.models.a_srpt.subproblems.mapper import MAPPINGS, graph_of
from gadgetopt.system.declaration import Method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

METHODS: dict[str, Method] = {m.name: m for m in problem("a_srpt").methods}

#: Jobs and servers of eight GPUs.
SCALE = ((1_000, 32), (10_000, 256), (100_000, 1024))


def drawn(load: float, seed: int, jobs: int = 1000, servers: int = 32) -> ASrptInstance:
    return paper(np.random.default_rng(seed), jobs=jobs, servers=servers, load=load)


def mappings(_sizes: int) -> None:
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


def scale(sizes: int) -> None:
    """Print the processor seconds of simulations of more and more jobs, all types distinct."""
    print("| jobs | servers | method | events | s | us/event | ms/job |")
    print("|---|---|---|---|---|---|---|")
    for jobs, servers in SCALE[:sizes]:
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


COMMANDS = {"mappings": mappings, "scale": scale}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=[], choices=[*COMMANDS, []])
    parser.add_argument("--sizes", type=int, default=len(SCALE), help="of scale, smallest first")
    options = parser.parse_args()
    for name in options.commands or COMMANDS:
        COMMANDS[name](options.sizes)


if __name__ == "__main__":
    main()
