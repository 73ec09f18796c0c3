"""The best randomised policy for a grid of values.

Each room declares its own parts:

- `instance`, `evaluate`, `features`; `sale_table`: how a table of sale probabilities is judged
- `formulations`: the linear program (2) on trees of histories
- `algorithms`: the paper's networks, and the shares (1)
- `baselines`: the rules of the theory
- `guarantees`, `statements`: what ratios the theory promises, and its statements, checked
- `subproblems`: chains, trees, networks
- `heuristics`: learning without networks
- `proving`: the policy that keeps a share, double oracle, matrix game, and the bound of one
  sequence with a random end
- `data`, `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="adversarial_online_policy",
    title="Adversarial online allocation: the best policy on a value grid",
    citation=CITATION,
    sense="min",
    objective="largest OPT/ALG, or largest OPT - ALG in money",
    default_method="minimax",
    default_methods=(
        "greedy",
        "exponential",
        "finite_table",
        "exponential_draw",
        "share_policy",
        "minimax",
    ),
    removed={"hedge": "minimax"},
)
