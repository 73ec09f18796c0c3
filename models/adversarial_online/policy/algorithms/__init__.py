"""The shares of the units (1), and the paper's networks.

- `share_policy`: shares of the units for levels, (1); optimal for long horizons.
- `training`: a seller's and an adversary's network, trained against each other.
- `learned`: the seller's network as a policy.
"""

from gadgetopt.system.declaration import Method, Parts, Trainer

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="share_policy",
        kind="approximation",
        summary="units reserved for levels by the shares (1), one seed",
        reference="(1), reconstructed",
        run=part("share_policy:share_policy"),
        parameters={"draw": "seed"},
        choices={"draw": ("seed", "static")},
    ),
    Method(
        name="learned",
        kind="heuristic",
        summary="the seller's network, rounded to a table; its worst case is exact",
        reference="Du, Huang and Wu 2021, reconstructed",
        run=part("learned:learned"),
        parameters={"policy": ""},
        files=("policy",),
    ),
)

TRAINERS = (
    Trainer(
        name="networks",
        summary="a seller's and an adversary's network, updated for every action",
        start=part("training:start"),
        methods=("learned",),
        parameters={
            "units": 2,
            "levels": 5,
            "horizon": 6,
            "spread": 4,
            "batch": 96,
            "rounds": 200,
            "answered": 0.5,
        },
        presets={"small": {"rounds": 100}, "five_units": {"units": 5, "horizon": 15}},
    ),
)
