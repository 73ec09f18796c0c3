"""Random instances.

presets: the presets, from the paper's experiments to tiny instances.
random_jobs: the random jobs, arrivals and clusters that they draw.
"""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

GENERATORS = (
    Generator(
        "quickstart",
        summary="a few jobs on four servers with narrow links",
        generate=part("presets:quickstart"),
        parameters={"jobs": 6},
    ),
    Generator(
        "paper",
        summary="the settings of the paper's experiments, with its sweeps",
        generate=part("presets:paper"),
        parameters={
            "jobs": 100,
            "servers": 50,
            "racks": 0,
            "horizon_slots": 200,
            "arrivals": "uniform_first_half",
            "budget_units": "iterations",
            "utility": "sigmoid",
            "node_factor": 0.0,
            "edge_factor": 0.0,
        },
    ),
    Generator(
        "contended",
        summary="the same on a small cluster, where policies differ",
        generate=part("presets:contended"),
        parameters={
            "jobs": 60,
            "servers": 8,
            "horizon_slots": 20,
            "arrivals": "uniform_first_half",
            "utility": "sigmoid",
        },
    ),
    Generator(
        "timed",
        summary="the same with progress from the iteration time of a ring",
        generate=part("presets:timed"),
        parameters={
            "jobs": 60,
            "servers": 8,
            "horizon_slots": 20,
            "slot_s": 600.0,
            "progress_at": "infinite",
        },
    ),
    Generator(
        "tight",
        summary="few GPUs per server and links that bind",
        generate=part("presets:tight"),
        parameters={
            "jobs": 60,
            "servers": 10,
            "racks": 2,
            "horizon_slots": 20,
            "utility": "sigmoid",
            "link_factor": 1.0,
            "urgency": 0.0,
        },
    ),
    Generator(
        "slot",
        summary="one slot of jobs with decreasing marginal gains",
        generate=part("presets:slot"),
        parameters={"jobs": 40, "servers": 50, "racks": 0, "largest_ring": 5, "scarce": False},
    ),
    Generator(
        "rigid",
        summary="one slot of rings of exactly three workers; a link carries one ring",
        generate=part("presets:rigid"),
        parameters={"jobs": 8, "servers": 8},
    ),
    Generator(
        "graph",
        summary="a random directed graph of servers and switches",
        generate=part("presets:graph"),
        parameters={
            "jobs": 4,
            "servers": 4,
            "switches": 2,
            "extra_links": 6,
            "horizon_slots": 1,
            "largest_ring": 3,
        },
    ),
    Generator(
        "tiny",
        summary="an instance small enough to enumerate",
        generate=part("presets:tiny"),
        parameters={
            "jobs": 3,
            "servers": 3,
            "racks": 2,
            "horizon_slots": 1,
            "largest_ring": 3,
            "resources": 1,
        },
    ),
)
