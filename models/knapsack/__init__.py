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
    pictures=(Picture("capacities", "what the items take of every capacity", part("plot:plot")),),
    certificate_type=part("certificate:KnapsackCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="cg_core",
    default_methods=("frieze_clarke", "greedy", "lagrangian", "surrogate", "cg_core"),
    generators=(
        Generator(
            "quickstart",
            "a small knapsack of the paper's kind",
            part("generate:quickstart"),
            {"items": 20, "rows": 3},
        ),
        Generator(
            "paper",
            "Chu and Beasley's: profits follow the weights",
            part("generate:paper"),
            {"items": 100, "rows": 5, "tightness": 0.25},
        ),
        Generator(
            "uncorrelated",
            "profits that do not depend on the weights",
            part("generate:uncorrelated"),
            {"items": 100, "rows": 5, "tightness": 0.5},
        ),
        Generator(
            "multiple_choice",
            "like Khan's: exactly one item of each group",
            part("generate:multiple_choice"),
            {"groups": 15, "items": 10, "rows": 10},
        ),
    ),
    importers=(
        Importer(
            "orlib-mknap",
            "OR-Library's files mknap1, mknap2 and mknapcb1 to mknapcb9",
            part("importers:orlib_mknap"),
            {"problems": ""},
            chosen_problems,
        ),
        Importer(
            "mmkp",
            "Khan's multiple-choice knapsacks I01 to I13",
            part("importers:mmkp"),
            {"problems": ""},
            chosen_problems,
        ),
    ),
    formulations=(
        Formulation(
            "direct",
            "ILP",
            "exact",
            "a binary variable for every item",
            "(K1)-(K4)",
            part("formulations:build"),
            part("formulations:decode"),
            ("highs", "cpsat"),
        ),
        Formulation(
            "lp_relaxation",
            "LP",
            "relaxation",
            "the same with parts of items",
            "(K1)-(K3)",
            part("formulations:build_relaxation"),
            None,
            ("highs",),
        ),
    ),
    methods=(
        Method(
            "cg_core",
            "exact",
            "linear program by column generation, then the core that reduced costs leave",
            "core of small reduced costs",
            part("methods:cg_core"),
            formulation="cg_core",
            backend="highs",
        ),
        Method(
            "dynamic_program",
            "exact",
            "dynamic program for items whose weights are multiples of one vector",
            "collinear case",
            part("methods:dynamic_program"),
            formulation="dynamic_program",
        ),
        Method(
            "frieze_clarke",
            "approximation",
            "every set of k items, then the linear relaxation rounded down",
            "Frieze and Clarke 1984",
            part("methods:frieze_clarke"),
            {"k": 2, "complete": False, "enumeration": "pruned"},
            {"enumeration": ("pruned", "literal")},
        ),
        Method(
            "greedy",
            "baseline",
            "by profit per part of the fullest row; exchanges within groups",
            "greedy",
            part("methods:greedy"),
        ),
        Method(
            "lagrangian",
            "relaxation",
            "Lagrangian bound at the duals of the linear relaxation, re-checked exactly",
            "L(lambda)",
            part("bounds:lagrangian"),
            formulation="lagrangian",
        ),
        Method(
            "surrogate",
            "relaxation",
            "all rows summed to one by the same duals, solved by dynamic programming",
            "surrogate relaxation",
            part("bounds:surrogate"),
            {"cells": 200_000},
            formulation="surrogate",
        ),
    ),
    guarantees=(
        Guarantee(
            "Frieze-Clarke",
            "profit >= k / (k + m) OPT with m rows",
            "Frieze and Clarke 1984",
            "proven",
            ("frieze_clarke",),
            part("guarantees:frieze_clarke_ratio"),
            (
                Assumption(
                    "every group is one item that may be left out", part("guarantees:single_items")
                ),
            ),
        ),
    ),
)
