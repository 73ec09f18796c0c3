"""What closes gaps.

- `ladder`: heuristics, elimination with more and more partial partitions, then CP-SAT.
- `blocks`: the best partition that keeps blocks together, by CP-SAT: a restriction.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="elimination",
        kind="exact",
        summary="multi-start, elimination of the training nodes, CP-SAT for what is left",
        reference="this project",
        run=part("ladder:elimination"),
        parameters={"starts": 1, "most_states": 2**21},
        stochastic=True,
        formulation="elimination",
    ),
    Method(
        name="blocks",
        kind="heuristic",
        summary="the best partition that keeps BGL's blocks together (native CP-SAT)",
        reference="(2) on contracted blocks",
        run=part("blocks:blocks"),
        parameters={"most_blocks": 60},
        stochastic=True,
    ),
)
