"""Verified lower bounds on the makespan.

combinatorial: the bounds as methods; class_bound: the class bound as an ILP, and its LP.
gpu_bin_lp: a configuration LP over what one GPU can run, by column generation.
instants: what the cluster can run in one slot, as a linear program, with prices as its proof.
mode_lp: the same with modes, servers and level, whose prices prune the priced search.
outcome: the method outcome of a verified bound.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "class_bound",
        model_class="ILP",
        strength="relaxation",
        summary="scarcity of large servers, by size class",
        equations="class bound (reconstructed)",
        build=part("class_bound:build"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        "combinatorial",
        kind="relaxation",
        summary="the larger of the energetic and the certified class bound",
        reference="verified lower bounds (reconstructed)",
        run=part("combinatorial:combinatorial"),
        formulation="class_bound",
        backend="highs",
    ),
    Method(
        "energetic",
        kind="relaxation",
        summary="bound by area and time windows",
        reference="verified lower bounds (reconstructed)",
        run=part("combinatorial:energetic"),
    ),
    Method(
        "class_lp",
        kind="relaxation",
        summary="class bound by linear programming, recomputed exactly from its duals",
        reference="verified lower bounds (reconstructed)",
        run=part("class_bound:class_lp"),
        formulation="class_bound",
        backend="highs",
    ),
    Method(
        "gpu_bins",
        kind="relaxation",
        summary="configuration LP over what one GPU can run, with integer prices as proof",
        reference="GPU-bin configuration LP (reconstructed)",
        run=part("gpu_bin_lp:gpu_bin_lp"),
        backend="highs",
    ),
    Method(
        "instants",
        kind="relaxation",
        summary="what the cluster can run in one slot, proved by prices of iterations",
        reference="verified lower bounds (reconstructed)",
        run=part("instants:instants"),
        backend="highs",
    ),
)
