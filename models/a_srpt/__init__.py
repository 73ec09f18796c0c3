"""A-SRPT: online scheduling of training jobs in a GPU cluster, guided by a virtual single machine.

Each room declares its own parts:

- `instance`, `evaluate`, `features`; beside them `iteration_time` and `mapping`, the tables of
  per-iteration times and the fastest mapping of a job
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

part = Parts(__name__)

PROBLEM = Problem(
    name="a_srpt",
    title="Prediction-assisted online scheduling of distributed training jobs (A-SRPT)",
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
)
