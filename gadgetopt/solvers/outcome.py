"""The unchecked outcome that a backend reports of one solve."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Status, TracePoint


@dataclass
class SolverOutcome:
    """Status, incumbent and dual bound as the backend reports them.

    Attributes
    ----------
    status : Status
        `OPTIMAL`, `FEASIBLE`, `INFEASIBLE`, `UNBOUNDED`, `NO_SOLUTION` or `ERROR`. `OPTIMAL`
        means that objective and bound meet, never that a limit or a requested gap ended the solve.
    values : ndarray or None
        The incumbent, one value per column of the compiled model (or per variable index of a
        native CP-SAT model). Shape (columns,).
    objective, bound : Number or None
        Objective of the incumbent and dual bound, in the model's own sense and scale; exact (int or
        Fraction) if the backend computes with integers.
    limit_hit : str or None
        "time_s", "memory_mb", "gap" (the requested relative gap) or "interrupted", if that stopped
        the solve.
    row_duals : ndarray or None
        Row duals y of a linear program solved to optimality, signed so that the reduced costs are
        `c - y @ A` in the model's own sense. Shape (rows,).
    exact_duals : list of Fraction or None
        Row duals near `row_duals` that prove a bound in exact arithmetic.
    reason : str or None
        Reason for the status, if there is more to say.
    """

    status: Status
    values: Floats | None = None
    objective: Number | None = None
    bound: Number | None = None
    limit_hit: str | None = None
    row_duals: Floats | None = None
    exact_duals: list[Fraction] | None = None
    reason: str | None = None
    trace: tuple[TracePoint, ...] = ()
    phases_s: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
