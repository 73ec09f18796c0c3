"""The statements, checked by their units."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding


def units() -> Finding:
    """Powers of seconds in Gamma / (Delta C v)."""
    period_s, commits, speed, step_time_s = 1, 0, -1, 1
    as_speed, as_time = period_s - commits - speed, period_s - commits - step_time_s
    shown = f"v a speed: seconds to the power {as_speed}; v a time: to the power {as_time}"
    return Finding(as_speed == 0, shown)
