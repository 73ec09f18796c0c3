"""Forest packing: tables of variants of the library's networks.

No study solves one network with another collective from a worker, or counts the rates of all
parts of a machine.

Run `python benchmarks/forest_packing_figures.py [rates subsets]`. `rates`: certified optima of the
library; `subsets`: rates of all partial allocations of a DGX-1. Algorithms and restricted trees are
compared by the studies `forest_packing_*.toml`.
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


PARTS = {
    "rates": rates,
    "subsets": subsets,
}

if __name__ == "__main__":
    main()
