"""Scheduling jobs on identical parallel machines: the shortest makespan, P||Cmax.

Each room declares its own parts. The literature:

- `instance`, `evaluate`, `features`; `counting`: bounds by counting, and sums of processing times
- `formulations`: the integer programs from weak to strong, and a constraint program
- `algorithms`: list scheduling, LPT, MULTIFIT, differencing
- `guarantees`, `statements`

Ours:

- `heuristics`: local search
- `proving`: certificates, lower bounds, the search that closes the gap at any size
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="parallel_machines",
    title="Makespan on identical parallel machines, P||Cmax",
    citation=Citation(
        authors="R. L. Graham",
        title="Bounds on multiprocessing timing anomalies",
        venue="SIAM Journal on Applied Mathematics 17, 416-429",
        year=1969,
        doi="10.1137/0117039",
    ),
    sense="min",
    objective="makespan, s",
    integral_objective=True,
    default_method="bin_search",
    default_methods=(
        "list_scheduling",
        "lpt",
        "multifit",
        "differencing",
        "combinatorial",
        "bin_search",
    ),
)
