"""SMD: admission of training jobs with reservations, and workers and servers for each.

- `instance`, `evaluate`, `certificate`, `features`: data, evaluator, checks of bounds
- `iteration_time`, `ps_worker`: time of an iteration, and of a job with w workers and p servers
- `best_gain`, `exhaustion`: what the check of a certificate computes for one job, and for all
- `subproblems`: the problem of one job
- `formulations`, `bounds`, `algorithms`, `guarantees`, `baselines`, `exact`, `generate`, `pictures`
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import (
    algorithms,
    baselines,
    bounds,
    exact,
    formulations,
    generate,
    guarantees,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="smd",
    title="Admission and sizes of parameter-server jobs with reservations",
    citation=Citation(
        authors="Menglu Yu, Chuan Wu, Bo Ji, Jia Liu",
        title="A Sum-of-Ratios Multi-Dimensional-Knapsack Decomposition for DNN Resource "
        "Scheduling",
        venue="IEEE INFOCOM",
        year=2021,
        arxiv="2105.13855",
    ),
    sense="max",
    objective="total_utility",
    instance_type=part("instance:SmdInstance"),
    solution_type=part("instance:SmdSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:SmdCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="cg_core",
    default_methods=(
        "smd",
        "algorithm_3",
        "esw",
        "optimus",
        "greedy",
        "utility_sum",
        "lagrangian",
        "cg_core",
    ),
    generators=generate.GENERATORS,
    formulations=formulations.FORMULATIONS,
    methods=(*algorithms.METHODS, *baselines.METHODS, *exact.METHODS, *bounds.METHODS),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
