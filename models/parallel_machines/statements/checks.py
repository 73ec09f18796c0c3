"""The theorems, checked on instances on which they are tight."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, tested_ratio


def graham_1966() -> Finding:
    """The family of jobs that list scheduling treats worst."""
    path = "parallel_machines/tiny/graham_list_three_machines.json"
    return tested_ratio(path, "Graham 1966", "list_scheduling", "bin_search")


def graham_1969() -> Finding:
    """The family of jobs that LPT treats worst."""
    path = "parallel_machines/tiny/graham_lpt_three_machines.json"
    return tested_ratio(path, "Graham 1969", "lpt", "bin_search")
