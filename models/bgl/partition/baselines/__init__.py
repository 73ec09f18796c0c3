"""What BGL was compared with: partitions without a guarantee.

- `simple`: random and hashed.
- `streaming`: LDG and Fennel.
- `metis`: recursive spectral bisection with refinement, and METIS itself.
- `pagraph`: PaGraph's greedy over training nodes.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="random",
        kind="baseline",
        summary="training nodes, then the others, dealt in random order",
        reference="Liu et al. 2023, baseline",
        run=part("simple:random"),
        stochastic=True,
    ),
    Method(
        name="hash",
        kind="baseline",
        summary="a multiplicative hash of the node's number, loads repaired",
        reference="Liu et al. 2023, baseline",
        run=part("simple:hash_parts"),
    ),
    Method(
        name="ldg",
        kind="baseline",
        summary="linear deterministic greedy: nodes stream in, neighbours pull, full parts repel",
        reference="Stanton and Kliot 2012",
        run=part("streaming:ldg"),
        parameters={"order": "random"},
        choices={"order": ("random", "given")},
        stochastic=True,
    ),
    Method(
        name="fennel",
        kind="baseline",
        summary="nodes stream in; neighbours minus a marginal price of size",
        reference="Tsourakakis et al. 2014",
        run=part("streaming:fennel"),
        parameters={"order": "random", "gamma": 1.5},
        choices={"order": ("random", "given")},
        stochastic=True,
    ),
    Method(
        name="metis_like",
        kind="baseline",
        summary="recursive spectral bisection of the graph, refined by edge cut",
        reference="Pothen, Simon and Liou 1990; Kernighan and Lin 1970",
        run=part("metis:metis_like"),
        stochastic=True,
    ),
    Method(
        name="metis",
        kind="baseline",
        summary="METIS itself, by the extra `metis`, loads repaired",
        reference="Karypis and Kumar 1998",
        run=part("metis:metis"),
        stochastic=True,
    ),
    Method(
        name="pagraph",
        kind="baseline",
        summary="each training node goes where its neighbourhood has most training nodes",
        reference="Lin et al. 2020, recalled",
        run=part("pagraph:pagraph"),
        stochastic=True,
    ),
)
