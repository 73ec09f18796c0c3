"""Multi-dimensional and multiple-choice knapsacks, and the public benchmarks of both.

- `instance`, `evaluate`, `certificate`, `features`: data, evaluator, checks of bounds
- `scaling`, `outcome`: an instance in whole numbers, and results in the instance's own numbers
- `formulations`, `bounds`, `algorithms`, `guarantees`, `baselines`, `exact`, `generate`,
  `importers`, `pictures`
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
    importers,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
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
    instance_type=part("instance:KnapsackInstance"),
    solution_type=part("instance:KnapsackSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:KnapsackCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="cg_core",
    default_methods=("frieze_clarke", "greedy", "lagrangian", "surrogate", "cg_core"),
    generators=generate.GENERATORS,
    importers=importers.IMPORTERS,
    formulations=formulations.FORMULATIONS,
    methods=(*exact.METHODS, *algorithms.METHODS, *baselines.METHODS, *bounds.METHODS),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
