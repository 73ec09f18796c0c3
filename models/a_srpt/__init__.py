"""A-SRPT: online scheduling of training jobs in a GPU cluster, guided by a virtual single machine.

The paper: `instance`, `evaluate`, `features`; `iteration_time` and `mapping` of a job;
`relaxations`, the pool and its formulas; `formulations`, `algorithms`, `baselines`, `guarantees`,
`statements`; `subproblems`, what they share.

Ours: `heuristics`; `proving`: the check of certificates, bounds B0 to B5 and prices of parts of
servers, and the exact method; `data`: generators and importers of traces; `pictures`.
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
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
    fixed_part="release_cost",
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
    renamed={
        "a_srpt:guide": "a_srpt_weighted",
        "a_srpt:virtual_alpha": "a_srpt_workload",
        "a_srpt:virtual_speed": "a_srpt_workload",
        "a_srpt:queue_order": "a_srpt_workload",
    },
)
