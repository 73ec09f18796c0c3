"""Heuristics of ours, not in the paper.

- `multi_start`: BGL's partition from several starts, refined.
- `annealing`: simulated annealing from BGL's partition; its loop is `proposals`.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="multi_start",
        kind="heuristic",
        summary="BGL's partition from several starts, repaired and refined; the best",
        reference="this project",
        run=part("multi_start:multi_start"),
        parameters={"starts": 10},
        stochastic=True,
    ),
    Method(
        name="annealing",
        kind="heuristic",
        summary="BGL's partition, annealed with overfull parts charged, and repaired",
        reference="this project",
        run=part("annealing:annealing"),
        parameters={"sweeps": 16_000},
        stochastic=True,
    ),
)
