"""What closes gaps.

- `ladder`: heuristics, elimination with more and more partial partitions, cuts, then CP-SAT.
- `branch_and_cut`: cuts of the pairs of nodes, found when violated, and cases (`cases`).
- `blocks`: the best partition that keeps blocks together, by CP-SAT: a restriction.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="elimination",
        kind="exact",
        summary="multi-start, elimination of the training nodes, cuts, CP-SAT for what is left",
        reference="this project",
        run=part("ladder:elimination"),
        parameters={"starts": 1, "most_states": 2**21},
        stochastic=True,
        formulation="elimination",
    ),
    Method(
        name="branch_and_cut",
        kind="exact",
        summary="cycle, tree, star and clique inequalities, branching on pairs of training nodes",
        reference="this project, after Ferreira et al. 1998",
        run=part("branch_and_cut:branch_and_cut"),
        parameters={"starts": 1},
        stochastic=True,
        formulation="cuts",
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
