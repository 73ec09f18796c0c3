"""SPP: synchronous pipelines on any cluster - stages, replicas, mapping and execution order.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `guarantees`, `features`, `generate`, `importers`
- `formulations`: integer programs of the load, of the bound and of the makespan; CP-SAT
- `bounds`: even work, least load, least head-load-tail bound
- `algorithms`: RDO, PRM, PE and SPP
- `baselines`: data parallelism, GPipe, PipeDream, DAPPLE, HetPipe
- `exact`: all plans below the incumbent, each scheduled
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
    name="spp",
    title="Synchronous pipeline planning on clusters of any connectivity",
    citation=Citation(
        authors="Ziyue Luo, Xiaodong Yi, Guoping Long, Shiqing Fan, Chuan Wu, Jun Yang, Wei Lin",
        title="Efficient Pipeline Planning for Expedited Distributed DNN Training",
        venue="IEEE INFOCOM",
        year=2022,
        arxiv="2204.10562",
    ),
    sense="min",
    objective="iteration time, s",
    instance_type=part("instance:SppInstance"),
    solution_type=part("instance:SppSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:SppCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="exact_spp",
    default_methods=(
        "spp",
        "data_parallel",
        "gpipe",
        "pipedream",
        "dapple",
        "hetpipe",
        "plan_bound",
        "exact_spp",
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
