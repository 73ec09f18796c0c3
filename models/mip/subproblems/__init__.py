"""What the baselines share.

- `points`: points of the relaxation, and rounded ones made exact
"""
