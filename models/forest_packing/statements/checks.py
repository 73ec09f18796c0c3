"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, objective, tested_ratio

from ..guarantees.ratios import crossing_bound, partitions

EXACT = "column_generation"


@statement(
    source="T4, the ratio of multiplicative weights",
    statement="multiplicative weights are within (1 - eps)^2 of the optimum",
    proof="models/forest_packing/guarantees/ratios.py; Garg and Konemann 2007",
    command="compare {} --methods forest_packing,column_generation",
    reconstructed=True,
)
def t4(document: Document) -> Finding:
    """Multiplicative weights beside the optimum."""
    return tested_ratio(document, "T4", "forest_packing", EXACT)


def _by_root(document: Document) -> tuple[float, dict[int, float]]:
    """Return the optimum with any roots, and with each worker as the only one."""
    alone = {
        root: objective(changed(document, root_mode="fixed", root=root), EXACT)
        for root in document.data.workers
    }
    return objective(document, EXACT), alone


@statement(
    source="the abstract: trees with different workers as roots, read as necessary",
    statement="an optimal packing needs trees with different roots",
    grade="ambiguous",
    repair=("on symmetric networks without switches any root will do; on others roots matter"),
    proof="T1 in models/forest_packing/README.md; forest_packing/roots-matter",
    reconstructed=True,
)
def many_roots(document: Document) -> Finding:
    """An optimum with one root only."""
    free, alone = _by_root(document)
    best = max(alone, key=alone.__getitem__)
    shown = f"rate {free:g} GB/s with any roots, {alone[best]:g} with worker {best} as the only one"
    return Finding(not agrees(alone[best], free), shown)


@statement(
    source="the abstract: trees with different workers as roots",
    statement="different roots can make the packing faster",
    proof="by this instance",
    reconstructed=True,
)
def roots_matter(document: Document) -> Finding:
    """No single root has the rate of all."""
    free, alone = _by_root(document)
    shown = f"rate {free:g} GB/s with any roots, {max(alone.values()):g} with the best single one"
    return Finding(max(alone.values()) < free and not agrees(max(alone.values()), free), shown)


@statement(
    source="T1, the bound of Tutte and Nash-Williams, on networks with switches",
    statement="some partition's bound is attained",
    grade="refuted",
    repair="it is a bound; the optimum has to balance loads at switches (F2)",
    proof="T1 is about networks without switches: models/forest_packing/README.md",
    command="compare {} --methods min_cut,column_generation",
    reconstructed=True,
)
def partition_with_switches(document: Document) -> Finding:
    """The least bound of a partition, every part with a worker, beside the optimum."""
    network = document.data.network
    bound = min(
        crossing_bound(document.data, parts)
        for parts in partitions(network.num_nodes)
        if len(parts) > 1 and all(min(part) < network.num_workers for part in parts)
    )
    best = objective(document, EXACT)
    return Finding(agrees(float(bound), best), f"least partition bound {bound}, optimum {best:g}")
