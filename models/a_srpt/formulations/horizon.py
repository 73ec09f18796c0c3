"""Limits on the size of time-indexed models."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused

from ..instance import ASrptInstance

#: Ticks that a time-indexed model may have, and its variables. Tuned: `benchmarks/constants.py`.
MOST_TICKS, MOST_VARIABLES = 100_000, 1_000_000


def safe_horizon(instance: ASrptInstance) -> int:
    """Return a tick by which every optimal schedule has ended.

    After the last release it is never idle, and no job runs longer than at its worst placement.
    """
    return int(instance.release_ticks.max() + instance.max_ticks.sum())


def refuse_long(ticks: int) -> None:
    """Refuse a horizon for which no time-indexed model should be built.

    Raises
    ------
    ModelRefused
    """
    if ticks > MOST_TICKS:
        raise ModelRefused(f"tick_s: {ticks} ticks, expected at most {MOST_TICKS} (longer ticks)")


def refuse_many(variables: int) -> None:
    """Refuse a model of too many variables.

    Raises
    ------
    ModelRefused
    """
    if variables > MOST_VARIABLES:
        raise ModelRefused(
            f"{variables} starts, expected at most {MOST_VARIABLES} (use longer ticks)"
        )
