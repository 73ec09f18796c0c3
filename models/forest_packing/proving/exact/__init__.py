"""Methods that prove optimality.

- column_generation: trees generated for the tree-pair LP; the default method, which hands over
  what the next two are faster on (tree_columns: the columns themselves).
- cut_generation: cuts generated for the cut LP, then trees for its loads.
- arborescence_packing, cable_packing: trees of symmetric networks, peeled off in integers, without
  a linear program.
- bounded_depth: column generation over tree pairs of bounded depth.
- pair_budget: at most K tree pairs, by CP-SAT.
- equal_share: trees of equal rate in polynomial time, by matroid union.
- tree_plans, rational_duals: exact plans and certificates from trees and duals in floating point;
  separation, shallow_trees: cuts, and cheapest trees of bounded depth.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "column_generation",
        kind="exact",
        summary="trees priced by spanning trees or arborescences, smoothed",
        reference="F1, F5, F7.3; A3",
        run=part("column_generation:column_generation"),
        parameters={"smoothing": 0.8, "warm_start": "balanced", "hand_over": True},
        choices={"warm_start": ("balanced", "garg_koenemann", "none")},
        formulation="tree_pairs",
        backend="highs",
    ),
    Method(
        "cut_generation",
        kind="exact",
        summary="cuts separated by maximum flows, then trees peeled off the loads in integers",
        reference="F3, A3",
        run=part("cut_generation:cut_generation"),
        parameters={"trees": True},
        formulation="cuts",
        backend="highs",
    ),
    Method(
        "arborescence_packing",
        kind="exact",
        summary="symmetric networks: cables directed by the strength, then trees peeled off in "
        "integers",
        reference="F5, A3, A4",
        run=part("arborescence_packing:arborescence_packing"),
        formulation="spanning_trees",
    ),
    Method(
        "pair_budget_cp",
        kind="exact",
        summary="at most K pairs of trees on any network without switches (CP-SAT, rates on "
        "a grid)",
        reference="F8d",
        run=part("pair_budget:pair_budget_cp"),
        parameters={"granularity": None},
        formulation="pair_budget",
        backend="cpsat",
    ),
    Method(
        "bounded_depth",
        kind="exact",
        summary="trees of bounded depth: columns priced exactly",
        reference="F8f",
        run=part("bounded_depth:bounded_depth"),
        formulation="bounded_depth",
        backend="highs",
    ),
    Method(
        "equal_share_partition",
        kind="exact",
        summary="K trees of equal share, by bisection over tree-packing numbers",
        reference="F8a",
        run=part("equal_share:equal_share_partition"),
        formulation="equal_share",
    ),
)
