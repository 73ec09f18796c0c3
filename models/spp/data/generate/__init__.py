"""Presets: random chains on clusters of machines, of any links, and of three levels (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

_CHAIN = {"layers": 24, "microbatches": 16}

GENERATORS = (
    Generator(
        name="quickstart",
        summary="eight layers on two machines of two GPUs",
        generate=part("presets:quickstart"),
        parameters={"layers": 8, "microbatches": 6},
    ),
    Generator(
        name="paper",
        summary="random chains on machines with fast links inside and slow ones between",
        generate=part("presets:paper"),
        parameters={
            **_CHAIN,
            "machines": 4,
            "gpus_per_machine": 4,
            "intra_gbyte_per_s": 12.0,
            "inter_gbyte_per_s": 1.25,
        },
    ),
    Generator(
        name="arbitrary",
        summary="links of 1.5, 3, 6 or 12 GB/s, drawn for every pair of GPUs",
        generate=part("presets:arbitrary"),
        parameters={**_CHAIN, "gpus": 8},
    ),
    Generator(
        name="fat_tree",
        summary="three levels of 12, 3 and 1.25 GB/s: GPU pairs, machines, racks",
        generate=part("presets:fat_tree"),
        parameters={**_CHAIN, "racks": 2, "machines": 2, "gpus_per_machine": 2},
    ),
    Generator(
        name="large_parameters",
        summary="parameters only in the last layers, as of convolutional networks",
        generate=part("presets:large_parameters"),
        parameters={**_CHAIN, "machines": 2, "gpus_per_machine": 4},
    ),
)
