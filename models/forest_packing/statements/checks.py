"""The statements, checked on witness instances."""

from __future__ import annotations

from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, changed, objective, tested_ratio

from ..guarantees.ratios import crossing_bound, partitions

EXACT = "column_generation"


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


def many_roots(document: Document) -> Finding:
    """An optimum with one root only."""
    free, alone = _by_root(document)
    best = max(alone, key=alone.__getitem__)
    shown = f"rate {free:g} GB/s with any roots, {alone[best]:g} with worker {best} as the only one"
    return Finding(not agrees(alone[best], free), shown)


def roots_matter(document: Document) -> Finding:
    """No single root has the rate of all."""
    free, alone = _by_root(document)
    shown = f"rate {free:g} GB/s with any roots, {max(alone.values()):g} with the best single one"
    return Finding(max(alone.values()) < free and not agrees(max(alone.values()), free), shown)


def switches(document: Document) -> Finding:
    """The least bound of a partition, every part with a worker, beside the optimum."""
    network = document.data.network
    bound = min(
        crossing_bound(document.data, parts)
        for parts in partitions(network.num_nodes)
        if len(parts) > 1 and all(min(part) < network.num_workers for part in parts)
    )
    best = objective(document, EXACT)
    return Finding(agrees(float(bound), best), f"least partition bound {bound}, optimum {best:g}")
