"""The statements, checked on witness instances."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run, tested_ratio


def preloads(document: Document) -> Finding:
    """A static cache without and with its load, beside the optimum of those that start empty."""
    evaluation = run(document, "static_frequency").evaluation
    if evaluation is None or evaluation.objective is None:
        return Finding(None, "static_frequency: no solution")
    without = float(evaluation.components["cost_without_preloads"])
    best = objective(document, "belady")
    shown = (
        f"the static cache misses {without:g} times without its load, {evaluation.objective} with "
        f"it; the optimum is {best:g}"
    )
    return Finding(without >= best, shown)


def paging(document: Document) -> Finding:
    """FIFO beside the optimum."""
    return tested_ratio(document, "paging", "fifo", "order_search")
