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

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
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
    renamed={
        "smd:grid": "smd_as_printed",
        "smd:fallback": "smd_as_printed",
        "smd:zero": "smd_as_printed",
        "smd:route": "smd",
        "smd:inner_objective": "smd_actual",
        "smd:rounding=floor": "smd_floor",
        "smd:rounding=corners": "smd_corners",
        "smd:outer=exact": "smd_exact",
        "smd:outer=greedy_density": "smd_greedy",
        "smd:rounding": "smd",
        "smd:outer": "smd",
        "smd:complete": "smd_complete",
        "algorithm_3:complete": "algorithm_3_complete",
    },
)
