"""Heuristics of ours, not in the paper.

- `hedge`: multiplicative weights on the matrix game.
- `cfr`: counterfactual regret minimisation on the tree of histories.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="hedge",
        kind="heuristic",
        summary="multiplicative weights of both players on the matrix game, their means",
        reference="Freund and Schapire 1999",
        run=part("hedge:hedge"),
        parameters={"iterations": 4000},
    ),
    Method(
        name="cfr",
        kind="heuristic",
        summary="counterfactual regret minimisation on the tree of histories, the means",
        reference="Zinkevich et al. 2007; Tammelin 2014",
        run=part("cfr:cfr"),
        parameters={"iterations": 2000},
    ),
)
