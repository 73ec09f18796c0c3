"""Models on paper, one file each.

- `nonconvex`: the paper's program as printed
- `columns`: a binary variable for every pair of every job
- `collapsed`: the knapsack of jobs with their best pairs
- `inner_milp`, `inner_cp`, `inner_gp`: one job, as MILP, as CP-SAT table, over the reals
"""

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "minlp",
        model_class="MINLP",
        strength="exact",
        summary="the paper's program: ratios, sigmoids and products as printed",
        equations="F1: TR(1)-TR(3)",
        build=part("nonconvex:build"),
        decode=part("nonconvex:decode"),
        backends=("scip",),
    ),
    Formulation(
        "columns",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every pair of workers and servers of every job",
        equations="F2, F4 (reconstructed)",
        build=part("columns:build"),
        decode=part("columns:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "collapsed",
        model_class="ILP",
        strength="exact",
        summary="the knapsack of jobs, each with its best pair",
        equations="F3 (reconstructed)",
        build=part("collapsed:build"),
        decode=part("collapsed:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
)
