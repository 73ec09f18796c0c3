"""Lower bounds, each with a certificate; the linear relaxations are `formulations`.

- `lagrangian`: elimination with memory priced in.
- `reparametrisation`: costs moved between tables by reweighted messages.
- `mini_buckets`: elimination whose buckets are split.
- `compute_only`: the cheapest compute of every operator.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="lagrangian",
        kind="relaxation",
        summary="elimination with memory priced in, at the best price",
        reference="3.8 (ii); reconstructed",
        run=part("relaxations:lagrangian"),
        formulation="elimination",
    ),
    Method(
        name="reparametrisation",
        kind="relaxation",
        summary="costs moved between tables by reweighted messages",
        reference="TRW-S; reconstructed",
        run=part("relaxations:reparametrisation"),
        parameters={"sweeps": 100},
        formulation="messages",
    ),
    Method(
        name="mini_buckets",
        kind="relaxation",
        summary="elimination whose large buckets are split",
        reference="mini-buckets; reconstructed",
        run=part("relaxations:mini_buckets"),
        parameters={"most_cells": 2**14},
        formulation="elimination",
    ),
    Method(
        name="compute_only",
        kind="relaxation",
        summary="the cheapest compute of every operator",
        reference="3.8 (iii); reconstructed",
        run=part("relaxations:compute_only"),
        formulation="messages",
    ),
)
