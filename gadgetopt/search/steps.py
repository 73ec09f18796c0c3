"""How long the steps of a search are, between which others are tried."""

#: Seconds of the first step, and its least and most part of the time, as trees are shorter; how
#: many times as much the next step gets when none of the searches ended.
#: Tuned: `benchmarks/constants.py`.
FIRST_S, FIRST_PARTS, GROWTH = 0.05, (0.0125, 0.125), 4


def between(least: float, seconds: float, left_s: float, most: float) -> float:
    """Return the part of the time left that some seconds are, within a least and a most part."""
    return max(least, min(most, seconds / left_s)) if left_s > 0 else most


def first_step_s(whole_s: float) -> float:
    """Return the seconds of the first step of a search that may take so many."""
    low, high = FIRST_PARTS
    return between(low, FIRST_S, whole_s, high) * whole_s
