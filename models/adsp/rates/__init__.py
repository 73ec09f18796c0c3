"""Commit rates against a model of the error: how often each worker commits in a check period.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `features`; `tables` of steps; `staircase` and
  `momentum_labels`, which certificates are checked by
- `formulations`: as it stands, one-hot, tables in CP-SAT
- `bounds`: Lagrangian, of the momentum cap
- `algorithms`: Algorithm 1 on the model
- `baselines`: equal rates, rates by speed, as often as possible
- `exact`: threshold sweep, labels, outer approximation
- `guarantees`, `generate`, `pictures`
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
    name="adsp_rates",
    title="Commit rates of distributed SGD on workers of different speeds",
    citation=Citation(
        authors="H. Hu, D. Wang, C. Wu",
        title="Distributed Machine Learning through Heterogeneous Edge Systems",
        venue="AAAI 34(05), 7179-7186",
        year=2020,
        arxiv="1911.06949",
    ),
    sense="min",
    objective="error bound, time to accuracy, or steps lost",
    instance_type=part("instance:AdspRatesInstance"),
    solution_type=part("instance:AdspRatesSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:AdspRatesCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="exact_rates",
    default_methods=(
        "adsp",
        "equal_commits",
        "by_speed",
        "most_commits",
        "lagrangian",
        "exact_rates",
    ),
    generators=generate.GENERATORS,
    formulations=formulations.FORMULATIONS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
        *formulations.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
