"""Searches for good choices, which prove nothing.

- `local_search`: construction, and improvement by exchanges
- `memetic`: a genetic algorithm for single items, with its loops in `memetic_loops`
- `deviations`: packings of single items near the linear relaxation
"""
