"""The paper's algorithms.

- `smd`: the whole of SMD, repaired and as printed; Algorithm 3 on best pairs
- `grid_search`: Algorithm 1, a grid over the values of the ratios of one job
- `rounding`: Algorithm 2, randomised rounding for one job
- `outer`: admission of jobs by Algorithm 3
- `theorem_values`: what the theorems come to on an instance
"""

from typing import Any

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
PARAMETERS: dict[str, Any] = {
    "eps_inner": 0.01,
    "shrink": 1.0,
    "delta": None,
    "attempts": 20,
    "k": 2,
    "eps_outer": None,
}

METHODS = (
    Method(
        "smd",
        kind="approximation",
        summary="grid search and rounding for every job, then a knapsack",
        reference="Algorithms 1, 2 and 3",
        run=part("smd:smd"),
        parameters=PARAMETERS,
        stochastic=True,
    ),
    Method(
        "smd_as_printed",
        kind="heuristic",
        summary="SMD with the printed grid; jobs whose roundings all fail get nothing",
        reference="Algorithms 1, 2 and 3, without repairs",
        run=part("smd:smd_as_printed"),
        parameters=PARAMETERS,
        stochastic=True,
    ),
    Method(
        "algorithm_3",
        kind="approximation",
        summary="best pairs, admitted by Frieze and Clarke's algorithm",
        reference="Algorithm 3",
        run=part("smd:algorithm_3"),
        parameters={"k": 2, "eps_outer": None},
    ),
)
