"""The models on paper, one file each.

- `nonconvex`: the problem as it stands, for SCIP.
- `columns`: a variable for every schedule of every job.
- `compact`: time-indexed with locality, plain and strengthened.
- `aggregated`: its relaxation with one machine per slot.
- `cp`: the compact model in CP-SAT.
"""

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "minlp",
        model_class="MINLP",
        strength="exact",
        summary="the problem as it stands: speed by the slowest link that is used",
        equations="(1)-(9)",
        build=part("nonconvex:build"),
        decode=part("nonconvex:decode"),
        backends=("scip",),
    ),
    Formulation(
        "compact",
        model_class="MILP",
        strength="exact",
        summary="time-indexed with locality, strengthened",
        equations="(19), (20), (22)-(25), S1-S4 (reconstructed)",
        build=part("compact:build"),
        decode=part("compact:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "compact_plain",
        model_class="MILP",
        strength="exact",
        summary="time-indexed with locality",
        equations="(19)-(25) (reconstructed)",
        build=part("compact:build_plain"),
        decode=part("compact:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "aggregated",
        model_class="MILP",
        strength="relaxation",
        summary="every slot as one large machine, strengthened",
        equations="(19), (20), (22)-(25) without machines, S1-S3 (reconstructed)",
        build=part("aggregated:build"),
        decode=None,
        backends=("highs",),
        objective_error=ROUNDING,
    ),
    Formulation(
        "schedule_columns",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every schedule of every job (tiny instances)",
        equations="(10)",
        build=part("columns:build"),
        decode=part("columns:decode"),
        backends=("highs",),
        objective_error=ROUNDING,
    ),
)

METHODS = (
    Method(
        "cpsat",
        kind="exact",
        summary="the whole horizon in CP-SAT, utilities in whole numbers, the bound "
        "corrected for it",
        reference="(19)-(25) (reconstructed)",
        run=part("cp:cpsat"),
        formulation="cpsat",
        backend="cpsat",
    ),
)
