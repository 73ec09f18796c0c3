"""BGL's partition: exact methods, the partitioner at scale, ratios and bounds.

Tables of random instances, solved in this process on one thread, everything of a table in one run:

- `exact`: the default method, and branch and cut, beside plain CP-SAT and plain HiGHS on planted
  partitions;
- `bounds`: lower bounds over optima, and the seconds that they take;
- `ratios`: BGL's partitioner, its knobs and the baselines over the optimum or the best bound;
- `scale`: BGL's partitioner on a graph of a million nodes and ten million edges, time and memory.

Run `python benchmarks/bgl.py partition [exact bounds ratios scale] [--time-limit 20] [--seeds 2]`.
The cache and the resources have scripts of their own.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gadgetopt.models.bgl.partition.algorithms.bgl import bgl_parts
from gadgetopt.models.bgl.partition.data.generate import presets
from gadgetopt.models.bgl.partition.graph import Graph
from gadgetopt.models.bgl.partition.instance import BglPartitionInstance
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

PROBLEM = problem("bgl_partition")

#: Name, parameters of the preset `planted`, and the time limit over the script's.
EXACT: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("60, k = 2", {"nodes": 60, "inside": 5.0, "outside": 1.0, "train_share": 0.3}, 1),
    (
        "60, k = 2, three hops",
        {"nodes": 60, "inside": 5.0, "outside": 1.0, "train_share": 0.3, "fanouts": "5,5,5"},
        1,
    ),
    ("120, k = 2", {"nodes": 120, "train_share": 0.25}, 1),
    (
        "120, k = 2, clear communities",
        {"nodes": 120, "inside": 5.0, "outside": 0.3, "train_share": 0.25},
        1,
    ),
    ("64, k = 4", {"nodes": 64, "parts": 4, "inside": 4.0, "outside": 1.5, "train_share": 0.25}, 1),
    (
        "64, k = 4, clear communities",
        {"nodes": 64, "parts": 4, "inside": 5.0, "outside": 0.6, "train_share": 0.25},
        1,
    ),
    ("300, k = 2", {"nodes": 300, "inside": 4.0, "outside": 0.5}, 1),
    ("300, k = 2, unclear communities", {"nodes": 300}, 4),
)
CONTENDERS = ("elimination", "branch_and_cut", "cp_clauses", "difference@highs")
BOUNDS = (
    "stars",
    "isolating_cuts",
    "eigenvalue",
    "cut_bound",
    "semidefinite",
    "elimination_bound",
    "difference_lp@highs",
    "both_lp@highs",
)
HEURISTICS = (
    "bgl",
    "bgl:order=size",
    "bgl:refine=true",
    "random",
    "hash",
    "ldg",
    "fennel",
    "metis_like",
    "metis",
    "pagraph",
    "multi_start",
    "annealing",
)
RATIOS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("planted, 120 on 2", "planted", {}),
    ("planted, 64 on 4", "quickstart", {}),
    ("geometric, 300 on 2", "geometric", {"nodes": 300, "radius": 0.1, "parts": 2}),
    (
        "power law, 200 on 2",
        "powerlaw_cluster",
        {"nodes": 200, "edges_per_node": 2, "parts": 2, "train_share": 0.1},
    ),
)


def drawn(preset: str, parameters: dict[str, Any], seed: int) -> BglPartitionInstance:
    """Return an instance of a preset."""
    made: BglPartitionInstance = getattr(presets, preset)(np.random.default_rng(seed), **parameters)
    return made


def run(instance: BglPartitionInstance, method: str, time_s: float, seed: int = 0) -> Result:
    """Run a method on an instance."""
    document = Document(PROBLEM, "instance", "benchmark", instance)
    return solve(document, method, Limits(time_s=time_s), seed=seed)


def exact(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the rows of the exact methods."""
    yield "| nodes | pairs | method | closed | of these certified | mean s | longest s | mean gap |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    warm = drawn("quickstart", {"nodes": 16, "parts": 2}, 0)
    for method in CONTENDERS:
        run(warm, method, 5)
    for name, parameters, longer in EXACT:
        instances = [drawn("planted", parameters, seed) for seed in range(seeds)]
        for instance in instances:
            _ = instance.pair_weights
        pairs = ", ".join(str(len(i.pair_weights)) for i in instances)
        for method in CONTENDERS:
            found = [run(instance, method, longer * time_s) for instance in instances]
            closed = [r for r in found if r.status == "optimal"]
            certified = sum(str(r.bound_voucher) == "verified" for r in closed)
            seconds = [r.time_s for r in found]
            gap = sum(r.gap if r.gap is not None else 1.0 for r in found) / len(found)
            yield (
                f"| {name} | {pairs} | `{method}` | {len(closed)} of {len(found)} | {certified} | "
                f"{sum(seconds) / len(seconds):.2f} | {max(seconds):.2f} | {100 * gap:.1f} % |"
            )


