"""Random instances.

presets: the presets, and the calibration of bandwidths and compute times to the paper's ranges.
"""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        "quickstart",
        summary="four jobs on three servers, with contention",
        generate=part("presets:quickstart"),
        parameters={"jobs": 4},
    ),
    Generator(
        "paper",
        summary="the paper's 160 jobs on 20 servers",
        generate=part("presets:paper"),
        parameters={
            "servers": 20,
            "jobs": 160,
            "horizon_slots": 1200,
            "extra": 0.15,
            "p_cal": None,
            "server_spread_factor": 1.0,
        },
    ),
    Generator(
        "contended_small",
        summary="gangs with unavoidable contention on servers of three GPUs",
        generate=part("presets:contended_small"),
        parameters={"jobs": 5, "servers": 3, "horizon_slots": 200},
    ),
    Generator(
        "mini_paper",
        summary="a small instance of the paper's kind, sizes in powers of two",
        generate=part("presets:mini_paper"),
        parameters={"jobs": 8, "servers": 4, "horizon_slots": 600},
    ),
    Generator(
        "scale",
        summary="the paper's mix on a cluster that grows with the jobs",
        generate=part("presets:scale"),
        parameters={"jobs": 1000, "jobs_per_server": 8, "p_cal": None},
    ),
)
