"""The models on paper, in Pyomo or as native CP-SAT models.

- tree_pairs: a variable for every pair of trees.
- flow, cuts, logical_links: loads of the arcs, by flows, by cuts, and on links between workers.
- loads: shares, capacities and switch balances that these three have in common.
- spanning_trees: undirected spanning trees and their compact orientation LP.
- equal_share_models: K trees of equal rate.
- tree_budget, tree_budget_cp: at most K trees of any rates.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "tree_pairs",
        model_class="LP",
        strength="exact",
        summary="one variable for every pair of trees (tiny networks)",
        equations="F1, F7.3",
        build=part("tree_pairs:build"),
        decode=part("tree_pairs:decode"),
        backends=("highs",),
    ),
    Formulation(
        "flow",
        model_class="LP",
        strength="exact",
        summary="loads that let a flow reach every worker: the compact form",
        equations="F2, F4, F7.1",
        build=part("flow:build"),
        decode=part("flow:decode"),
        backends=("highs",),
    ),
    Formulation(
        "cuts",
        model_class="LP",
        strength="exact",
        summary="loads that cross every cut (small networks)",
        equations="F3, F4, F7.1",
        build=part("cuts:build"),
        decode=part("cuts:decode"),
        backends=("highs",),
    ),
    Formulation(
        "spanning_trees",
        model_class="LP",
        strength="exact",
        summary="one variable for every spanning tree (small symmetric networks)",
        equations="F5",
        build=part("spanning_trees:build_trees"),
        decode=part("spanning_trees:decode_trees"),
        backends=("highs",),
    ),
    Formulation(
        "orientation",
        model_class="LP",
        strength="exact",
        summary="cables oriented, a flow from one root (symmetric networks)",
        equations="F5, compact",
        build=part("spanning_trees:build_orientation"),
        decode=part("spanning_trees:decode_orientation"),
        backends=("highs",),
    ),
    Formulation(
        "logical_links",
        model_class="LP",
        strength="exact",
        summary="the compact form on links between workers, routed through switches",
        equations="F7.2",
        build=part("logical_links:build"),
        decode=part("logical_links:decode"),
        backends=("highs",),
    ),
    Formulation(
        "multicast",
        model_class="LP",
        strength="relaxation",
        summary="the compact form with switches that copy and sum",
        equations="F2 without (3)",
        build=part("flow:build_multicast"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        "tree_budget",
        model_class="MILP",
        strength="restriction",
        summary="at most K trees of any rates, each used up and down (instances with a tree "
        "budget)",
        equations="F8b",
        build=part("tree_budget:build"),
        decode=part("tree_budget:decode"),
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        "equal_share_milp",
        kind="exact",
        summary="K trees of equal share (MILP)",
        reference="F8a",
        run=part("equal_share_models:equal_share_milp"),
        parameters={"backend": "highs"},
        choices={"backend": ("highs", "cpsat")},
        formulation="equal_share",
        backend="highs",
    ),
    Method(
        "equal_share_cp",
        kind="exact",
        summary="K trees of equal share (CP-SAT)",
        reference="F8a",
        run=part("equal_share_models:equal_share_cp"),
        formulation="equal_share",
        backend="cpsat",
    ),
    Method(
        "tree_budget_cp",
        kind="heuristic",
        summary="at most K trees of any rates, each used up and down (CP-SAT, rates on a grid)",
        reference="F8b",
        run=part("tree_budget_cp:tree_budget_cp"),
        parameters={"granularity": None},
        formulation="tree_budget",
        backend="cpsat",
    ),
)
