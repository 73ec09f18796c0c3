"""Method outcome of a lower bound with its certificate."""

from __future__ import annotations

from gadgetopt.system.data import Certificate
from gadgetopt.system.result import MethodOutcome, Status

from ...instance import SjfBcoInstance


def bound_outcome(instance: SjfBcoInstance, bound: int, certificate: Certificate) -> MethodOutcome:
    """Return the outcome of a bound; a bound beyond the horizon proves infeasibility."""
    return MethodOutcome(
        dual_bound=bound,
        certificate=certificate,
        proved=Status.INFEASIBLE if bound > instance.horizon_slots else None,
    )
