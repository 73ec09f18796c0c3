"""Presets (`presets`) and the random jobs that they draw (`random_jobs`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few jobs on three servers of four GPUs",
        generate=part("presets:quickstart"),
        parameters={"jobs": 8},
    ),
    Generator(
        name="paper",
        summary="a thousand pipeline jobs on 32 servers of 8 GPUs, slightly overloaded",
        generate=part("presets:paper"),
        parameters={"jobs": 1000, "servers": 32, "gpus_per_server": 8, "load": 1.2},
    ),
    Generator(
        name="pool",
        summary="rigid jobs on one server of 32 GPUs, where no mapping matters",
        generate=part("presets:pool"),
        parameters={"jobs": 30, "load": 2.5, "templates": 0},
    ),
    Generator(
        name="recurring",
        summary="jobs that repeat earlier ones, with groups, users and batch sizes",
        generate=part("presets:recurring"),
        parameters={
            "jobs": 2000,
            "servers": 16,
            "gpus_per_server": 8,
            "load": 1.2,
            "groups": 60,
            "one_off_share": 0.15,
        },
    ),
    Generator(
        name="low_load",
        summary="jobs that hardly queue: what is lost is lost to placement",
        generate=part("presets:low_load"),
        parameters={"jobs": 300, "servers": 8, "load": 0.5},
    ),
    Generator(
        name="overload",
        summary="jobs that need three times the cluster while they arrive",
        generate=part("presets:overload"),
        parameters={"jobs": 1000, "servers": 32, "load": 3.0},
    ),
)
