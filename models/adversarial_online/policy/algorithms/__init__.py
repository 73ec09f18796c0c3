"""Optimal policies in closed form.

- `kept_share`: the policy that keeps ALG at a share of OPT; optimal for every horizon.
- `share_policy`: shares of the units for levels, (1); optimal for long horizons.
"""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        name="kept_share",
        kind="exact",
        summary="keeps the welfare at a share of the offline optimum; closed form",
        reference="this project",
        run=part("kept_share:kept_share"),
        formulation="kept_share",
    ),
    Method(
        name="share_policy",
        kind="approximation",
        summary="units reserved for levels by the shares (1), one seed",
        reference="(1), reconstructed",
        run=part("share_policy:share_policy"),
        parameters={"draw": "seed"},
        choices={"draw": ("seed", "static")},
    ),
)
