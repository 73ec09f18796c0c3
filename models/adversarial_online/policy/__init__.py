"""The best randomised policy for a grid of values.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `guarantees`, `features`, `generate`, `pictures`
- `formulations`: the linear program (2) on trees of histories
- `bounds`: one sequence with a random end, with a certificate
- `algorithms`: optimal policies in closed form
- `baselines`: the rules of the theory
- `exact`: double oracle, matrix game, and the method that the instance allows
- `subproblems`: chains, trees, best responses
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import (
    algorithms,
    baselines,
    bounds,
    exact,
    formulations,
    generate,
    guarantees,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="adversarial_online_policy",
    title="Adversarial online allocation: the best policy on a value grid",
    citation=Citation(
        authors="B. Du, Z. Huang, C. Wu",
        title="Adversarial Deep Learning for Online Resource Allocation",
        venue="ACM Transactions on Modeling and Performance Evaluation of Computing Systems 6(4)",
        year=2021,
        doi="10.1145/3494526",
        arxiv="2111.10285",
    ),
    sense="min",
    objective="largest OPT/ALG, or largest OPT - ALG in money",
    instance_type=part("instance:AdversarialOnlinePolicyInstance"),
    solution_type=part("instance:AdversarialOnlinePolicySolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:AdversarialOnlinePolicyCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="minimax",
    default_methods=(
        "greedy",
        "exponential",
        "finite_table",
        "exponential_draw",
        "share_policy",
        "minimax",
    ),
    generators=generate.GENERATORS,
    formulations=formulations.FORMULATIONS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    trainers=algorithms.TRAINERS,
    pictures=pictures.PICTURES,
    statements=statements.STATEMENTS,
)
