"""Heuristics of ours, without a guarantee.

- `greedy`: by density, or by exchanges within groups.
- `memetic`: Chu and Beasley's genetic algorithm with our start, exchanges and restarts.
"""
