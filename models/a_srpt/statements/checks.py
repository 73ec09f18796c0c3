"""The statements, checked on small instances."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, tested_ratio

_TRAP = "a_srpt/tiny/rounding_trap.json"


def in_seconds() -> Finding:
    """Durations of 0.95 s, which take 1 tick at best and 2 at worst."""
    return tested_ratio(_TRAP, "Lemma 1, not rounded", "scattered", "decomposition")


def in_ticks() -> Finding:
    """The same jobs with the ratio of ticks."""
    return tested_ratio(_TRAP, "Lemma 1", "scattered", "decomposition")


def theorem_1() -> Finding:
    """A-SRPT with exact predictions beside the optimum."""
    path = "a_srpt/tiny/h1_one_stage_a_server.json"
    return tested_ratio(path, "Theorem 1", "a_srpt:predictor=oracle", "decomposition")
