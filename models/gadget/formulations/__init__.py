"""Formulations, one per file.

Pyomo: joint (all slots, for any model of a slot's rings); embedding, circulation, tree, ddljs;
epoch_relaxation, ring_counts (upper bounds; totals is what both share, ring_kinds their rings).
CP-SAT: cp_joint (all slots, and the embedding program), cp_circuit, cp_tree.
"""

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "embedding",
        model_class="ILP",
        strength="exact",
        summary="one flow per hop of a ring of each size",
        equations="(12)-(19)",
        build=part("embedding:build"),
        decode=part("joint:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "circulation",
        model_class="MILP",
        strength="exact",
        summary="a ring as a connected circulation",
        equations="(D1)-(D4) (reconstructed)",
        build=part("circulation:build"),
        decode=part("joint:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "tree",
        model_class="ILP",
        strength="exact",
        summary="rings by mode on a two-tier cluster: one server, one rack, several",
        equations="(D5)-(D7) (reconstructed)",
        build=part("tree:build"),
        decode=part("joint:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "ddljs",
        model_class="ILP",
        strength="relaxation",
        summary="the paper's program with one variable per path, degrees (9) corrected",
        equations="(2)-(9)",
        build=part("ddljs:build"),
        decode=None,
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "epochs",
        model_class="MILP",
        strength="relaxation",
        summary="worker-slots per job and epoch, without bandwidth and server boundaries",
        equations="(D8) (reconstructed)",
        build=part("epoch_relaxation:build"),
        decode=None,
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "ring_counts",
        model_class="MILP",
        strength="relaxation",
        summary="slots with a ring of each kind and size per job and epoch, on servers and links",
        equations="(D13)-(D16) (reconstructed)",
        build=part("ring_counts:build"),
        decode=None,
        backends=("highs",),
        objective_error=ROUNDING,
    ),
)

METHODS = (
    Method(
        "cp_embedding",
        kind="exact",
        summary="the embedding program by CP-SAT, utilities rounded and the bound corrected",
        reference="(12)-(19) in CP-SAT (reconstructed)",
        run=part("cp_joint:solve_embedding"),
        parameters={"scale": 0},
        formulation="embedding",
        backend="cpsat",
    ),
    Method(
        "cp_circuit",
        kind="exact",
        summary="rings as circuits with a path for every arc, by CP-SAT",
        reference="(2)-(8), (19) in CP-SAT (reconstructed)",
        run=part("cp_circuit:cp_circuit"),
        parameters={"scale": 0},
        formulation="cp_circuit",
        backend="cpsat",
    ),
    Method(
        "cp_tree",
        kind="exact",
        summary="rings on a two-tier cluster by the links they load, by CP-SAT",
        reference="two-tier CP-SAT model (reconstructed)",
        run=part("cp_tree:cp_tree"),
        parameters={"scale": 0},
        formulation="cp_tree",
        backend="cpsat",
    ),
)
