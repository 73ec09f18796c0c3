"""Presets: batches at random, and training on graphs with and without locality."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a few small batches in free order, overlapping by chance",
        generate=part("presets:quickstart"),
        parameters={"batches": 9, "nodes": 20, "batch_nodes": 5, "capacity": 5},
    ),
    Generator(
        name="paper",
        summary="training on a connected caveman graph, whose caves are the classes",
        generate=part("presets:paper"),
        parameters={
            "caves": 200,
            "cave_nodes": 15,
            "train_share": 0.2,
            "batch_size": 30,
            "fanouts": "5,3",
            "capacity_share": 0.1,
        },
    ),
    Generator(
        name="geometric",
        summary="training on a random geometric graph: locality without classes",
        generate=part("presets:geometric"),
        parameters={
            "nodes": 3000,
            "radius": 0.035,
            "train_share": 0.2,
            "batch_size": 30,
            "fanouts": "5,3",
            "capacity_share": 0.1,
        },
    ),
    Generator(
        name="power_law",
        summary="training on a power-law cluster graph: hubs instead of locality",
        generate=part("presets:power_law"),
        parameters={
            "nodes": 3000,
            "train_share": 0.2,
            "batch_size": 30,
            "fanouts": "5,3",
            "capacity_share": 0.1,
        },
    ),
    Generator(
        name="batches",
        summary="fixed batches drawn uniformly, order free or given",
        generate=part("presets:batches"),
        parameters={
            "batches": 14,
            "nodes": 28,
            "batch_nodes": 6,
            "capacity": 6,
            "order": "free",
            "most_weight": 1,
            "most_size": 1,
        },
    ),
    Generator(
        name="paging",
        summary="requests of one node in given order, popularity by Zipf's law",
        generate=part("presets:paging"),
        parameters={"requests": 500, "nodes": 60, "capacity": 10, "exponent": 1.0},
    ),
)
