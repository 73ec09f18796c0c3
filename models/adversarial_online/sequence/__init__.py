"""The worst sequence of requests for given prices.

Each room declares its own parts:

- `instance`, `evaluate`, `features`
- `formulations`: the integer program (3), its constraint program, and one of several resources
- `baselines`: the chain of all levels
- `guarantees`: the theorem on that chain
- `subproblems`: what a given sequence is worth to both sides
- `heuristics`: local search
- `proving`: a dynamic program with its certificate, a closed form, Dinkelbach's iteration over the
  models, and the bound that holds for every horizon
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="adversarial_online_sequence",
    title="Adversarial online allocation: the worst sequence for given prices",
    citation=CITATION,
    sense="max",
    objective="OPT/ALG, or OPT - ALG in money",
    default_method="dynamic_program",
    default_methods=("chain", "local_search", "closed_form", "dynamic_program", "any_horizon"),
)
