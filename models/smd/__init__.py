"""SMD: admission of training jobs with reservations, and workers and servers for each.

The paper:

- `instance`, `evaluate`, `features`; `iteration_time`, `ps_worker`: time of an iteration, and of a
  job with w workers and p servers
- `formulations`, `algorithms`, `baselines`, `guarantees`, `statements`
- `subproblems`: the problem of one job

Ours:

- `heuristics`: best pairs, admitted greedily
- `proving`: certificates and their check, bounds, exact methods
- `data`: generators
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import algorithms, baselines, formulations, guarantees, heuristics, pictures, statements
from .data import generate
from .proving import bounds, exact

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
    certificate_type=part("proving.certificate.check:SmdCertificate"),
    check_bound=part("proving.certificate.check:check_bound"),
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
    renamed=heuristics.RENAMED,
    generators=generate.GENERATORS,
    formulations=formulations.FORMULATIONS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *heuristics.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
