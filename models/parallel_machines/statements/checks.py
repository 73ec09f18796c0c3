"""The theorems, checked on instances; the first two are tight there."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, tested_ratio


def graham_1966(document: Document) -> Finding:
    """The family of jobs that list scheduling treats worst."""
    return tested_ratio(document, "Graham 1966", "list_scheduling", "bin_search")


def graham_1969(document: Document) -> Finding:
    """The family of jobs that LPT treats worst."""
    return tested_ratio(document, "Graham 1969", "lpt", "bin_search")


def multifit(document: Document) -> Finding:
    """MULTIFIT on the jobs that LPT treats worst."""
    return tested_ratio(document, "Yue", "multifit", "bin_search")
