"""The statements, checked on small instances."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, best_value, tested_ratio

_E1 = "spp/tiny/e1_load_is_not_time.json"


def load() -> Finding:
    """The plan of the least load beside the fastest one."""
    by_load, best = best_value(_E1, "spp"), best_value(_E1, "exact_spp")
    assert by_load is not None
    assert best is not None
    shown = f"SPP, which plans by load, takes {by_load:g}, the optimum is {best:g}"
    return Finding(by_load <= best, shown)


def spp() -> Finding:
    """SPP beside the optimum."""
    return tested_ratio(_E1, "SPP", "spp", "exact_spp")
