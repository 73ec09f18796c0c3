"""The models on paper: one file each, in Pyomo or as native CP-SAT models."""

from gadgetopt.system.declaration import Formulation, Method, Parts

part = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "embedding",
        model_class="ILP",
        strength="exact",
        summary="a flow for every hop of a ring of every size",
        equations="F1: (12)-(19)",
        build=part("embedding:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
    Formulation(
        "circulation",
        model_class="MILP",
        strength="exact",
        summary="a ring as a circulation that connects its servers",
        equations="F2: (D1)-(D4) (reconstructed)",
        build=part("circulation:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
    Formulation(
        "tree",
        model_class="ILP",
        strength="exact",
        summary="rings by mode on a two-tier cluster: one server, one rack, several",
        equations="F3: (D5)-(D7) (reconstructed)",
        build=part("tree:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
    Formulation(
        "ddljs",
        model_class="ILP",
        strength="relaxation",
        summary="the paper's program with a variable for every path, its degrees (9) corrected",
        equations="(2)-(9)",
        build=part("ddljs:build"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        "epochs",
        model_class="MILP",
        strength="relaxation",
        summary="totals of the jobs in every epoch, without bandwidth and borders of servers",
        equations="O2: (D8) (reconstructed)",
        build=part("epoch_relaxation:build"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        "cp_embedding",
        kind="exact",
        summary="the embedding program by CP-SAT, utilities rounded and the bound corrected for it",
        reference="C1: (12)-(19)",
        run=part("cp_joint:solve_embedding"),
        parameters={"scale": 0},
        formulation="embedding",
        backend="cpsat",
    ),
    Method(
        "cp_circuit",
        kind="exact",
        summary="rings as circuits with a path for every arc, by CP-SAT",
        reference="C2: (2)-(8), (19) (reconstructed)",
        run=part("cp_circuit:cp_circuit"),
        parameters={"scale": 0},
        formulation="cp_circuit",
        backend="cpsat",
    ),
    Method(
        "cp_tree",
        kind="exact",
        summary="rings on a two-tier cluster by the links they load, by CP-SAT",
        reference="C3 (reconstructed)",
        run=part("cp_tree:cp_tree"),
        parameters={"scale": 0},
        formulation="cp_tree",
        backend="cpsat",
    ),
)
