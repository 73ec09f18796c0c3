"""DAPPLE: hybrid data and pipeline parallelism on machines with slow links between them.

- `instance`, `evaluate`, `certificate`, `features`: data, evaluator, checks of bounds
- `formulations`: integer programs of plans with GPUs counted by machine
- `bounds`: the least head, load and tail over all plans
- `algorithms`: the paper's planner and its early-backward schedule
- `baselines`: data parallelism, GPipe, straight pipelines, PipeDream
- `exact`: all plans by labels, schedules by CP-SAT
- `guarantees`, `generate`, `importers`, `pictures`
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
    name="dapple",
    title="Hybrid data and pipeline parallelism on machines, DAPPLE",
    citation=Citation(
        authors="Shiqing Fan, Yi Rong, Chen Meng, Zongyan Cao, Siyu Wang, Zhen Zheng, Chuan Wu, "
        "Guoping Long, Jun Yang, Lixue Xia, Lansong Diao, Xiaoyong Liu, Wei Lin",
        title="DAPPLE: A Pipelined Data Parallel Approach for Training Large Models",
        venue="PPoPP",
        year=2021,
        arxiv="2007.01045",
    ),
    sense="min",
    objective="iteration time, s",
    instance_type=part("instance:DappleInstance"),
    solution_type=part("instance:DappleSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:DappleCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="exact_plans",
    default_methods=(
        "data_parallel",
        "gpipe",
        "straight",
        "pipedream",
        "dapple",
        "least_bound",
        "exact_plans",
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
