"""The algorithms of `gadgetopt.pieces.knapsack` on instances, and greed.

All compute on whole numbers (`scaling.py`), and what they choose is exact. A bound goes with a
certificate where the Lagrangian one at its prices is as good; the bounds of an enumeration or a
solver are that one's word.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack import cardinality, core, dynamic
from gadgetopt.pieces.knapsack import frieze_clarke as sets_of_items
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..baselines import greedy as greedy_choice
from ..bounds.multipliers import lagrangian_certificate
from ..certificate import KnapsackCertificate, TableTooLarge, check_bound
from ..instance import KnapsackInstance, KnapsackSolution
from ..scaling import ScaledKnapsack, scaled


def cg_core(
    instance: KnapsackInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    core_solver: core.CoreSolver = "auto",
) -> MethodOutcome:
    """Solve an instance exactly by the core that the prices of its linear relaxation leave.

    Parameters
    ----------
    instance, limits
    rng : numpy.random.Generator
        Gives HiGHS its seed.
    core_solver : "auto", "enumeration" or "mip"
        What solves the core: enumeration in exact arithmetic, HiGHS, or by default HiGHS where
        enumeration takes too many nodes.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    found = core.cg_core(whole.knapsack, limits, rng, core_solver=core_solver)
    outcome = _outcome(instance, whole, found)
    if "HiGHS" in found.proof:  # which had the last word then, else the enumeration
        outcome.formulation = "core"
    return outcome


def enumeration(
    instance: KnapsackInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    by_count: bool = True,
) -> MethodOutcome:
    """Solve an instance exactly by enumeration in exact arithmetic, without any integer solver.

    Parameters
    ----------
    instance, limits, rng
        Deterministic.
    by_count : bool
        Slice by the number of items chosen, where groups are single items.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    found = cardinality.solve_by_cardinality(whole.knapsack, limits, by_count=by_count)
    return _outcome(instance, whole, found)


def dynamic_program(
    instance: KnapsackInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Solve an instance whose weights are whole multiples of one vector, in O(items x capacity).

    The certificate is the surrogate bound of the binding row, which is the whole knapsack.

    Raises
    ------
    ModelRefused
        If the weights are not such multiples, or the table would be too large.
    """
    whole = scaled(instance)
    row = dynamic.collinear(whole.knapsack)
    outcome = _outcome(instance, whole, dynamic.solve_collinear(whole.knapsack))
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
    except TableTooLarge:  # too large to be checked again; the program's word then
        return outcome
    outcome.dual_bound, outcome.certificate = None, certificate
    return outcome


def frieze_clarke(
    instance: KnapsackInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    k: int = 2,
    complete: bool = False,
    enumeration: Literal["pruned", "literal"] = "pruned",
) -> MethodOutcome:
    r"""Return the best rounded linear program over all sets of at most k items.

    The profit is at least :math:`\frac{k}{k+m} OPT` with m rows (Frieze and Clarke 1984).

    Parameters
    ----------
    instance, limits, rng
        Deterministic.
    k : int
        Size of the largest sets.
    complete : bool
        Add items that still fit to each rounded solution (reconstructed).
    enumeration : "pruned" or "literal"
        Whether programs that cannot beat the best so far are left out (reconstructed).

    Raises
    ------
    ModelRefused
        If groups have several items or need one, if there are too many sets, or the numbers of the
        instance have too many digits.
    """
    if instance.multiple_choice:
        raise ModelRefused("Frieze and Clarke's algorithm takes single items that may be left out")
    if k < 0:
        raise ModelRefused(f"k: {k}, expected at least 0")
    whole = scaled(instance)
    found = sets_of_items.frieze_clarke(
        whole.knapsack, k, complete=complete, enumeration=enumeration, limits=limits
    )
    return _outcome(instance, whole, found)


def greedy(instance: KnapsackInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return a greedy choice: by density, or by exchanges within groups; no guarantee.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    chosen, stopped = greedy_choice.greedy(whole.knapsack, limits)
    return MethodOutcome(
        solution=None if chosen is None else whole.solution(instance, chosen),
        claimed_objective=None if chosen is None else whole.profit(whole.knapsack.value(chosen)),
        limit_hit="time_s" if stopped else None,
    )


def _outcome(instance: KnapsackInstance, whole: ScaledKnapsack, found: CoreResult) -> MethodOutcome:
    """Turn what the toolkit found into an outcome in the instance's own numbers."""
    if found.infeasible:
        return MethodOutcome(proved=Status.INFEASIBLE, notes={"proof": found.proof})
    solution: KnapsackSolution | None = None
    if found.chosen is not None:
        solution = whole.solution(instance, found.chosen)
    bound = whole.bound(found.bound) if math.isfinite(found.bound) else None
    if found.bound == found.value:
        bound = whole.profit(found.value)
    certificate = None
    if found.duals is not None:
        certificate = lagrangian_certificate(instance, whole, found.duals)
        proved = check_bound(instance, certificate)
        if proved is None or (bound is not None and proved > bound):
            certificate = None
    return MethodOutcome(
        solution=solution,
        claimed_objective=None if solution is None else whole.profit(found.value),
        dual_bound=bound if certificate is None else None,
        certificate=certificate,
        limit_hit=found.limit_hit,
        notes={"proof": found.proof, **found.notes},
    )
