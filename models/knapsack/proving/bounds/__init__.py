"""Upper bounds on the profit, each with a certificate.

- `multipliers`: Lagrangian and surrogate relaxation at the duals of the linear relaxation
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "lagrangian",
        kind="relaxation",
        summary="Lagrangian bound at the duals of the linear relaxation, re-checked exactly",
        reference="L(lambda)",
        run=part("multipliers:lagrangian"),
        formulation="lagrangian",
    ),
    Method(
        "surrogate",
        kind="relaxation",
        summary="all rows summed to one by the same duals, solved by dynamic programming",
        reference="surrogate relaxation",
        run=part("multipliers:surrogate"),
        parameters={"cells": 200_000},
        formulation="surrogate",
    ),
)
