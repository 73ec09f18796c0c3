"""The statements, checked on small instances."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, tested_ratio

_D1 = "dapple/tiny/d1_latency_below_optimum.json"


def attained() -> Finding:
    """The planner's plan and order, and the latency over the least bound."""
    return tested_ratio(_D1, "latency is attained", "dapple", "exact_plans")


def ranks() -> Finding:
    """The planner's choice beside the best plan."""
    path = "dapple/tiny/d2_misled.json"
    return tested_ratio(path, "latency ranks plans", "dapple", "exact_plans")


def pivot() -> Finding:
    """The sums of instance D1: a link and two stages, four microbatches."""
    forward, backward, microbatches = (3, 2, 2), (6, 2, 4), 4
    steady = [(microbatches - 1) * (f + b) for f, b in zip(forward, backward, strict=True)]
    blocks = [f + b for f, b in zip(forward, backward, strict=True)]
    printed = steady[0] > steady[2] + sum(blocks[1:2])
    dominates = steady[0] > steady[2] + sum(blocks[1:3])
    shown = (
        f"{steady[0]} > {steady[2]} + {sum(blocks[1:2])} is {printed}: the pivot moves; "
        f"{steady[0]} > {steady[2]} + {sum(blocks[1:3])} is {dominates}: it must not"
    )
    return Finding(printed == dominates, shown)


def rounds() -> Finding:
    """The plan of the least bound beside the optimum."""
    return tested_ratio(_D1, "least bound in rounds", "least_bound", "exact_plans")
