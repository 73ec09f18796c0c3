"""Formulations, one per file.

Pyomo: nonconvex (the paper's program); time_indexed, disjunctive, event_based (exact MILPs);
schedule_selection with schedules (the paper's reformulation); load_limit (a relaxation).
CP-SAT: cp_model (all models as lists of constraints), cp (the models as methods).
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "nonconvex",
        model_class="MINLP",
        strength="exact",
        summary="the paper's program RAR-DDLS, bilinear",
        equations="(1)-(9)",
        build=part("nonconvex:build"),
        decode=part("nonconvex:decode"),
        backends=("scip",),
    ),
    Formulation(
        "time_indexed",
        model_class="ILP",
        strength="exact",
        summary="exact linearisation of the paper's program, slot by slot",
        equations="TI-1 to TI-12 (reconstructed)",
        build=part("time_indexed:build"),
        decode=part("time_indexed:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "gdp_bigm",
        model_class="GDP",
        strength="exact",
        summary="disjunctive model, big-M reformulation",
        equations="GDP-1 to GDP-6 (reconstructed)",
        build=part("disjunctive:build_bigm"),
        decode=part("disjunctive:decode"),
        backends=("highs",),
    ),
    Formulation(
        "gdp_hull",
        model_class="GDP",
        strength="exact",
        summary="disjunctive model, hull reformulation",
        equations="GDP-1 to GDP-6 (reconstructed)",
        build=part("disjunctive:build_hull"),
        decode=part("disjunctive:decode"),
        backends=("highs",),
    ),
    Formulation(
        "event_based",
        model_class="ILP",
        strength="exact",
        summary="periods between events instead of slots",
        equations="TI-1 to TI-4, EV-5 to EV-11 (reconstructed)",
        build=part("event_based:build"),
        decode=part("event_based:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "schedule_selection",
        model_class="ILP",
        strength="exact",
        summary="selection of one of all complete schedules (tiny instances)",
        equations="(10)-(13)",
        build=part("schedule_selection:build"),
        decode=part("schedule_selection:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "load_limited_selection",
        model_class="ILP",
        strength="restriction",
        summary="schedule selection with a load limit on every GPU, by default the horizon",
        equations="(14)-(16)",
        build=part("schedule_selection:build_load_limited"),
        decode=part("schedule_selection:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "load_limit",
        model_class="ILP",
        strength="relaxation",
        summary="least load limit on the GPUs, without time",
        equations="(14)-(16), compact (reconstructed)",
        build=part("load_limit:build"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        "cp_e",
        kind="exact",
        summary="time-indexed CP-SAT model",
        reference="CP-E (reconstructed)",
        run=part("cp:cp_e"),
        formulation="cp_e",
        backend="cpsat",
    ),
    Method(
        "cp_e_l2",
        kind="exact",
        summary="CP-E with the constraints of CP-L2",
        reference="CP-E+L2 (reconstructed)",
        run=part("cp:cp_e_l2"),
        formulation="cp_e_l2",
        backend="cpsat",
    ),
    Method(
        "cp_l",
        kind="relaxation",
        summary="CP-SAT model without contention",
        reference="CP-L (reconstructed)",
        run=part("cp:cp_l"),
        formulation="cp_l",
        backend="cpsat",
    ),
    Method(
        "cp_l2",
        kind="relaxation",
        summary="CP-SAT model of contention by pairwise overlaps, without slots",
        reference="CP-L2 (reconstructed)",
        run=part("cp:cp_l2"),
        formulation="cp_l2",
        backend="cpsat",
    ),
    Method(
        "cp_u",
        kind="heuristic",
        summary="schedules with at most one spread job per server at a time",
        reference="CP-U (reconstructed)",
        run=part("cp:cp_u"),
        formulation="cp_u",
        backend="cpsat",
    ),
)
