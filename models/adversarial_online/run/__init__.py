"""A stream of requests, and what policies make of it: welfare, revenue, regret.

Each room declares its own parts:

- `instance`, `evaluate`, `features`
- `formulations`: the all-knowing seller
- `algorithms`: the policies of the theory
- `baselines`: simpler policies, and the user's own prices
- `guarantees`: what ratios the theory promises
- `subproblems`: selling at posted prices, policies that draw once, what closing prices prove
- `proving`: the all-knowing seller's optimum, and prices that bound her welfare
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="adversarial_online_run",
    title="Online allocation at posted prices: a stream of requests",
    citation=CITATION,
    sense="max",
    objective="expected welfare",
    default_method="offline",
    default_methods=(
        "greedy",
        "exp_plain",
        "exponential",
        "finite_k",
        "one_seed",
        "random_static",
        "offline",
    ),
)
