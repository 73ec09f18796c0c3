"""When work that looks at no clock is ended: by the alarm of `gadgetopt.numbers.alarm`."""

from __future__ import annotations

import math

from gadgetopt.numbers.alarm import TimeUp, ended_after

__all__ = ["TimeUp", "default_grace_s", "ended_after", "late"]

#: Seconds, or part of its time, that work without a clock may take beyond it.
#: Tuned: `benchmarks/constants.py`.
LATE_S, LATE_PART = 0.5, 0.1

#: Parts of the grace period after which a method is ended, and after which a check is; the rest is
#: for handing back the result. Tuned: `benchmarks/constants.py`.
METHOD_PART, CHECK_PART = 0.5, 0.7


def default_grace_s(time_s: float | None) -> float:
    """Return the seconds that a run may take beyond its time limit, judging included."""
    return max(5.0, 0.1 * (time_s or 0.0))


def late(time_s: float | None) -> float:
    """Return the seconds after which work without a clock is ended that should take so long."""
    return math.inf if time_s is None else time_s + max(LATE_S, LATE_PART * time_s)
