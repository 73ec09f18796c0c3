"""The models on paper, one file each.

- `assignment`: F1, tasks on servers: products linearised, with big-M, or as they are.
- `assignment_cp`: F1 in CP-SAT.
- `patterns`: F2, contents of servers.
- `class_patterns`: F2c, contents of classes of single-task jobs.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "assignment",
        model_class="MILP",
        strength="exact",
        summary="tasks of jobs on servers, with products of two jobs on a server linearised",
        equations="F1 (1)-(6) (reconstructed)",
        build=part("assignment:build"),
        decode=part("assignment:decode"),
        backends=("highs",),
    ),
    Formulation(
        "assignment_big_m",
        model_class="MILP",
        strength="exact",
        summary="tasks of jobs on servers, with slowdowns enforced where the job is",
        equations="F1 (1)-(4), big-M, (6) (reconstructed)",
        build=part("assignment:build_big_m"),
        decode=part("assignment:decode"),
        backends=("highs",),
    ),
    Formulation(
        "assignment_nonconvex",
        model_class="MINLP",
        strength="exact",
        summary="tasks of jobs on servers, with products of variables",
        equations="F1 (1)-(4), products, (6) (reconstructed)",
        build=part("assignment:build_nonconvex"),
        decode=part("assignment:decode"),
        backends=("scip",),
    ),
    Formulation(
        "patterns",
        model_class="MILP",
        strength="exact",
        summary="servers of each rack with each content, all contents enumerated",
        equations="F2 (1)-(6) (reconstructed)",
        build=part("patterns:build"),
        decode=part("patterns:decode"),
        backends=("highs",),
    ),
    Formulation(
        "class_patterns",
        model_class="ILP",
        strength="exact",
        summary="contents of classes of single-task jobs that are alike",
        equations="F2c (1)-(2) (reconstructed)",
        build=part("class_patterns:build"),
        decode=part("class_patterns:decode"),
        backends=("highs", "cpsat"),
    ),
)

METHODS = (
    Method(
        "assignment_cp",
        kind="exact",
        summary="tasks of jobs on servers in CP-SAT, like servers ordered",
        reference="F1 (1)-(7) (reconstructed)",
        run=part("assignment_cp:assignment_cp"),
        formulation="assignment",
        backend="cpsat",
        stochastic=True,
    ),
)
