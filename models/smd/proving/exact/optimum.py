r"""Exact methods: the knapsack of best pairs or, if use is charged, of all pairs.

The knapsacks are F3 and F4 of the page.

`exact`, declared as `cg_core`, takes the fastest route: dynamic programming if all reservations are
multiples of one bundle, else column generation with a core of small reduced costs. `cpsat` is
CP-SAT with utilities rounded down to multiples of 1/S: with I jobs that have utility and the bound
B on the rounded total, :math:`OPT \le B + I / S` (reconstructed).
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from gadgetopt.numbers.tolerance import agrees
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.alarm import ended_after
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.scaling import cost_unit
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import SmdInstance
from ...subproblems.columns import Columns
from ...subproblems.exact_knapsack import exactly
from ..bounds.prices import (
    columns_of,
    price_certificate,
)
from ..certificate.check import (
    SmdCertificate,
    check_bound,
)
from .proof import exhaustion_certificate


@method(
    name="cg_core",
    kind="exact",
    reference="F3, F4 (reconstructed)",
    formulation="cg_core",
    backend="highs",
)
def exact(instance: SmdInstance, limits: Limits) -> MethodOutcome:
    """Dynamic program, or columns generated and a core of small reduced costs.

    Return the decision of the largest utility, or the best found in time, and a bound.

    Where the Lagrangian bound of the linear relaxation already meets the utility, its prices are
    the certificate; else prices at which a check soon finds no better decision, if there are such.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    with clock.phase("columns"):
        columns = columns_of(instance)
    if not columns.knapsack.num_items:
        return _nothing(instance, columns)
    with clock.phase("solve"):
        found = exactly(columns.knapsack, clock.limits(), rng)
    chosen = np.empty(0, dtype=np.int64) if found.chosen is None else found.chosen
    if not columns.fits(instance, chosen):
        # The bound is that of rows rounded down; what fits by a hair needs them rounded up.
        with clock.phase("solve"):
            above = exactly(columns.rounded_up(instance), clock.limits(), rng)
        chosen = np.empty(0, dtype=np.int64) if above.chosen is None else above.chosen
    value = columns.knapsack.value(chosen)
    outcome = MethodOutcome(
        solution=columns.solution(instance, chosen),
        claimed_objective=value,
        dual_bound=found.bound,
        limit_hit=found.limit_hit,
        phases_s=clock.phases_s,
        notes={"columns": columns.knapsack.num_items, "proof": found.proof, **found.notes},
    )
    if "dynamic program" in found.proof:
        outcome.formulation = "dynamic_program"
    elif "core" in found.notes:  # HiGHS proved the bound, otherwise the enumeration
        outcome.formulation = "core"
    certificate = None
    # Ctrl-C ends the proof, and so does the time: the check takes about as long again. What the
    # search found stands.
    proof_s = clock.left_s / 2
    with clock.phase("proof"), contextlib.suppress(KeyboardInterrupt), ended_after(proof_s):
        certificate = _certificate(instance, columns, found, value, clock)
    if certificate is not None:
        outcome.certificate, outcome.dual_bound = certificate, None
    return outcome


def _certificate(
    instance: SmdInstance, columns: Columns, found: CoreResult, value: float, clock: Clock
) -> SmdCertificate | None:
    """Return a certificate that a value is optimal, if there is one: prices alone are the best."""
    if found.duals is not None and agrees(found.lagrangian, value):
        certificate = price_certificate(columns, found.duals)
        if agrees(check_bound(instance, certificate), value):
            return certificate
    if not agrees(found.bound, value):
        return None
    return exhaustion_certificate(instance, columns, found.duals, value, clock)


@method(kind="exact", reference="F3, F4 (reconstructed)", formulation="columns", backend="cpsat")
def cpsat(instance: SmdInstance, limits: Limits, *, scale: int = 10_000) -> MethodOutcome:
    """Utilities rounded down to whole multiples, the bound corrected for it.

    If the largest utility is very large or small, utilities are counted in the power of two that
    `cost_unit` gives.

    Raises
    ------
    ModelRefused
        If numbers are too large for CP-SAT.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    with clock.phase("columns"):
        columns = columns_of(instance)
    if not columns.knapsack.num_items:
        return _nothing(instance, columns)
    seed = seed_of(rng)
    unit = cost_unit(columns.knapsack.profit)

    def solved(knapsack: Knapsack) -> CoreResult:
        counted = replace(knapsack, profit=knapsack.profit / unit)
        with clock.phase("solve"):
            return solve_mip(counted, "cpsat", clock.limits(), seed, profit_scale=scale)

    found = solved(columns.knapsack)
    if found.chosen is not None and not columns.fits(instance, found.chosen):
        found = replace(solved(columns.rounded_up(instance)), bound=found.bound)
    return MethodOutcome(
        solution=None if found.chosen is None else columns.solution(instance, found.chosen),
        claimed_objective=None if found.chosen is None else found.value * unit,
        dual_bound=found.bound * unit,
        limit_hit=found.limit_hit,
        phases_s=clock.phases_s,
        notes={"rounding_of_the_bound": columns.knapsack.num_groups * unit / scale},
    )


def _nothing(instance: SmdInstance, columns: Columns) -> MethodOutcome:
    """Return the empty decision: the bound at prices of zero shows that no job has utility."""
    outcome = MethodOutcome(columns.solution(instance, []), 0.0)
    outcome.certificate = price_certificate(columns, np.zeros(len(instance.capacity)))
    return outcome
