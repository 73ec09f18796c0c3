"""BGL's partition: which graph-store server stores which node.

Each room declares its own parts:

- `instance`, `graph`, `requests`, `terms`: the graph, and the weights of its pairs, exactly
- `evaluate`, `certificate`, `elimination`, `cuts`, `features`, `generate`, `importers`, `pictures`
- `formulations`: the integer program (2) in two linearisations, and clauses
- `bounds`: stars, isolating cuts, semidefinite bounds, cuts, elimination that forgets
- `algorithms`: BGL's blocks and score
- `baselines`: random, hash, LDG, Fennel, METIS, PaGraph, multi-start
- `exact`: elimination with cuts and CP-SAT for what is left; branch and cut; exact on blocks
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import (
    algorithms,
    baselines,
    bounds,
    exact,
    formulations,
    generate,
    importers,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="bgl_partition",
    title="Graph partition for sampling, with balanced training nodes",
    citation=Citation(
        authors="T. Liu, Y. Chen, D. Li, C. Wu, Y. Zhu, J. He, Y. Peng, H. Chen, H. Chen, C. Guo",
        title="BGL: GPU-Efficient GNN Training by Optimizing Graph Data I/O and Preprocessing",
        venue="NSDI, 103-118",
        year=2023,
        arxiv="2112.08541",
    ),
    sense="min",
    objective="expected requests to other servers",
    instance_type=part("instance:BglPartitionInstance"),
    solution_type=part("instance:BglPartitionSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:BglPartitionCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="elimination",
    default_methods=(
        "bgl",
        "random",
        "ldg",
        "metis_like",
        "pagraph",
        "multi_start",
        "annealing",
        "elimination",
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
    pictures=pictures.PICTURES,
    statements=statements.STATEMENTS,
)
