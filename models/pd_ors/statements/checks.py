"""The statements, checked on small instances."""

from __future__ import annotations

import math

from gadgetopt.trust.statements import Finding, tested_ratio


def competitive_ratio() -> Finding:
    """Two jobs that each fill the only machine."""
    return tested_ratio("pd_ors/tiny/b_guarantee.json", "Competitive ratio", "pd_ors", "portfolio")


def probability() -> Finding:
    """(1 - delta) to the power T K E, with K E of 10^7 samples over 20 slots."""
    slots, samples, delta = 20, 10**7, 0.5
    log_10 = slots * samples * math.log10(1 - delta)
    return Finding(log_10 > -6, f"the probability is 10^({log_10:.3g})")
