"""Random instances.

- `presets`: the paper's ranges, independent limits, planted optima, and the quickstart
"""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        "quickstart",
        summary="a few planted jobs, about half of which fit",
        generate=part("presets:quickstart"),
        parameters={"jobs": 6, "charging": "reserved"},
    ),
    Generator(
        "paper",
        summary="the ranges that the paper prints",
        generate=part("presets:paper"),
        parameters={
            "jobs": 50,
            "sgd_mode": "sync",
            "cluster_units": 5.0,
            "cluster_instances": 0,
            "instance_type": "c4.8xlarge",
            "overlap": "sequential",
            "charging": "reserved",
        },
    ),
    Generator(
        "independent_limits",
        summary="the paper's ranges with independent limits of resources: a knapsack of four rows",
        generate=part("presets:independent_limits"),
        parameters={
            "jobs": 50,
            "sgd_mode": "sync",
            "tightness": 0.25,
            "instance_type": "c4.8xlarge",
            "charging": "reserved",
        },
    ),
    Generator(
        "planted",
        summary="best pairs inside the reservations, utilities around the best times",
        generate=part("presets:planted"),
        parameters={
            "jobs": 50,
            "sgd_mode": "sync",
            "cluster_units": 20.0,
            "cluster_instances": 0,
            "instance_type": "c4.8xlarge",
            "charging": "reserved",
        },
    ),
)
