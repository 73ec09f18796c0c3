"""Generators of instances.

- presets: random overlays, hardware, data-centre fabrics and plain graphs, with contention.
- topologies: the networks they are made of.
"""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)
shared: dict[str, str | float] = {"model": "unit", "contention": 1.0}

GENERATORS = (
    Generator(
        "quickstart",
        summary="a complete overlay of five workers, 1 to 20 GB/s",
        generate=part("presets:quickstart"),
        parameters={"workers": 5, "contention": 1.0},
    ),
    Generator(
        "paper",
        summary="complete overlays of random bandwidths (reconstructed)",
        generate=part("presets:paper"),
        parameters={
            "workers": 8,
            "distribution": "uniform",
            "symmetric": True,
            "model": "bert_large",
            "contention": 1.0,
        },
    ),
    Generator(
        "hardware",
        summary="boxes of GPUs, or the part of one that a job was given",
        generate=part("presets:hardware"),
        parameters={"topology": "dgx1_v100", "boxes": 1, "gpus": "", **shared},
    ),
    Generator(
        "star",
        summary="workers around one switch",
        generate=part("presets:star"),
        parameters={"workers": 8, "bandwidth": 1.0, **shared},
    ),
    Generator(
        "fat_tree",
        summary="k-port switches and k^3/4 hosts",
        generate=part("presets:fat_tree"),
        parameters={"k": 4, "host": 1.0, "fabric": 1.0, "core": 1.0, **shared},
    ),
    Generator(
        "bcube",
        summary="BCube(n, 1)",
        generate=part("presets:bcube"),
        parameters={"n": 4, "bandwidth": 1.0, **shared},
    ),
    Generator(
        "dcell",
        summary="DCell_1(n)",
        generate=part("presets:dcell"),
        parameters={"n": 4, "bandwidth": 1.0, **shared},
    ),
    Generator(
        "torus",
        summary="a torus of any dimensions",
        generate=part("presets:torus"),
        parameters={"dims": "4x4", "bandwidth": 1.0, **shared},
    ),
    Generator(
        "hypercube",
        summary="a hypercube",
        generate=part("presets:hypercube"),
        parameters={"dimension": 4, "bandwidth": 1.0, **shared},
    ),
    Generator(
        "complete",
        summary="equal cables between every two workers",
        generate=part("presets:complete"),
        parameters={"workers": 8, "bandwidth": 1.0, **shared},
    ),
    Generator(
        "clustered",
        summary="dense fast clusters, sparse slow cables between them",
        generate=part("presets:clustered"),
        parameters={
            "clusters": 4,
            "cluster_workers": 4,
            "density": 0.8,
            "between": 0.3,
            "symmetric": True,
            **shared,
        },
    ),
    Generator(
        "random_digraph",
        summary="a random strongly connected digraph",
        generate=part("presets:random_digraph"),
        parameters={"workers": 6, "switches": 0, "density": 0.4, "largest": 10, **shared},
    ),
)
