"""The models on paper, from weak to strong, one file each.

- `assignment`: a binary variable for every job and machine.
- `ordered_assignment`: the same without symmetry.
- `arc_flow`: machines as paths through loads.
- `patterns`: an integer variable for every set of jobs that a machine can have.
- `cp`: start times and a cumulative constraint, in CP-SAT.
- `makespan`, `numbers`: the makespan in the last two integer programs, and the largest numbers.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="assignment",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every job and machine; all machines alike",
        equations="(A1)-(A4)",
        build=part("assignment:build"),
        decode=part("assignment:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="assignment_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation: the mean load",
        equations="(A1)-(A3)",
        build=part("assignment:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="ordered_assignment",
        model_class="ILP",
        strength="exact",
        summary="machines ordered by their longest job, makespan at least the combinatorial bound",
        equations="(A1)-(A4), (O1)-(O3)",
        build=part("ordered_assignment:build"),
        decode=part("assignment:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="arc_flow",
        model_class="ILP",
        strength="exact",
        summary="machines as paths through the times at which jobs can start",
        equations="(F1)-(F6)",
        build=part("arc_flow:build"),
        decode=part("arc_flow:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="arc_flow_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation: fractional paths",
        equations="(F1)-(F5)",
        build=part("arc_flow:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="patterns",
        model_class="ILP",
        strength="exact",
        summary="an integer variable for every set of jobs that a machine can have",
        equations="(P1)-(P6)",
        build=part("patterns:build"),
        decode=part("patterns:decode"),
        backends=("highs", "cpsat"),
    ),
)

METHODS = (
    Method(
        name="cp_cumulative",
        kind="exact",
        summary="start times, and no more than m jobs at a time (native CP-SAT)",
        reference="(C1)-(C3)",
        run=part("cp:cp_cumulative"),
        formulation="cumulative",
        backend="cpsat",
    ),
)
