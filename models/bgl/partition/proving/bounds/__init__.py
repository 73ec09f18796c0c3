"""Lower bounds on the cost, each with a certificate.

- `stars`: by counting, where a part is smaller than a neighbourhood.
- `isolating_cuts`: minimum cuts around every training node, at prices of balance.
- `eigenvalue`: the semidefinite bound with balance, checked in whole numbers.
- `cut_bound`: the linear program over pairs, with all cycle inequalities.
- `semidefinite`: the semidefinite bound with cuts, for any number of parts.
- `elimination_bound`: elimination with a limited number of partial partitions.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="stars",
        kind="relaxation",
        summary="the lightest neighbours of nodes with more than fit into a part",
        reference="this project",
        run=part("stars:stars"),
        formulation="stars",
    ),
    Method(
        name="isolating_cuts",
        kind="relaxation",
        summary="minimum cuts around every training node, at prices of balance",
        reference="this project, after Dahlhaus et al. 1994",
        run=part("isolating_cuts:isolating_cuts"),
        formulation="isolating_cuts",
    ),
    Method(
        name="eigenvalue",
        kind="relaxation",
        summary="the semidefinite bound on balanced partitions, checked in whole numbers",
        reference="Donath and Hoffman 1973; Goemans and Williamson 1995",
        run=part("eigenvalue:eigenvalue"),
        parameters={"sweeps": 200},
        stochastic=True,
        formulation="eigenvalue",
    ),
    Method(
        name="cut_bound",
        kind="relaxation",
        summary="the linear program over pairs of nodes, with cycles, trees, stars and cliques",
        reference="Barahona and Mahjoub 1986; Ferreira et al. 1998",
        run=part("cut_bound:cut_bound"),
        formulation="cuts",
    ),
    Method(
        name="semidefinite",
        kind="relaxation",
        summary="the semidefinite bound with the cuts as rows, checked in whole numbers",
        reference="Frieze and Jerrum 1997; Karisch and Rendl 1998",
        run=part("semidefinite:semidefinite"),
        parameters={"rounds": 4, "iterations": 400},
        formulation="semidefinite",
    ),
    Method(
        name="elimination_bound",
        kind="relaxation",
        summary="elimination that forgets frontier nodes where partial partitions are too many",
        reference="this project, after Dechter's mini-buckets 1997",
        run=part("elimination_bound:elimination_bound"),
        parameters={"most_states": 100_000},
        formulation="elimination",
    ),
)
