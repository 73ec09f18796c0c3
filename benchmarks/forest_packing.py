"""Times of exact and approximate methods of forest packing.

Run `python benchmarks/forest_packing.py [PART...]`. Parts: `cuts` (lazy cuts against the compact
linear program), `value` (value with certificate), `partition` (the tight partition), `trees`
(explicit optimal trees), `approximation` (multiplicative weights on a thousand workers), `oracle`
(cost of an oracle call as the network grows) and `libraries` (our spanning trees and arborescences
against networkx's). One thread. Times are wall-clock seconds of the whole method, certificate
included; "floor" is the time of a first prototype on a comparable, loaded machine, which every row
should beat.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gadgetopt.models.forest_packing.data.generate import presets as generate
from gadgetopt.models.forest_packing.formulations.flow import build
from gadgetopt.models.forest_packing.heuristics.packing_to_gap import packing_to_gap
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.proving.bounds.partition import partition
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.proving.exact.cut_generation import cut_generation
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits, MethodOutcome
from gadgetopt.trust.judgement import relative_gap

LIMITS = Limits(time_s=300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[], metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args().parts or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            parser.error(f"{name!r} is not one of {', '.join(PARTS)}")
        PARTS[name]()


def digraph(workers: int) -> ForestPackingInstance:
    """Return a complete digraph with capacities U{1..100} for every ordered pair."""
    return generate.paper(np.random.default_rng(0), workers=workers, symmetric=False, model="unit")


def overlay(workers: int) -> ForestPackingInstance:
    """Return a complete overlay with symmetric capacities U{1..100}."""
    return generate.paper(np.random.default_rng(0), workers=workers, model="unit")


def named(folder: str, name: str) -> ForestPackingInstance:
    """Return an instance of the library."""
    path = library() / "forest_packing" / folder / f"{name}.json"
    data: ForestPackingInstance = read_instance(path).data
    return data


def timed(method: Callable[..., Any], *arguments: Any, **parameters: Any) -> tuple[float, Any]:
    """Return the seconds and the result of a call."""
    clock = Clock()
    result = method(*arguments, **parameters)
    return clock.elapsed_s, result


def solved(
    method: Callable[..., MethodOutcome], instance: ForestPackingInstance, **parameters: Any
) -> tuple[float, MethodOutcome]:
    """Return the seconds and the outcome of a method, including the instance's derived tables."""
    fresh = instance.model_copy()
    return timed(method, fresh, LIMITS, np.random.default_rng(0), **parameters)


def table(title: str, *columns: str) -> None:
    print(f"\n### {title}\n\n| " + " | ".join(columns) + " |")
    print("|---" + "|---:" * (len(columns) - 1) + "|", flush=True)


def row(*cells: Any) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def number(x: Any) -> str:
    """Return a rate as text, as a fraction if that is short."""
    return str(x) if len(str(x)) <= 12 else f"{float(x):.6f}"


def cuts() -> None:
    """Lazy cuts against the compact linear program, alternating on the same instance."""
    table(
        "Lazily separated cuts (F3) against the compact LP (F2), complete digraphs",
        *("workers", "compact LP s", "cuts s", "compact / cuts", "rate", "rates agree to"),
    )
    for workers in (16, 20, 24):
        instance = digraph(workers)

        def compact(instance: ForestPackingInstance = instance) -> Any:
            return solve_model(build(instance), "highs", LIMITS)

        slow, lp = timed(compact)
        quick, outcome = solved(cut_generation, instance, trees=False)
        difference = abs(float(lp.objective) / float(outcome.dual_bound) - 1)
        row(
            *(workers, f"{slow:.2f}", f"{quick:.3f}", f"{slow / quick:.0f}"),
            *(number(outcome.dual_bound), f"{difference:.0e}"),
        )


