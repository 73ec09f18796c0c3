"""A-SRPT: online scheduling of training jobs in a GPU cluster, guided by a virtual single machine.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `features`; `iteration_time` and `mapping` of a job;
  `relaxations`, `price_checks`, `server_prices`, what the check of bounds computes
- `formulations`: time-indexed programs, CP-SAT, the mapping problem of one job
- `bounds`: B0 to B5 and prices of parts of servers
- `algorithms`: A-SRPT; `guarantees`: its theorems
- `baselines`: other policies, backfilling, references; `exact`: the pool, then its servers
- `generate`, `importers`, `pictures`
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
    importers,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="a_srpt",
    title="Online scheduling of training jobs, guided by predictions (A-SRPT)",
    citation=Citation(
        authors="Z. Luo, J. Liu, M. Lee, N. B. Shroff",
        title="Prediction-Assisted Online Distributed Deep Learning Workload Scheduling in GPU "
        "Clusters",
        venue="IEEE INFOCOM",
        year=2025,
        arxiv="2501.05563",
    ),
    sense="min",
    objective="total weighted completion time, ticks",
    instance_type=part("instance:ASrptInstance"),
    solution_type=part("instance:ASrptSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    fixed_part="release_cost",
    certificate_type=part("certificate:ASrptCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="decomposition",
    default_methods=(
        "a_srpt",
        "a_srpt_workload",
        "spjf",
        "spwf",
        "wcs_duration",
        "wcs_workload",
        "wcs_subtime",
        "fifo",
        "easy",
        "price_guided",
        "server_price_bound",
        "decomposition",
    ),
    generators=generate.GENERATORS,
    importers=importers.IMPORTERS,
    formulations=formulations.FORMULATIONS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
        *formulations.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
