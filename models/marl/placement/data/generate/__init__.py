"""Presets: random jobs on racks, leaf-spine networks and fat trees (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

_CLUSTER = {"types": 4, "load": 1.0}

GENERATORS = (
    Generator(
        name="tiny",
        summary="a few jobs, for enumeration",
        generate=part("presets:tiny"),
        parameters={"jobs": 4, "servers": 3, "gpus": 2, "types": 2},
    ),
    Generator(
        name="quickstart",
        summary="a few jobs on which rules are seldom optimal",
        generate=part("presets:quickstart"),
        parameters={"jobs": 8, "servers": 5},
    ),
    Generator(
        name="paper",
        summary="a mixed load on tens of servers in racks (reconstructed)",
        generate=part("presets:paper"),
        parameters={"jobs": 60, "racks": 2, "servers_per_rack": 20, "types": 4, "load": 0.9},
    ),
    Generator(
        name="single_rack",
        summary="random jobs on the servers of one rack",
        generate=part("presets:single_rack"),
        parameters={"jobs": 10, "servers": 5, "gpus": 4, **_CLUSTER},
    ),
    Generator(
        name="leaf_spine",
        summary="random jobs on the racks of a leaf-spine network",
        generate=part("presets:leaf_spine"),
        parameters={"jobs": 12, "racks": 2, "servers_per_rack": 3, "gpus": 4, **_CLUSTER},
    ),
    Generator(
        name="fat_tree",
        summary="random jobs on a fat tree of k-port switches, k^3/4 servers",
        generate=part("presets:fat_tree"),
        parameters={"jobs": 16, "ports": 4, **_CLUSTER},
    ),
    Generator(
        name="single_tasks",
        summary="many single-task jobs of a few classes, all jobs of a class alike",
        generate=part("presets:single_tasks"),
        parameters={
            "classes": 4,
            "jobs": 800,
            "servers": 250,
            "gpus": 4,
            "iterations": (200, 500, 1000, 2000),
        },
    ),
)
