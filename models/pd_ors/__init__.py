"""PD-ORS: online scheduling of parameter-server jobs with locality."""

from gadgetopt.declaration import (
    Citation,
    Generator,
    Parts,
    Problem,
)

part = Parts(__name__)

PROBLEM = Problem(
    name="pd_ors",
    title="Online scheduling of parameter-server jobs with locality",
    citation=Citation(
        authors="Menglu Yu, Jia Liu, Chuan Wu, Bo Ji, Elizabeth S. Bentley",
        title="Toward Efficient Online Scheduling for Distributed Machine Learning Systems",
        venue="IEEE Transactions on Network Science and Engineering 9(4)",
        year=2022,
        arxiv="2108.02917",
    ),
    sense="max",
    objective="total_utility",
    instance_type=part("instance:PdOrsInstance"),
    solution_type=part("instance:PdOrsSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    generators=(
        Generator(
            "quickstart",
            "a few jobs of which about half find room",
            part("generate:quickstart"),
            {"jobs": 6},
        ),
        Generator(
            "paper",
            "the settings of the paper's experiments, with their sweeps",
            part("generate:paper"),
            {
                "jobs": 50,
                "machines": 100,
                "horizon_slots": 20,
                "work_scale": 1.0,
                "capacity_workers": 18.0,
                "largest_batch": 200,
                "insensitive": 0.10,
                "critical": 0.35,
                "arrivals": "alternating",
                "bandwidth_ratio": None,
                "locality": "both",
                "ratio": "at_least",
            },
        ),
        Generator(
            "online",
            "the same with shorter jobs, which come and go",
            part("generate:online"),
            {
                "jobs": 50,
                "machines": 100,
                "horizon_slots": 20,
                "work_scale": 0.05,
                "arrivals": "poisson",
            },
        ),
        Generator(
            "desk",
            "a small contended cluster with sharp utilities",
            part("generate:desk"),
            {
                "jobs": 8,
                "machines": 4,
                "horizon_slots": 8,
                "largest_batch": 4,
                "capacity_workers": 6.0,
            },
        ),
        Generator(
            "tiny",
            "an instance that can be enumerated",
            part("generate:tiny"),
            {
                "jobs": 3,
                "machines": 2,
                "horizon_slots": 3,
                "resources": 1,
                "largest_batch": 4,
                "locality": "both",
                "ratio": "at_least",
            },
        ),
    ),
)
