"""Multi-dimensional and multiple-choice knapsacks, and the public benchmarks of both.

The literature:

- `instance`, `evaluate`, `features`; `scaling`: an instance in whole numbers; `multipliers`: the
  Lagrangian bound
- `formulations`, `algorithms`, `guarantees`, `statements`
- `subproblems`: results in the instance's own numbers

Ours:

- `heuristics`: greedy, memetic search, Frieze and Clarke's algorithm completed
- `proving`: the check of certificates, bounds, exact methods
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="knapsack",
    title="Multi-dimensional and multiple-choice knapsack",
    citation=Citation(
        authors="P. C. Chu, J. E. Beasley",
        title="A genetic algorithm for the multidimensional knapsack problem",
        venue="Journal of Heuristics 4, 63-86",
        year=1998,
        doi="10.1023/A:1009642405419",
    ),
    sense="max",
    objective="profit",
    default_method="cg_core",
    default_methods=("frieze_clarke", "greedy", "lagrangian", "surrogate", "cg_core"),
    renamed={
        "frieze_clarke:complete": "frieze_clarke_complete",
        "frieze_clarke:enumeration": "frieze_clarke_literal",
    },
)
