"""Adversarial online allocation and pricing: policies, their worst cases, and the game.

- `run`: a stream of requests and what policies make of it
- `sequence`: the worst stream for given prices
- `policy`: the best randomised policy for a grid of values
- `subproblems`: posted prices, their exact replay, the offline optimum, price curves
"""
