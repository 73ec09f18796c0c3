"""Presets: random chains, networks like the paper's, and what misleads the planner (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few layers on two machines of two GPUs",
        generate=part("presets:quickstart"),
        parameters={"layers": 8, "microbatches": 8},
    ),
    Generator(
        name="paper",
        summary="chains like the paper's networks on its hardware A, B or C",
        generate=part("networks:paper"),
        parameters={"model": "bert48", "hardware": "A", "noise": 0.05, "microbatches": 0},
    ),
    Generator(
        name="random",
        summary="random chains on machines of equal size",
        generate=part("presets:random_chain"),
        parameters={
            "layers": 12,
            "machines": 2,
            "gpus_per_machine": 4,
            "microbatches": 16,
            "intra_gbyte_per_s": 12.0,
            "inter_gbyte_per_s": 1.25,
            "comm_model": "planner_code",
        },
    ),
    Generator(
        name="misled",
        summary="the planner's estimate is lowest on a plan 15 % longer than the best",
        generate=part("presets:misled"),
        parameters={"stretch": 1.0},
    ),
)
