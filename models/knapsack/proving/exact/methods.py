"""Exact methods: the core of small reduced costs, enumeration, and dynamic programming.

All compute on whole numbers (`scaling.py`), so that the items they choose are an exact choice.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.pieces.knapsack import cardinality, core, dynamic
from gadgetopt.pieces.knapsack.sharpening import Sharpening
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import Trace
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import KnapsackInstance
from ...multipliers import KnapsackCertificate
from ...scaling import scaled
from ...subproblems.outcome import outcome_of
from ..certificate import TableTooLarge, check_bound
from .proof import add_exhaustion


@method(kind="exact", reference="core of small reduced costs", formulation="enumeration")
def cg_core(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    core_solver: core.CoreSolver = "auto",
    sharpening: Sharpening = "auto",
) -> MethodOutcome:
    """Linear program by column generation, then the core that reduced costs leave.

    Solve an instance exactly by the core that the prices of its linear relaxation leave.

    Parameters
    ----------
    instance, limits
    core_solver : "auto", "enumeration" or "mip"
        What solves the core: enumeration in exact arithmetic, HiGHS, or by default HiGHS where
        enumeration takes too many nodes.
    sharpening : "auto", "search" or "mip"
        What looks for a better incumbent first: the memetic search or kernels, HiGHS among few
        items, or by default the former unless loops are not compiled.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    # No `Search`: the toolkit's solver keeps incumbent and bound, in whole numbers of its own.
    trace = Trace(limits, clock)
    whole = scaled(instance)

    def told(value: float, bound: float) -> None:
        trace.note(
            whole.profit(value) if math.isfinite(value) else None,
            whole.bound(bound) if math.isfinite(bound) else None,
        )

    found = core.cg_core(
        whole.knapsack, limits, rng, core_solver=core_solver, sharpening=sharpening, told=told
    )
    outcome = outcome_of(instance, whole, found)
    outcome.trace = tuple(trace.points)
    add_exhaustion(instance, whole, found, outcome, clock)
    if "HiGHS" in found.proof:  # HiGHS proved the bound, otherwise the enumeration
        outcome.formulation = "core"
    return outcome


@method(kind="exact", reference="enumeration by cardinality", formulation="enumeration")
def enumeration(
    instance: KnapsackInstance,
    limits: Limits,
    *,
    by_count: bool = True,
) -> MethodOutcome:
    """All choices that exact bounds leave, by the number of items.

    Solve an instance exactly by enumeration in exact arithmetic, without any integer solver.

    Parameters
    ----------
    instance, limits
        Deterministic.
    by_count : bool
        Slice by the number of items chosen, where groups are single items.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    clock = Clock(limits)
    whole = scaled(instance)
    found = cardinality.solve_by_cardinality(whole.knapsack, limits, by_count=by_count)
    outcome = outcome_of(instance, whole, found)
    add_exhaustion(instance, whole, found, outcome, clock)
    return outcome


@method(kind="exact", reference="collinear case", formulation="dynamic_program")
def dynamic_program(instance: KnapsackInstance) -> MethodOutcome:
    """Dynamic program for items whose weights are multiples of one vector.

    Solve an instance whose weights are whole multiples of one vector, in O(items x capacity).

    The certificate is the surrogate bound of the binding row, which is the whole knapsack.

    Raises
    ------
    ModelRefused
        If the weights are not such multiples, or the table would be too large.
    """
    whole = scaled(instance)
    row = dynamic.collinear(whole.knapsack)
    outcome = outcome_of(instance, whole, dynamic.solve_collinear(whole.knapsack))
    if row is None or outcome.proved is not None:
        return outcome
    # The row of the smallest C^r / a^r, in units of a^r.
    priced = [
        (Fraction(int(c), int(a)), r)
        for r, (c, a) in enumerate(zip(whole.knapsack.capacity, row.direction, strict=True))
        if a
    ]
    binding = min(priced)[1]
    multipliers = [Fraction(0)] * len(instance.capacities)
    multipliers[binding] = Fraction(whole.row_scales[binding], int(row.direction[binding]))
    certificate = KnapsackCertificate(multipliers=tuple(multipliers), bound="surrogate")
    try:
        check_bound(instance, certificate)
    except TableTooLarge:  # too large to check again; the bound is then only claimed
        return outcome
    outcome.dual_bound, outcome.certificate = None, certificate
    return outcome
