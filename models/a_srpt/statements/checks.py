"""The statements, checked on witness instances."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.trust.statements import Finding, no_better, objective, tested_ratio

from ..guarantees.guide import guide_of
from ..instance import ASrptInstance


def in_seconds(document: Document) -> Finding:
    """Durations of 0.95 s, which take 1 tick at best and 2 at worst."""
    return tested_ratio(document, "Lemma 1, not rounded", "scattered", "decomposition")


def in_ticks(document: Document) -> Finding:
    """The same jobs with the ratio of ticks."""
    return tested_ratio(document, "Lemma 1", "scattered", "decomposition")


def theorem_1(document: Document) -> Finding:
    """A-SRPT with exact predictions beside the optimum."""
    return tested_ratio(document, "Theorem 1", "a_srpt:predictor=oracle", "decomposition")


def guide(document: Document) -> Finding:
    """The virtual completions of A-SRPT with exact predictions."""
    instance: ASrptInstance = document.data
    parameters = find_method(document.problem, "a_srpt").all_parameters
    known = [job.num_iterations for job in instance.jobs]
    virtual = sum(guide_of(instance, known, parameters).completion) / instance.total_gpus
    best = objective(document, "decomposition")
    shown = f"virtual completion times add up to {virtual:g} ticks, the optimum is {best:g}"
    return Finding(virtual <= best, shown)


def heavy_edge(document: Document) -> Finding:
    """A-SRPT with the mapping and with the exact one."""
    return no_better(document, "a_srpt:mapping=heavy_edge", "a_srpt:mapping=exact")
