"""The plan of a solution of one pipeline: no format has words for copies."""

from __future__ import annotations

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.plan import Plan

from ..instance import DappleSolution


def plan_of(form: str, solution: DappleSolution) -> Plan:
    """Return the plan of one pipeline.

    Raises
    ------
    InputError
        If there are several.
    """
    if solution.copies:
        several = len(solution.copies) + 1
        raise InputError(f"{form}: {several} copies of the pipeline; solve with max_copies 1")
    return solution.plan
