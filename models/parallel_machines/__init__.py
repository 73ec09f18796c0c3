"""Scheduling jobs on identical parallel machines: the shortest makespan, P||Cmax.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `guarantees`, `features`, `generate`, `importers`
- `formulations`: the integer programs from weak to strong, and a constraint program
- `bounds`: lower bounds with certificates
- `algorithms`: list scheduling, LPT, MULTIFIT, differencing
- `baselines`: local search
- `exact`: the search that closes the gap at any size
- `pictures`
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
    name="parallel_machines",
    title="Makespan on identical parallel machines, P||Cmax",
    citation=Citation(
        authors="R. L. Graham",
        title="Bounds on multiprocessing timing anomalies",
        venue="SIAM Journal on Applied Mathematics 17, 416-429",
        year=1969,
        doi="10.1137/0117039",
    ),
    sense="min",
    objective="makespan, s",
    integral_objective=True,
    instance_type=part("instance:ParallelMachinesInstance"),
    solution_type=part("instance:ParallelMachinesSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:ParallelMachinesCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="bin_search",
    default_methods=(
        "list_scheduling",
        "lpt",
        "multifit",
        "differencing",
        "combinatorial",
        "bin_search",
    ),
    generators=generate.GENERATORS,
    importers=importers.IMPORTERS,
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
