"""Forest packing: tables of variants of the library's networks.

Run `python benchmarks/forest_packing_figures.py [PART...]`. Parts: `rates` (certified optima of the
library), `subsets` (partial allocations of a DGX-1), `accuracy` (multiplicative weights against
epsilon) and `restricted` (few or equal trees on a DGX-1). It is no study: the same network is
solved with another collective, another part of its GPUs or other restrictions, and calls of an
oracle are counted. All algorithms against the optimum: the studies `forest_packing_ratios.toml` and
`forest_packing_overlays.toml`.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.forest_packing.data.generate import presets as generate
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.system.files import (
    Document,
    find_instances,
    library,
    read_instance,
)
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

LIMITS = Limits(time_s=60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args().parts or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            parser.error(f"{name!r} is not one of {', '.join(PARTS)}")
        PARTS[name]()


def documents(*folders: str) -> list[Document]:
    """Return the library's instances in some folders."""
    paths: list[Path] = [library() / "forest_packing" / folder for folder in folders]
    return [read_instance(path) for path in find_instances(paths)]


def document(instance: ForestPackingInstance, name: str) -> Document:
    """Return a document for an instance without a file."""
    return Document(problem("forest_packing"), "instance", name, instance)


def variant(original: Document, **fields: Any) -> Document:
    """Return the same network with some fields changed."""
    changed = original.data.model_copy(update=fields)
    return Document(original.problem, "instance", original.name, changed)


def optimum(instance: Document) -> Result:
    """Return the optimum, at which a plan and a verified bound meet."""
    for method in ("column_generation", "cut_generation"):
        result = solve(instance, method, LIMITS)
        if result.status is Status.OPTIMAL:
            return result
    raise RuntimeError(f"{instance.name}: {result.status}, gap {result.gap}")


def exact(x: Any) -> str:
    """Return a number as a short fraction, or else with six digits."""
    return str(x) if len(str(x)) <= 9 else f"{float(x):.6g}"


def table(title: str, columns: Iterable[str]) -> None:
    columns = list(columns)
    print(f"\n### {title}\n\n| " + " | ".join(columns) + " |")
    print("|---" + "|---:" * (len(columns) - 1) + "|", flush=True)


def row(*cells: Any) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def rates() -> None:
    """Certified optima: overlapped, in turns, allgather with equal and free shares, broadcast."""
    table(
        "Certified optimal rates, GB/s",
        [
            *("instance", "workers", "AllReduce", "in turns", "allgather, equal shares"),
            *("free shares", "broadcast from the first", "plan's trees", "gap"),
        ],
    )
    for doc in documents("hardware", "networks"):
        first = doc.data.workers[0]
        overlapped = optimum(doc)
        others = [
            optimum(variant(doc, stage_mode="sequential")),
            optimum(variant(doc, collective="allgather", root_mode="uniform")),
            optimum(variant(doc, collective="allgather")),
            optimum(variant(doc, collective="broadcast", root_mode="fixed", root=first)),
        ]
        row(
            *(doc.name, len(doc.data.workers), exact(overlapped.bound)),
            *(exact(other.bound) for other in others),
            *(len(overlapped.solution.trees), f"{max(r.gap for r in (overlapped, *others)):.0e}"),
        )


def subsets() -> None:
    """Rates of all allocations of k GPUs of a DGX-1 with V100s."""
    table("Partial allocations of a DGX-1 V100", ["GPUs", "rates, GB/s (number of allocations)"])
    for k in range(3, 8):
        found: Counter[Fraction] = Counter()
        for gpus in itertools.combinations(range(8), k):
            instance = generate.hardware(
                np.random.default_rng(0), topology="dgx1_v100", gpus=",".join(map(str, gpus))
            )
            found[Fraction(solve(document(instance, "subset"), "partition", LIMITS).bound)] += 1
        row(k, ", ".join(f"{exact(r)} ({n})" for r, n in sorted(found.items(), reverse=True)))


def accuracy() -> None:
    """Multiplicative weights without polishing and pruning."""
    table(
        "A1 against epsilon",
        [
            *("instance", "eps", "calls", "limit", "theory scaling / optimum"),
            *("congestion scaling / optimum", "bound / optimum", "(1 - eps)^2"),
        ],
    )
    by_name = {doc.name: doc for doc in documents("hardware")}
    complete = generate.paper(np.random.default_rng(0), workers=32, model="unit")
    chosen = [by_name["dgx1_v100"], by_name["mi250"], document(complete, "complete 32")]
    for doc, eps in itertools.product(chosen, (0.3, 0.1)):
        best = optimum(doc).bound
        plain = f"unpolished_packing:eps={eps}"
        congested = solve(doc, plain, Limits(time_s=300))
        theory = solve(doc, f"{plain}:scaling=theory", Limits(time_s=300))
        row(
            *(doc.name, eps, congested.notes["iterations"], congested.notes["iterations_bound"]),
            *(f"{float(r.objective / best):.3f}" for r in (theory, congested)),
            *(f"{float(congested.bound / best):.3f}", f"{(1 - eps) ** 2:.3f}"),
        )


def restricted() -> None:
    """Equal and few trees on a DGX-1 with V100s, by the methods for these restrictions."""
    dgx = next(doc for doc in documents("hardware") if doc.name == "dgx1_v100")
    table("K trees of equal rate on a DGX-1 V100 (F8a)", ["K", "rate, GB/s", "status"])
    for k in (1, 2, 3, 4, 5, 6, 8, 10, 12, 13):
        doc = variant(dgx, tree_budget=k, equal_share=True)
        result = solve(doc, "equal_share_partition", LIMITS)
        row(k, exact(result.objective), result.status)
    table("At most K trees on a DGX-1 V100 (F8b)", ["K", "rate, GB/s", "dual bound", "status"])
    for k in range(1, 6):
        doc = variant(dgx, tree_budget=k)
        result = solve(doc, "tree_budget_cp", LIMITS)
        row(k, exact(result.objective), exact(result.bound), result.status)
    table(
        "ForestColl with k trees a root, allgather (F8c)",
        ["instance", "k", "rate, GB/s", "optimum"],
    )
    for name, counts in (("dgx1_v100", (1, 2, 3, 4, 6)), ("a100_x2", (1,)), ("mi250", (1, 2, 3))):
        doc = next(doc for doc in documents("hardware") if doc.name == name)
        gather = variant(doc, collective="allgather", root_mode="uniform")
        best = optimum(gather).bound
        for k in counts:
            result = solve(gather, f"forestcoll:trees_per_root={k}", LIMITS)
            row(name, k, exact(result.objective), exact(best))


PARTS = {
    "rates": rates,
    "subsets": subsets,
    "accuracy": accuracy,
    "restricted": restricted,
}

if __name__ == "__main__":
    main()
