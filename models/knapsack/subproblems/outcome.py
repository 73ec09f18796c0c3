"""Results of the toolkit's knapsack solvers as outcomes: solution, bound and certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.solvers.dual_bounds import LARGEST_DENOMINATOR
from gadgetopt.system.result import MethodOutcome, Status

from ..instance import KnapsackInstance, KnapsackSolution
from ..multipliers import KnapsackCertificate, floor_to_unit, lagrangian_bound
from ..scaling import ScaledKnapsack


def outcome_of(
    instance: KnapsackInstance, whole: ScaledKnapsack, found: CoreResult
) -> MethodOutcome:
    """Return the outcome of a run on the scaled knapsack, in the instance's own numbers.

    The bound has a certificate if the Lagrangian bound at the run's prices is as good; otherwise it
    is claimed by whoever computed it.
    """
    if found.infeasible:
        return MethodOutcome(proved=Status.INFEASIBLE, notes={"proof": found.proof})
    solution: KnapsackSolution | None = None
    if found.chosen is not None:
        solution = whole.solution(instance, found.chosen)
    bound = whole.bound(found.bound) if math.isfinite(found.bound) else None
    # HiGHS closes a gap by its tolerances, which at a billion units may be more than one of them.
    if found.bound == found.value and "HiGHS" not in found.proof:
        bound = whole.profit(found.value)
    certificate = None
    if found.duals is not None:
        certificate = lagrangian_certificate(instance, whole, found.duals)
        proved = lagrangian_bound(instance, certificate.multipliers)
        if proved is None or (bound is not None and floor_to_unit(instance, proved) > bound):
            certificate = None
    return MethodOutcome(
        solution=solution,
        claimed_objective=None if solution is None else whole.profit(found.value),
        dual_bound=bound if certificate is None else None,
        certificate=certificate,
        limit_hit=found.limit_hit,
        notes={"proof": found.proof, **found.notes},
    )


def lagrangian_certificate(
    instance: KnapsackInstance, whole: ScaledKnapsack, duals: Iterable[float]
) -> KnapsackCertificate:
    """Return the better certificate of the duals of the scaled rows: exact, or simplified.

    An optimal vertex of whole numbers has duals of small denominators; hitting them exactly saves
    the last digit of the bound.
    """
    floats = [max(0.0, float(y)) for y in duals]
    candidates = (
        [Fraction(y) for y in floats],
        [Fraction(y).limit_denominator(LARGEST_DENOMINATOR) for y in floats],
    )
    multipliers = [whole.multipliers(candidate) for candidate in candidates]
    best = min(multipliers, key=lambda y: lagrangian_bound(instance, y) or 0)
    return KnapsackCertificate(multipliers=best)
