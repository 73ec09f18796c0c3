"""Adversarial sellers of bundles: several resources, some of them given back, and unknown requests.

Each room declares its own parts. What the paper's game is:

- `instance`, `evaluate`, `features`; `stocks`: what is held after which sales
- `formulations`: the game in sequence form, with posted prices, and with divisible bundles
- `baselines`: greedy, exponential prices, the best fixed prices of resources, one drawn price
- `algorithms`: the paper's networks
- `guarantees`; `subproblems`: trees of histories, sellers written out, what networks see

Ours:

- `heuristics`: regret minimisation, the best seller that draws nothing
- `proving`: lotteries over sequences as certificates, the adversary's program, double oracle
- `data`, `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="adversarial_bundles",
    title="Adversarial online allocation: the best seller of bundles",
    citation=Citation(
        authors="B. Du, Z. Huang, C. Wu",
        title="Adversarial Deep Learning for Online Resource Allocation",
        venue="ACM Transactions on Modeling and Performance Evaluation of Computing Systems 6(4)",
        year=2021,
        doi="10.1145/3494526",
        arxiv="2111.10285",
    ),
    sense="min",
    objective="largest OPT/ALG",
    default_method="minimax",
    default_methods=(
        "greedy",
        "exponential",
        "fixed_prices",
        "drawn_price",
        "deterministic",
        "learned",
        "minimax",
    ),
)
