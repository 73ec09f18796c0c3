"""GADGET: online scheduling of ring-all-reduce jobs on the links and servers of a network."""

from gadgetopt.declaration import Citation, Generator, Method, Parts, Picture, Problem

part = Parts(__name__)

PROBLEM = Problem(
    name="gadget",
    title="Rings of ring-all-reduce jobs, slot by slot on a network",
    citation=Citation(
        authors="Menglu Yu, Ye Tian, Bo Ji, Chuan Wu, Hridesh Rajan, Jia Liu",
        title="GADGET: Online Resource Optimization for Scheduling Ring-All-Reduce Learning Jobs",
        venue="IEEE INFOCOM",
        year=2022,
        arxiv="2202.01158",
    ),
    sense="max",
    objective="total_utility",
    instance_type=part("instance:GadgetInstance"),
    solution_type=part("instance:GadgetSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    pictures=(
        Picture("gantt", "ring sizes of all jobs over the slots", part("plot:plot")),
        Picture(
            "network",
            "rings and link loads of the busiest slot on the network",
            part("plot_tree:plot_tree"),
        ),
        Picture(
            "gains",
            "what one more worker-slot gains, after ever more of them",
            part("plot_gains:plot_gains"),
            of="instance",
        ),
        Picture(
            "envelope",
            "a utility with its concave envelope and the tangent point",
            part("plot_envelope:plot_envelope"),
            of="instance",
        ),
    ),
    generators=(
        Generator(
            "quickstart",
            "a few jobs on four servers with narrow links",
            part("generate:quickstart"),
            {"jobs": 6},
        ),
        Generator(
            "paper",
            "the settings of the paper's experiments, with their sweeps",
            part("generate:paper"),
            {
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
            "the same on a small cluster, where policies differ",
            part("generate:contended"),
            {
                "jobs": 60,
                "servers": 8,
                "horizon_slots": 20,
                "arrivals": "uniform_first_half",
                "utility": "sigmoid",
            },
        ),
        Generator(
            "tight",
            "few GPUs a server and links that bind",
            part("generate:tight"),
            {"jobs": 60, "servers": 10, "racks": 2, "horizon_slots": 20, "utility": "sigmoid"},
        ),
        Generator(
            "slot",
            "one slot of jobs whose gains fall from worker to worker",
            part("generate:slot"),
            {"jobs": 40, "servers": 50, "racks": 0, "largest_ring": 5, "scarce": False},
        ),
        Generator(
            "rigid",
            "one slot of rings of three or none, a server's link carrying one",
            part("generate:rigid"),
            {"jobs": 8, "servers": 8},
        ),
        Generator(
            "graph",
            "a random directed graph of servers and switches",
            part("generate:graph"),
            {
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
            "an instance that can be enumerated",
            part("generate:tiny"),
            {
                "jobs": 3,
                "servers": 3,
                "racks": 2,
                "horizon_slots": 1,
                "largest_ring": 3,
                "resources": 1,
            },
        ),
    ),
    methods=(
        Method(
            "fifo",
            "baseline",
            "in the order of arrival, each on its servers until its budget is used",
            "baseline FIFO",
            part("baselines:fifo"),
            {"most_workers": 10, "draw": "clip", "backfill": False},
            {"draw": ("clip", "within")},
            stochastic=True,
        ),
        Method(
            "drf",
            "baseline",
            "dominant resource fairness: every slot shared out anew, worker by worker",
            "baseline DRF",
            part("baselines:drf"),
            {"share_links": False},
        ),
        Method(
            "tiresias",
            "baseline",
            "least attained service first, every slot anew",
            "baseline Tiresias",
            part("baselines:tiresias"),
            {"most_workers": 10, "draw": "clip", "threshold": 0.0},
            {"draw": ("clip", "within")},
            stochastic=True,
        ),
    ),
)
