"""Forest packing: what an oracle call costs, and our oracles beside those of libraries.

No study measures single functions.

Run `python benchmarks/forest_packing.py [oracle libraries]`. `oracle`: cost of an oracle call of
the multiplicative weights as the network grows; `libraries`: our spanning trees and arborescences
against networkx's. One thread. Methods are compared by the studies `forest_packing_*.toml`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gadgetopt.models.forest_packing.data.generate import presets as generate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[], metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args().parts or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            parser.error(f"{name!r} is not one of {', '.join(PARTS)}")
        PARTS[name]()


def timed(method: Callable[..., Any], *arguments: Any, **parameters: Any) -> tuple[float, Any]:
    """Return the seconds and the result of a call."""
    clock = Clock()
    result = method(*arguments, **parameters)
    return clock.elapsed_s, result


def table(title: str, *columns: str) -> None:
    print(f"\n### {title}\n\n| " + " | ".join(columns) + " |")
    print("|---" + "|---:" * (len(columns) - 1) + "|", flush=True)


def row(*cells: Any) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


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


PARTS = {"oracle": oracle, "libraries": libraries}

if __name__ == "__main__":
    main()
