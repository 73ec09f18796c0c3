"""Commit rates against a model of the error: how often each worker commits in a check period.

The paper:

- `instance`, `evaluate`, `features`; `tables` of steps
- `formulations`: as it stands, one-hot, tables in CP-SAT
- `algorithms`: Algorithm 1 on the model
- `baselines`: equal rates, rates by speed, as often as possible
- `guarantees`, `statements`

Ours:

- `proving`: certificates and their check; the Lagrangian bound of the momentum cap; threshold
  sweep, labels, outer approximation
- `data`: generators
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="adsp_rates",
    title="Commit rates of distributed SGD on workers of different speeds",
    citation=CITATION,
    sense="min",
    objective="error bound, time to accuracy, or steps lost",
    default_method="exact_rates",
    default_methods=(
        "adsp",
        "equal_commits",
        "by_speed",
        "most_commits",
        "lagrangian",
        "exact_rates",
    ),
)
