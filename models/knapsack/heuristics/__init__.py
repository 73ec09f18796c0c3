"""Heuristics of ours, without a guarantee.

- `greedy`: by density, or by exchanges within groups.
- `memetic`: Chu and Beasley's genetic algorithm with our start, exchanges and restarts.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "greedy",
        kind="baseline",
        summary="by profit per part of the fullest row; exchanges within groups",
        reference="greedy",
        run=part("greedy:greedy"),
    ),
    Method(
        "memetic",
        kind="heuristic",
        summary="genetic algorithm with repair by prices, exchanges and restarts",
        reference="Chu and Beasley 1998",
        run=part("memetic:memetic"),
        parameters={"children": 1_000_000},
    ),
)