def value() -> None:
    """Value with certificate, no trees."""
    table(
        "Value with certificate by cut generation",
        *("instance", "workers", "arcs", "s", "floor s", "rounds", "cuts", "rate"),
    )
    dense = [(f"complete digraph {n}", digraph(n), s) for n, s in DIGRAPH_FLOORS]
    hardware = [(name, named(folder, name), s) for folder, name, s in HARDWARE_FLOORS]
    sparse = generate.clustered(
        np.random.default_rng(0), clusters=8, cluster_workers=16, symmetric=False
    )
    for name, instance, floor in [*dense, *hardware, ("clustered digraph 128", sparse, 2.8)]:
        seconds, outcome = solved(cut_generation, instance, trees=False)
        row(
            *(name, instance.network.num_workers, len(instance.network.arcs), f"{seconds:.2f}"),
            *(floor, outcome.notes["rounds"], outcome.notes["cuts"], number(outcome.dual_bound)),
        )


DIGRAPH_FLOORS = [(24, 0.14), (48, 0.54), (64, 1.3), (96, 8.8), (128, 30.0)]
HARDWARE_FLOORS = [
    ("hardware", "a100_x8", 0.5),
    ("hardware", "mi250_x4", 0.6),
    ("networks", "fat_tree_6", 0.7),
]


def partitions() -> None:
    """Value and tight partition by the partition algorithm."""
    table("Tree-packing number and partition (A4)", "instance", "workers", "s", "floor s", "rate")
    clustered = generate.clustered(np.random.default_rng(0), clusters=16, cluster_workers=16)
    complete = [(f"complete {n}", overlay(n), s) for n, s in [(64, 0.1), (128, 0.7), (192, 2.6)]]
    for name, instance, floor in [*complete, ("clustered 256", clustered, 4.1)]:
        seconds, outcome = solved(partition, instance)
        workers = instance.network.num_workers
        row(name, workers, f"{seconds:.2f}", floor, number(outcome.dual_bound))


def trees() -> None:
    """Explicit optimal trees, by both exact methods and by the default with its hand-over."""
    table(
        "Explicit optimal trees",
        *("instance", "workers", "columns s", "cuts, then trees s", "default s", "floor s"),
        *("trees by columns", "by cuts", "by default", "gap"),
    )
    overlays = [(f"complete {n}", overlay(n), s) for n, s in [(16, 0.23), (24, 4.0), (32, 39.0)]]
    digraphs = [(f"complete digraph {n}", digraph(n), s) for n, s in [(16, 1.5), (24, 20.0)]]
    library_rows = [(name, named(folder, name), s) for folder, name, s in TREE_FLOORS]
    for name, instance, floor in [*library_rows, *overlays, *digraphs]:
        runs = [
            solved(column_generation, instance, hand_over=False),
            solved(cut_generation, instance),
            solved(column_generation, instance),
        ]
        gaps = [relative_gap(o.claimed_objective, o.dual_bound) or 0.0 for _, o in runs]
        row(
            *(name, instance.network.num_workers, *(f"{seconds:.2f}" for seconds, _ in runs)),
            *(floor, *(len(o.solution.trees) for _, o in runs), f"{max(gaps):.0e}"),
        )


TREE_FLOORS = [
    ("hardware", "dgx1_v100", 0.12),
    ("hardware", "a100_x2", 0.12),
    ("hardware", "mi250", 0.12),
    ("networks", "fat_tree_4", 0.12),
    ("networks", "bcube_4", 0.12),
    ("networks", "dcell_4", 0.12),
    ("hardware", "a100_x8", 1.0),
    ("hardware", "mi250_x4", 6.8),
    ("networks", "fat_tree_6", 2.4),
    ("networks", "bcube_8", 1.4),
    ("networks", "torus_8x8", 1.6),
    ("networks", "hypercube_6", 8.9),
]


def approximation() -> None:
    """Multiplicative weights on about a thousand workers, to a certified gap."""
    table(
        "A1 to a certified gap of 3 %",
        *("network", "workers", "arcs", "s", "iterations", "trees", "rate", "gap"),
    )
    rng = np.random.default_rng(0)
    networks = [
        ("torus 32x32", generate.torus(rng, dims="32x32")),
        ("torus 10x10x10", generate.torus(rng, dims="10x10x10")),
        ("torus 32x32, contended", generate.torus(rng, dims="32x32", contention=0.5)),
        ("fat-tree of 16-port switches", generate.fat_tree(rng, k=16)),
    ]
    for name, instance in networks:
        seconds, outcome = solved(packing_to_gap, instance, eps=0.1, target_gap=0.02)
        gap = relative_gap(outcome.claimed_objective, outcome.dual_bound)
        row(
            *(name, instance.network.num_workers, len(instance.network.arcs), f"{seconds:.1f}"),
            *(outcome.notes["iterations"], len(outcome.solution.trees)),
            *(f"{float(outcome.claimed_objective):.4f}", f"{100 * (gap or 0.0):.2f} %"),
        )


