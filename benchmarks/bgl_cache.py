"""BGL's cache and resources: joint orders, the sweep, policies on graphs, shares of cores.

Five tables, all in this process on one thread:

- `joint`: order and retention together, our search beside the joint model in HiGHS and in CP-SAT;
- `sweep`: Belady's sweep on some ten million intervals;
- `small`: policies and orders over certified optima, mean and worst;
- `graphs`: misses of orders and policies over those of Belady's rule, on three sorts of graphs;
- `resources`: parametric search, enumeration, tables, elements and products; ratios of even and
  proportional shares.

Run `python benchmarks/bgl_cache.py [joint sweep small graphs resources] [--time-limit 60] [--seeds
10]`.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np

from gadgetopt.models.bgl.cache.baselines.policies import static_degree, static_frequency
from gadgetopt.models.bgl.cache.data.generate import presets
from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.heuristics.orders import retained
from gadgetopt.models.bgl.cache.instance import CacheInstance, CacheSolution
from gadgetopt.models.bgl.cache.subproblems.intervals import intervals_of_uses
from gadgetopt.models.bgl.cache.subproblems.replay import POLICIES, replay
from gadgetopt.models.bgl.cache.subproblems.sequences import Proximity, fewest_sequences
from gadgetopt.models.bgl.cache.subproblems.sweep import keep_earliest_ends
from gadgetopt.models.bgl.resources.data.generate.presets import copy_heavy, paper
from gadgetopt.models.bgl.resources.proving.shares import allocation, least_time
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

#: Batches and capacity; six of 28 nodes a batch, drawn uniformly.
JOINT = ((8, 6), (12, 8), (14, 8), (14, 6), (20, 10), (20, 8))
#: Batches, nodes a batch, all nodes, capacity.
SWEEPS = (
    (2000, 5000, 100_000, 10_000),
    (100_000, 100, 100_000, 10_000),
    (1_100_000, 10, 1_000_000, 100_000),
    (10_500_000, 1, 500_000, 50_000),
)
GRAPHS = ("paper", "geometric", "power_law")
SMALL = (
    ("8 batches, cache 4", 8, 4),
    ("10 batches, cache 6", 10, 6),
    ("12 batches, cache 8", 12, 8),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    tables = {
        "joint": joint,
        "sweep": sweep,
        "small": small,
        "graphs": graphs,
        "resources": resources,
    }
    parser.add_argument("tables", nargs="*", default=[], choices=[*tables, []])
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for name in options.tables or tables:
        for line in tables[name](options.time_limit, options.seeds):
            print(line, flush=True)
        print()


def run(system: str, data: object, method: str, time_s: float, seed: int = 0) -> Result:
    return solve(Document(problem(system), "instance", "x", data), method, Limits(time_s), seed)


def joint(time_s: float, seeds: int) -> Iterator[str]:
    """One instance a row: best and bound of every method, and seconds."""
    methods = ("order_search", "joint@highs", "cp_joint")
    yield "| batches, cache | compulsory | " + " | ".join(f"`{m}`: best, bound, s" for m in methods)
    yield "|---|---:|" + "---:|" * len(methods)
    for batches, capacity in JOINT:
        rng = np.random.default_rng(1)
        instance = presets.batches(rng, batches=batches, capacity=capacity)
        cells = []
        for method in methods:
            result = run("bgl_cache", instance, method, time_s)
            sign = " v" if str(result.bound_voucher) == "verified" else ""
            cells.append(f"{result.objective}, {result.bound}{sign}, {result.time_s:.1f}")
        yield f"| {batches}, {capacity} | {instance.compulsory_cost} | {' | '.join(cells)} |"


def sweep(time_s: float, seeds: int) -> Iterator[str]:
    """Seconds to build the intervals and to sweep them."""
    yield "| batches | nodes a batch | cache | intervals | intervals, s | sweep, s | peak GB |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    rng = np.random.default_rng(0)
    for batches, a_batch, nodes, capacity in SWEEPS:
        drawn = np.repeat(np.arange(batches), a_batch) * nodes
        drawn = np.unique(drawn + rng.integers(0, nodes, size=len(drawn)))
        start = time.perf_counter()
        intervals = intervals_of_uses(drawn % nodes, drawn // nodes, batches)
        built = time.perf_counter()
        keep_earliest_ends(intervals, capacity)
        done = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield (
            f"| {batches:,} | {a_batch:,} | {capacity:,} | {len(intervals.node):,} "
            f"| {built - start:.1f} | {done - built:.1f} | {peak:.1f} |"
        )


def small(time_s: float, seeds: int) -> Iterator[str]:
    """Costs over certified optima, mean and worst, on orders and policies."""
    methods = ("fifo", "lru", "lfu", "static_frequency", "path_order", "order_moves")
    yield "| instances | closed | " + " | ".join(f"`{m}`" for m in methods) + " |"
    yield "|---|---:|" + "---:|" * len(methods)
    for name, batches, capacity in SMALL:
        ratios: dict[str, list[float]] = {method: [] for method in methods}
        closed = 0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            instance = presets.batches(rng, batches=batches, capacity=capacity)
            best = run("bgl_cache", instance, "order_search", time_s)
            closed += best.status is Status.OPTIMAL
            for method in methods:
                found = run("bgl_cache", instance, method, time_s).objective
                ratios[method].append(float(found) / float(best.bound))
        cells = (f"{np.mean(r):.2f}, {max(r):.2f}" for r in ratios.values())
        yield f"| {name} | {closed} of {seeds} | {' | '.join(cells)} |"


def graphs(time_s: float, seeds: int) -> Iterator[str]:
    """Requests and misses of orders; misses of policies over those of Belady's rule."""
    policies = (*POLICIES, "static, frequency", "static, degree")
    yield (
        "| graph | order | shuffling error | requested | misses of Belady | over compulsory | "
        "FIFO hit ratio | " + " | ".join(p.upper() if p in POLICIES else p for p in policies) + " |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|" + "---:|" * len(policies)
    for graph in GRAPHS:
        rows: dict[str, list[list[float]]] = {}
        for seed in range(max(1, seeds // 3)):
            rng = np.random.default_rng(seed)
            instance = getattr(presets, graph)(rng)
            proximity = Proximity(instance.graph, instance.batch_size)
            orders = {"random": rng.permutation(len(instance.requests)).tolist()}
            for sequences in (1, 3, 10):
                orders[f"{sequences} sequences"] = proximity.order(sequences, rng)
            allowed = proximity.allowed_error()
            chosen, count, _ = fewest_sequences(proximity, 10, allowed, rng)
            orders["chosen"] = chosen
            for name, order in orders.items():
                error = proximity.shuffling_error(order, rng)
                rows.setdefault(name, []).append([error, *_misses(instance, order), count])
        for name, found in rows.items():
            mean = np.mean(found, axis=0)
            label = f"chosen, {mean[-1]:.1f} sequences" if name == "chosen" else name
            yield (
                f"| {graph} | {label} | {mean[0]:.3f} | {mean[1]:,.0f} | {mean[2]:,.0f} "
                f"| {mean[3]:.2f} | {mean[4]:.3f} | "
                + " | ".join(f"{x:.2f}" for x in mean[5:-1])
                + " |"
            )


def _misses(instance: CacheInstance, order: list[int]) -> list[float]:
    """Requests, Belady's misses, these over compulsory, FIFO's hit ratio, policies over Belady."""
    best = evaluate(instance, retained(instance, order))
    parts = [evaluate(instance, replay(instance, order, policy)) for policy in POLICIES]
    fixed = instance.model_copy(
        update={
            "requests": tuple(instance.requests[t] for t in order),
            "graph": instance.graph.model_copy(
                update={
                    "train_nodes": tuple(instance.graph.train_nodes[t] for t in order),
                    "labels": None,
                }
            ),
        }
    )
    for method in (static_frequency, static_degree):
        solution = method(fixed, Limits(), np.random.default_rng(0)).solution
        assert isinstance(solution, CacheSolution)
        parts.append(evaluate(fixed, solution))
    fifo = parts[0].components
    return [
        float(best.components["requested"]),
        float(best.objective),
        float(best.objective) / instance.compulsory_cost,
        float(fifo["device_hits"]) / float(fifo["requested"]),
        *(float(part.objective) / float(best.objective) for part in parts),
    ]


def resources(time_s: float, seeds: int) -> Iterator[str]:
    """Milliseconds of every route, all equal, and ratios of shares without optimisation."""
    methods = ("brute_force", "tables@highs", "cp_elements", "products@scip")
    yield (
        "| instances | parametric, ms | "
        + " | ".join(f"`{m}`, ms" for m in methods)
        + " | even shares / optimum | proportional / optimum | optimum / continuous |"
    )
    yield "|---|---:|" + "---:|" * (len(methods) + 3)
    for name, draw in (("paper", paper), ("copy_heavy", copy_heavy)):
        times: dict[str, list[float]] = {"parametric": [], **{m: [] for m in methods}}
        ratios: dict[str, list[float]] = {"even_split": [], "proportional": [], "continuous": []}
        for seed in range(seeds):
            instance = draw(np.random.default_rng(seed))
            start = time.perf_counter()
            theta = least_time(instance)
            allocation(instance, theta)
            times["parametric"].append(time.perf_counter() - start)
            for method in methods:
                result = run("bgl_resources", instance, method, time_s)
                assert result.objective == theta, (method, result.status, result.reason)
                times[method].append(result.time_s)
            for method in ("even_split", "proportional"):
                found = run("bgl_resources", instance, method, time_s).objective
                ratios[method].append(float(found / theta))
            bound = run("bgl_resources", instance, "continuous", time_s).bound
            ratios["continuous"].append(float(theta / bound))
        cells = [f"{1000 * np.median(t):.2f}" for t in times.values()]
        cells += [f"{np.mean(r):.2f}, {max(r):.2f}" for r in ratios.values()]
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
