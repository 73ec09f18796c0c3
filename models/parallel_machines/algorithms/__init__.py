"""The approximation algorithms of the literature, step by step.

- `graham`: list scheduling, and LPT.
- `multifit`: first-fit decreasing with bisection of the capacity.
- `differencing`: the largest differencing method.
"""
