"""Multi-dimensional and multiple-choice knapsacks, and the public benchmarks of both."""

from gadgetopt.declaration import (
    Assumption,
    Citation,
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Method,
    Parts,
    Picture,
    Problem,
)

part = Parts(__name__)
chosen_problems = {"problems": "numbers from 0 or names with *, separated by commas; empty: all"}

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
    pictures=(
        Picture(
            "capacities", summary="what the items take of every capacity", draw=part("plot:plot")
        ),
    ),
    certificate_type=part("certificate:KnapsackCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="cg_core",
    default_methods=("frieze_clarke", "greedy", "lagrangian", "surrogate", "cg_core"),
    generators=(
        Generator(
            "quickstart",
            summary="a small knapsack of the paper's kind",
            generate=part("generate:quickstart"),
            parameters={"items": 20, "rows": 3},
        ),
        Generator(
            "paper",
            summary="Chu and Beasley's: profits follow the weights",
            generate=part("generate:paper"),
            parameters={"items": 100, "rows": 5, "tightness": 0.25},
        ),
        Generator(
            "uncorrelated",
            summary="profits that do not depend on the weights",
            generate=part("generate:uncorrelated"),
            parameters={"items": 100, "rows": 5, "tightness": 0.5},
        ),
        Generator(
            "multiple_choice",
            summary="like Khan's: exactly one item of each group",
            generate=part("generate:multiple_choice"),
            parameters={"groups": 15, "items": 10, "rows": 10},
        ),
    ),
    importers=(
        Importer(
            "orlib-mknap",
            summary="OR-Library's files mknap1, mknap2 and mknapcb1 to mknapcb9",
            read=part("importers:orlib_mknap"),
            parameters={"problems": ""},
            help=chosen_problems,
        ),
        Importer(
            "mmkp",
            summary="Khan's multiple-choice knapsacks I01 to I13",
            read=part("importers:mmkp"),
            parameters={"problems": ""},
            help=chosen_problems,
        ),
    ),
    formulations=(
        Formulation(
            "direct",
            model_class="ILP",
            strength="exact",
            summary="a binary variable for every item",
            equations="(K1)-(K4)",
            build=part("formulations:build"),
            decode=part("formulations:decode"),
            backends=("highs", "cpsat"),
        ),
        Formulation(
            "lp_relaxation",
            model_class="LP",
            strength="relaxation",
            summary="the same with parts of items",
            equations="(K1)-(K3)",
            build=part("formulations:build_relaxation"),
            decode=None,
            backends=("highs",),
        ),
    ),
    methods=(
        Method(
            "cg_core",
            kind="exact",
            summary="linear program by column generation, then the core that reduced costs leave",
            reference="core of small reduced costs",
            run=part("methods:cg_core"),
            parameters={"core_solver": "auto"},
            choices={"core_solver": ("auto", "enumeration", "mip")},
            formulation="enumeration",
        ),
        Method(
            "enumeration",
            kind="exact",
            summary="all choices that exact bounds leave, by the number of items",
            reference="enumeration by cardinality",
            run=part("methods:enumeration"),
            parameters={"by_count": True},
            formulation="enumeration",
        ),
        Method(
            "dynamic_program",
            kind="exact",
            summary="dynamic program for items whose weights are multiples of one vector",
            reference="collinear case",
            run=part("methods:dynamic_program"),
            formulation="dynamic_program",
        ),
        Method(
            "frieze_clarke",
            kind="approximation",
            summary="every set of k items, then the linear relaxation rounded down",
            reference="Frieze and Clarke 1984",
            run=part("methods:frieze_clarke"),
            parameters={"k": 2, "complete": False, "enumeration": "pruned"},
            choices={"enumeration": ("pruned", "literal")},
        ),
        Method(
            "greedy",
            kind="baseline",
            summary="by profit per part of the fullest row; exchanges within groups",
            reference="greedy",
            run=part("methods:greedy"),
        ),
        Method(
            "lagrangian",
            kind="relaxation",
            summary="Lagrangian bound at the duals of the linear relaxation, re-checked exactly",
            reference="L(lambda)",
            run=part("bounds:lagrangian"),
            formulation="lagrangian",
        ),
        Method(
            "surrogate",
            kind="relaxation",
            summary="all rows summed to one by the same duals, solved by dynamic programming",
            reference="surrogate relaxation",
            run=part("bounds:surrogate"),
            parameters={"cells": 200_000},
            formulation="surrogate",
        ),
    ),
    guarantees=(
        Guarantee(
            "Frieze-Clarke",
            statement="profit >= k / (k + m) OPT with m rows",
            reference="Frieze and Clarke 1984",
            standing="proven",
            methods=("frieze_clarke",),
            ratio=part("guarantees:frieze_clarke_ratio"),
            assumptions=(
                Assumption(
                    "every group is one item that may be left out", part("guarantees:single_items")
                ),
            ),
        ),
    ),
)
