"""Heuristics of ours, without a guarantee.

- `frieze_clarke_complete`: Frieze and Clarke's algorithm with items added that still fit.
- `greedy`: by density, or by exchanges within groups.
- `memetic`: Chu and Beasley's genetic algorithm with our start, exchanges and restarts.
"""
