"""The statements, checked on witness instances."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better, run, tested_ratio


def load(document: Document) -> Finding:
    """The plan of the least load beside the fastest one."""
    return no_better(document, "spp", "exact_spp")


def order(document: Document) -> Finding:
    """Two orders of the only plan with a chance."""
    plans = [run(document, method).solution for method in ("spp", "exact_spp")]
    same = len({plan.stage_layers for plan in plans if plan is not None}) == 1  # type: ignore[attr-defined]
    found = no_better(document, "spp", "exact_spp")
    return found if same else Finding(None, f"{found.shown}, with another plan")


def devices(document: Document) -> Finding:
    """The stages on the GPUs in the order of their links, and in the other."""
    return no_better(document, "spp", "exact_spp")


def spp(document: Document) -> Finding:
    """SPP beside the optimum."""
    return tested_ratio(document, "SPP", "spp", "exact_spp")
