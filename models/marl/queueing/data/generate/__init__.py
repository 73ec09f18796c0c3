"""Presets: jobs that arrive as a Poisson process (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="tiny",
        summary="a few jobs, for enumeration",
        generate=part("presets:tiny"),
        parameters={"jobs": 3, "servers": 2, "gpus": 2, "slots": 6},
    ),
    Generator(
        name="quickstart",
        summary="a few jobs whose order matters",
        generate=part("presets:quickstart"),
        parameters={"jobs": 6, "servers": 2},
    ),
    Generator(
        name="paper",
        summary="jobs that arrive at a small cluster as a Poisson process (reconstructed)",
        generate=part("presets:paper"),
        parameters={"jobs": 10, "servers": 2, "slots": 14},
    ),
    Generator(
        name="poisson",
        summary="jobs that arrive as a Poisson process, on racks of equal servers",
        generate=part("presets:poisson"),
        parameters={
            "jobs": 6,
            "racks": 1,
            "servers_per_rack": 3,
            "gpus": 4,
            "types": 4,
            "slot_s": 300,
            "slots": 12,
            "slots_per_job": 2.0,
            "slots_between": 0.5,
            "tasks": (1, 1, 2, 2, 4),
            "migration": True,
        },
    ),
)
