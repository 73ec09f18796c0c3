"""Lagrangian and surrogate bounds on the profit, certified by multipliers of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.units import common_unit
from gadgetopt.pieces.knapsack.relaxation import Relaxation, linear_relaxation
from gadgetopt.solvers.dual_bounds import LARGEST_DENOMINATOR
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import KnapsackInstance
from ...multipliers import KnapsackCertificate
from ...scaling import scaled
from ...subproblems.outcome import lagrangian_certificate
from ..certificate import MOST_CELLS, MOST_STEPS, surrogate_bound


@method(kind="relaxation", reference="L(lambda)", formulation="lagrangian")
def lagrangian(instance: KnapsackInstance, limits: Limits) -> MethodOutcome:
    """Lagrangian bound at the duals of the linear relaxation, re-checked exactly.

    The duals are the certificate. At exactly optimal duals the bound is the relaxation's optimum.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    relaxation = linear_relaxation(whole.knapsack, limits)
    if relaxation.duals is None:
        return _without_duals(relaxation)
    return MethodOutcome(
        certificate=lagrangian_certificate(instance, whole, relaxation.duals),
        limit_hit=relaxation.limit_hit,
    )


@method(kind="relaxation", reference="surrogate relaxation", formulation="surrogate")
def surrogate(instance: KnapsackInstance, limits: Limits, *, cells: int = 200_000) -> MethodOutcome:
    """All rows summed to one by the same duals, solved by dynamic programming.

    Return the optimum of the knapsack whose one row is a weighted sum of all.

    The multipliers are the duals of the linear relaxation, scaled so that the row has the capacity
    `cells`, before weights are rounded down to whole numbers. Fewer cells weaken the bound, but
    it stays true; the steps that the check allows limit their number.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    relaxation = linear_relaxation(whole.knapsack, limits)
    if relaxation.duals is None:
        return _without_duals(relaxation)
    duals = whole.multipliers([Fraction(max(0.0, float(y))) for y in relaxation.duals])
    worth = sum((y * c for y, c in zip(duals, instance.capacities, strict=True)), Fraction(0))
    cells = min(cells, MOST_STEPS // (2 * instance.num_items), MOST_CELLS // 2)
    scale = cells / worth if worth else Fraction(1)
    # A multiplier is rounded per unit of its row, so that the unit of the weights does not matter.
    units = (common_unit(row) for row in _weights_by_row(instance))
    certificate = KnapsackCertificate(
        multipliers=tuple(
            (scale * y * unit).limit_denominator(LARGEST_DENOMINATOR) / unit
            for y, unit in zip(duals, units, strict=True)
        ),
        bound="surrogate",
    )
    if surrogate_bound(instance, certificate.multipliers) is None:
        return MethodOutcome(proved=Status.INFEASIBLE)
    return MethodOutcome(certificate=certificate, limit_hit=relaxation.limit_hit)


def _weights_by_row(instance: KnapsackInstance) -> Iterator[tuple[Fraction, ...]]:
    return zip(*(item.weights for group in instance.groups for item in group), strict=True)


def _without_duals(relaxation: Relaxation) -> MethodOutcome:
    if relaxation.infeasible:
        return MethodOutcome(proved=Status.INFEASIBLE)
    return MethodOutcome(limit_hit=relaxation.limit_hit)
