"""0/1 knapsack: which items are carried? A system to start from, to be replaced part by part.

The literature:

- `instance`, `evaluate`, `features`
- `formulations`: the integer program
- `algorithms`: greedy, the paper's
- `baselines`, `guarantees`

Ours:

- `proving`: the check of certificates, a bound, an exact method
- `data`: generators
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="skeleton",
    title="0/1 knapsack",
    citation=Citation(
        authors="G. B. Dantzig",
        title="Discrete-Variable Extremum Problems",
        venue="Operations Research 5, 266-288",
        year=1957,
        doi="10.1287/opre.5.2.266",
    ),
    sense="max",
    objective="value",
    integral_objective=True,  # bounds may be rounded to whole numbers
    default_method="branch_and_bound",  # what `solve` runs
    default_methods=("greedy", "by_value", "price", "branch_and_bound"),  # what `compare` runs
)