def oracle() -> None:
    """Cost of one oracle call as the number of links grows."""
    table(
        "A1: cost of an oracle call",
        *("network", "workers", "cables", "calls", "us/call", "us/call/cable", "cables, ratio"),
        "us/call, ratio",
    )
    for shape, sizes in (("torus", (16, 32, 64, 128)), ("contended torus", (16, 32, 64, 128))):
        before = None
        for side in sizes:
            contention = 1.0 if shape == "torus" else 0.5
            instance = generate.torus(
                np.random.default_rng(0), dims=f"{side}x{side}", contention=contention
            )
            calls, seconds = oracle_calls(instance)
            cables = len(instance.network.edges)
            each = 1e6 * seconds / calls
            ratios = (
                ("", "")
                if before is None
                else (f"{cables / before[0]:.2f}", f"{each / before[1]:.2f}")
            )
            row(
                *(f"{shape} {side}x{side}", side * side, cables, calls, f"{each:.0f}"),
                *(f"{each / cables:.3f}", *ratios),
            )
            before = (cables, each)


def oracle_calls(instance: ForestPackingInstance) -> tuple[int, float]:
    """Number of oracle calls of a packing that is stopped early, and their seconds."""
    from gadgetopt.models.forest_packing.algorithms.multiplicative_weights import pack_columns
    from gadgetopt.models.forest_packing.subproblems.price_oracles import make_oracle

    oracle = make_oracle(instance)
    began = time.process_time()
    packing = pack_columns(oracle, Limits(time_s=5.0), eps=0.3, target_gap=0.02)
    return packing.iterations, time.process_time() - began


def libraries() -> None:
    """Our oracles against those of networkx and SciPy on complete digraphs."""
    import networkx as nx

    from gadgetopt.pieces.graphs.arborescence import minimum_arborescences
    from gadgetopt.pieces.graphs.spanning import SpanningTrees

    table(
        "Oracles: milliseconds a call, and the library's time over ours",
        *("workers", "arborescences of all roots", "networkx, one root", "ratio, all roots"),
        *("spanning tree", "networkx", "ratio"),
    )
    for n in (16, 32, 64):
        rng = np.random.default_rng(0)
        cost = rng.random((n, n))
        directed = nx.DiGraph()
        directed.add_weighted_edges_from(
            # From node 0 only: networkx chooses the best root itself.
            (u, v, cost[u, v])
            for u in range(n)
            for v in range(1, n)
            if u != v
        )
        ours = least(lambda cost=cost: minimum_arborescences(cost))
        theirs = least(lambda g=directed: nx.minimum_spanning_arborescence(g, attr="weight"), 1)
        u, v = np.triu_indices(n, 1)
        weight = cost[u, v]
        trees = SpanningTrees(n, u, v)
        undirected = nx.Graph()
        undirected.add_weighted_edges_from(zip(u.tolist(), v.tolist(), weight, strict=True))
        tree = least(lambda trees=trees, w=weight: trees(w))
        nx_tree = least(lambda g=undirected: nx.minimum_spanning_tree(g), 2)
        row(
            *(n, f"{1e3 * ours:.2f}", f"{1e3 * theirs:.1f}", f"{n * theirs / ours:.0f}"),
            *(f"{1e3 * tree:.2f}", f"{1e3 * nx_tree:.1f}", f"{nx_tree / tree:.0f}"),
        )


def least(call: Callable[[], Any], repetitions: int = 10) -> float:
    """Return the least seconds of several calls."""
    return min(timed(call)[0] for _ in range(repetitions))


PARTS = {
    "cuts": cuts,
    "value": value,
    "partition": partitions,
    "trees": trees,
    "approximation": approximation,
    "oracle": oracle,
    "libraries": libraries,
}

if __name__ == "__main__":
    main()
