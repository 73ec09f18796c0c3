"""The theorems, checked on instances; the first two are tight there."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, tested_ratio


@statement(
    source="Graham 1966",
    statement="list scheduling is within 2 - 1/m of the optimum",
    proof="models/parallel_machines/guarantees/ratios.py",
    command="compare {} --methods list_scheduling,bin_search",
)
def graham_1966(document: Document) -> Finding:
    """The family of jobs that list scheduling treats worst."""
    return tested_ratio(document, "Graham 1966", "list_scheduling", "bin_search")


@statement(
    source="Graham 1969",
    statement="LPT is within 4/3 - 1/(3m) of the optimum",
    proof="models/parallel_machines/guarantees/ratios.py",
    command="compare {} --methods lpt,bin_search",
)
def graham_1969(document: Document) -> Finding:
    """The family of jobs that LPT treats worst."""
    return tested_ratio(document, "Graham 1969", "lpt", "bin_search")


@statement(
    source="Yue 1990",
    statement="MULTIFIT with k steps is within 13/11 + 2^-k of the optimum",
    proof="Yue, Annals of Operations Research 24 (1990)",
    command="compare {} --methods multifit,bin_search",
)
def multifit(document: Document) -> Finding:
    """MULTIFIT on the jobs that LPT treats worst."""
    return tested_ratio(document, "Yue", "multifit", "bin_search")
