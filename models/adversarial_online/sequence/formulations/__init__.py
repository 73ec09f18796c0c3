"""The models on paper.

- `posted_prices`: the integer program (3) of one resource, for a fixed ratio or the regret.
- `cp`: the same as a constraint program.
- `resources`: the integer program of several resources.

The ratio is a quotient of two linear functions; `proving.exact.dinkelbach` finds the ratio at which
these models have the optimum 0. The regret is linear, and then they stand alone.
"""
