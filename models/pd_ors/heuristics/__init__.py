"""Heuristics of ours, not in the paper: PD-ORS with one thing changed.

- `prices`: other ranges of its prices.
- `kernel`: other ways to find cheapest schedules.
- `repaired_rounding`: what is done with roundings that do not fit, or leave a surplus.
"""