def bounds(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the rows of the bounds, as shares of the optimum."""
    yield "| nodes | " + " | ".join(f"`{b}`" for b in BOUNDS) + " |"
    yield "|---|" + "---:|" * len(BOUNDS)
    for name, parameters, _ in EXACT[:-2]:
        cells: list[list[tuple[float, float]]] = [[] for _ in BOUNDS]
        for seed in range(seeds):
            instance = drawn("planted", parameters, seed)
            best = run(instance, "elimination", time_s)
            if best.status != "optimal" or not best.objective:
                continue
            for cell, method in zip(cells, BOUNDS, strict=True):
                found = run(instance, method, time_s)
                bound = float(found.bound) if found.bound is not None else 0.0
                cell.append((bound / float(best.objective), found.time_s))
        shown = [
            f"{100 * sum(r for r, _ in c) / len(c):.0f} %, {sum(s for _, s in c) / len(c):.2f} s"
            if c
            else ""
            for c in cells
        ]
        yield f"| {name} | " + " | ".join(shown) + " |"


def ratios(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the rows of the heuristics: mean and worst ratio over seeds."""
    yield "| method | " + " | ".join(name for name, *_ in RATIOS) + " |"
    yield "|---|" + "---:|" * len(RATIOS)
    cases = []
    for _, preset, parameters in RATIOS:
        instance = drawn(preset, parameters, 1)
        best = run(instance, "elimination", time_s)
        semidefinite = run(instance, "eigenvalue", time_s)
        known = [float(r.bound) for r in (best, semidefinite) if r.bound is not None]
        cases.append((instance, max(known), best))
    for method in HEURISTICS:
        cells = []
        for instance, bound, _ in cases:
            found = [run(instance, method, time_s, seed) for seed in range(seeds)]
            costs = [float(r.objective) for r in found if r.objective is not None]
            if not costs or bound <= 0:
                cells.append("")
                continue
            shares = [cost / bound for cost in costs]
            cells.append(f"{sum(shares) / len(shares):.2f}, {max(shares):.2f}")
        yield f"| `{method}` | " + " | ".join(cells) + " |"
    shown = [
        "optimum" if best.status == "optimal" else f"bound, {100 * (best.gap or 1):.0f} % open"
        for *_, best in cases
    ]
    yield "| over | " + " | ".join(shown) + " |"


def scale(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the rows of BGL's partitioner on a large graph with locality."""
    yield "| nodes | edges | parts | block cap | pops | graph s | partition s | cut | peak GB |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    nodes, edges, parts, block_cap = 10**6, 10**7, 8, 20_000
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    tails = rng.integers(0, nodes, edges)
    heads = (tails + rng.geometric(1 / 2000, edges)) % nodes
    # A tenth of the edges leads anywhere.
    far = rng.random(edges) < 0.1
    heads[far] = rng.integers(0, nodes, int(far.sum()))
    graph = Graph.of_arrays(nodes, tails, heads)
    built = time.perf_counter() - begin
    trained = rng.random(nodes) < 0.1
    for pops in (1, 16):
        begin = time.perf_counter()
        part = bgl_parts(graph, trained, parts, rng, block_cap=block_cap, pops=pops)
        seconds = time.perf_counter() - begin
        ends = np.repeat(part, graph.degree)
        cut = float((ends != part[graph.heads]).mean())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield (
            f"| {nodes:,} | {len(graph.heads) // 2:,} | {parts} | {block_cap:,} | {pops} | "
            f"{built:.1f} | {seconds:.1f} | {100 * cut:.1f} % | {peak:.2f} |"
        )


TABLES = {"exact": exact, "bounds": bounds, "ratios": ratios, "scale": scale}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("problem", choices=["partition"])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=list(TABLES))
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    for name in options.tables:
        print(f"\n{name}", flush=True)
        for row in TABLES[name](options.time_limit, options.seeds):
            print(row, flush=True)


if __name__ == "__main__":
    main()
