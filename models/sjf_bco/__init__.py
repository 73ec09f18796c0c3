"""SJF-BCO: gang-scheduling ring-all-reduce jobs under link contention (minimum makespan)."""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="sjf_bco",
    title="Gang-scheduling ring-all-reduce jobs under link contention",
    citation=Citation(
        authors="Menglu Yu, Bo Ji, Hridesh Rajan, Jia Liu",
        title="On Scheduling Ring-All-Reduce Learning Jobs in Multi-Tenant GPU Clusters with "
        "Communication Contention",
        venue="ACM MobiHoc",
        year=2022,
        doi="10.1145/3492866.3549716",
        arxiv="2207.07817",
    ),
    sense="min",
    objective="makespan_slots",
    integral_objective=True,
    objective_limit="horizon_slots",
    default_method="ladder",
    default_methods=(
        "sjf_bco",
        "sjf_bco_sweep",
        "first_fit",
        "list_scheduling",
        "random_placement",
        "lpt_ils",
        "combinatorial",
        "ladder",
    ),
    renamed={
        "sjf_bco:theta_search=sweep": "sjf_bco_sweep",
        "sjf_bco:theta_search=feasible": "sjf_bco_feasible",
        "sjf_bco:theta_search": "sjf_bco",
        "sjf_bco:seed_unbounded": "sjf_bco_unbounded",
    },
)
