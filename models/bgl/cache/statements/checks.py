"""The statements, checked on counterexamples."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run, tested_ratio


@statement(
    source="misses of a static cache, without its own load",
    statement="misses of a static cache and of policies that start empty can be compared",
    grade="refuted",
    repair="the load of the static cache is counted",
    proof="then Belady's rule is a lower bound for it, too",
    command="compare {} --methods static_frequency,belady",
    reconstructed=True,
)
def static_misses(document: Document) -> Finding:
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


@statement(
    source="theorem of this project on paging",
    statement="FIFO loads at most K + 1 times the optimum for requests of one node",
    proof="models/bgl/cache/guarantees/paging.py",
    command="compare {} --methods fifo,lru,order_search",
    reconstructed=True,
)
def paging(document: Document) -> Finding:
    """FIFO beside the optimum."""
    return tested_ratio(document, "paging", "fifo", "order_search")
