"""The paper's algorithms.

- `smd`: the whole of SMD; Algorithm 3 on best pairs
- `grid_search`: Algorithm 1, a grid over the values of the ratios of one job
- `rounding`: Algorithm 2, randomised rounding for one job
- `outer`: admission of jobs, by Algorithm 3, exactly or greedily
- `theorem_values`: what the theorems come to on an instance
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
outers: dict[str, tuple[str, str, str]] = {"outer": ("exact", "frieze_clarke", "greedy_density")}

METHODS = (
    Method(
        "smd",
        kind="approximation",
        summary="grid search and rounding for every job, then a knapsack",
        reference="Algorithms 1, 2 and 3",
        run=part("smd:smd"),
        parameters={
            "eps_inner": 0.01,
            "grid": "repaired",
            "inner_objective": "upper",
            "route": "fast",
            "rounding": "random",
            "shrink": 1.0,
            "delta": None,
            "attempts": 20,
            "zero": "clip",
            "fallback": "floor",
            "outer": "frieze_clarke",
            "k": 2,
            "eps_outer": None,
            "complete": False,
        },
        choices={
            "grid": ("repaired", "as_printed"),
            "inner_objective": ("upper", "actual"),
            "route": ("fast", "lp"),
            "rounding": ("random", "floor", "corners"),
            "zero": ("clip", "reject"),
            "fallback": ("floor", "none"),
            **outers,
        },
        stochastic=True,
    ),
    Method(
        "algorithm_3",
        kind="approximation",
        summary="best pairs, admitted by Frieze and Clarke's algorithm",
        reference="Algorithm 3",
        run=part("smd:algorithm_3"),
        parameters={"k": 2, "eps_outer": None, "complete": False},
    ),
)
