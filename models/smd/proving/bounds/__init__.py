"""Upper bounds on the total utility, all without integer programming.

- `prices`: Lagrangian bound and sum of utilities, certified by prices; the continuous relaxation.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "lagrangian",
        kind="relaxation",
        summary="Lagrangian bound at the duals of the linear relaxation, recomputed from raw data",
        reference="L(lambda) (reconstructed)",
        run=part("prices:lagrangian"),
        formulation="lagrangian",
    ),
    Method(
        "utility_sum",
        kind="relaxation",
        summary="sum of the best utilities of all jobs",
        reference="sum of utilities (reconstructed)",
        run=part("prices:utility_sum"),
        formulation="utility_sum",
    ),
    Method(
        "continuous",
        kind="relaxation",
        summary="linear relaxation with utilities of the geometric programs",
        reference="F7 (reconstructed)",
        run=part("prices:continuous"),
        formulation="continuous",
    ),
)
