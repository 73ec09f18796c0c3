"""Presets: the paper's settings, a small contended cluster, instances to enumerate (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        "quickstart",
        summary="a few jobs that compete for two machines",
        generate=part("presets:quickstart"),
        parameters={"jobs": 6},
    ),
    Generator(
        "paper",
        summary="the settings of the paper's experiments, with their sweeps",
        generate=part("presets:paper"),
        parameters={
            "jobs": 50,
            "machines": 100,
            "horizon_slots": 20,
            "work_scale": 1.0,
            "capacity_workers": 18.0,
            "largest_batch": 200,
            "insensitive": 0.10,
            "critical": 0.35,
            "arrivals": "alternating",
            "bandwidth_ratio": None,
            "locality": "both",
            "ratio": "at_least",
        },
    ),
    Generator(
        "online",
        summary="the same with shorter jobs, which come and go",
        generate=part("presets:online"),
        parameters={
            "jobs": 50,
            "machines": 100,
            "horizon_slots": 20,
            "work_scale": 0.05,
            "arrivals": "poisson",
        },
    ),
    Generator(
        "desk",
        summary="a small contended cluster with sharp utilities",
        generate=part("presets:desk"),
        parameters={
            "jobs": 8,
            "machines": 4,
            "horizon_slots": 8,
            "largest_batch": 4,
            "capacity_workers": 6.0,
        },
    ),
    Generator(
        "tiny",
        summary="an instance that can be enumerated",
        generate=part("presets:tiny"),
        parameters={
            "jobs": 3,
            "machines": 2,
            "horizon_slots": 3,
            "resources": 1,
            "largest_batch": 4,
            "locality": "both",
            "ratio": "at_least",
        },
    ),
)
