"""BGL at scale: the partitioner, Belady's sweep, and orders on graphs.

No study measures memory and single steps, or orders that no method returns.

- `partition`: BGL's partitioner on a graph of a million nodes and ten million edges;
- `sweep`: Belady's sweep on some ten million intervals;
- `graphs`: misses of orders and policies over those of Belady's rule, on three sorts of graphs;
- `gpus`: what it costs to choose policy, order and sort of caches one after the other.

Run `python benchmarks/bgl.py [partition sweep graphs gpus] [--seeds 10]`; all in this process, on
one thread. Methods are compared by the studies `bgl_*.toml`.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from gadgetopt.models.bgl.cache.baselines.policies import static_degree, static_frequency
from gadgetopt.models.bgl.cache.data.generate import presets
from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.heuristics.orders import retained
from gadgetopt.models.bgl.cache.instance import CacheInstance, CacheSolution
from gadgetopt.models.bgl.cache.proving.exact.gpu_orders import best_of_each_policy
from gadgetopt.models.bgl.cache.subproblems.intervals import intervals_of_uses
from gadgetopt.models.bgl.cache.subproblems.replay import POLICIES, replay
from gadgetopt.models.bgl.cache.subproblems.sequences import Proximity, fewest_sequences
from gadgetopt.models.bgl.cache.subproblems.sweep import keep_earliest_ends
from gadgetopt.models.bgl.partition.algorithms.bgl import bgl_parts
from gadgetopt.models.bgl.partition.graph import Graph
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

#: Batches, nodes a batch, all nodes, capacity.
SWEEPS = (
    (2000, 5000, 100_000, 10_000),
    (100_000, 100, 100_000, 10_000),
    (1_100_000, 10, 1_000_000, 100_000),
    (10_500_000, 1, 500_000, 50_000),
)
GRAPHS = ("paper", "geometric", "power_law")


def sweep(_seeds: int) -> Iterator[str]:
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


def graphs(seeds: int) -> Iterator[str]:
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


def partition(_seeds: int) -> Iterator[str]:
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


def gpus(seeds: int) -> Iterator[str]:
    """Costs over the optimum of policy and order together, of choices made one by one."""
    yield (
        "| what counts, caches, cost of peers | best policy of the given order | its best order | "
        "FIFO, its best order | LRU | LFU | static | best with order given, free |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    kinds = (("private", 0), ("partitioned", 1), ("partitioned", 3))
    for aim, (caches, peers) in itertools.product(("total", "synchronous"), kinds):
        ratios, chosen = [], []
        for seed in range(seeds):
            free = presets.gpus(
                np.random.default_rng(seed),
                batches=7,
                caches=caches,
                peer_cost=peers,
                policies=True,
                objective=aim,
            )
            given = free.model_copy(update={"order": "given"})
            costs = [
                {
                    policy: int(evaluate(instance, solution).objective or 0)
                    for policy, solution in best_of_each_policy(instance, Clock(Limits()))
                }
                for instance in (given, free)
            ]
            first, last = (min(cost, key=cost.__getitem__) for cost in costs)
            compared = (costs[0][first], costs[1][first], *costs[1].values())
            ratios.append([cost / costs[1][last] for cost in compared])
            chosen.append(f"{first}, {last}")
        cells = [f"{np.mean(c):.2f}, {np.max(c):.2f}" for c in zip(*ratios, strict=True)]
        counts = "; ".join(f"{n} x {pair}" for pair, n in Counter(chosen).most_common())
        yield f"| {aim}, {caches}, {peers} | {' | '.join(cells)} | {counts} |"


TABLES = {"partition": partition, "sweep": sweep, "graphs": graphs, "gpus": gpus}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=[], choices=[*TABLES, []])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for name in options.tables or TABLES:
        for line in TABLES[name](options.seeds):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
