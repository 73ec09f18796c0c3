"""Heuristics of ours, not in the paper.

- `greedy`: best pairs of all jobs, admitted greedily
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "greedy",
        kind="heuristic",
        summary="best pairs, admitted by utility over the largest share of a capacity",
        reference="greedy (reconstructed)",
        run=part("greedy:greedy"),
    ),
)
