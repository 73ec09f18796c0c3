r"""The optimum: by the collapsed knapsack (F3) or, where what is used is charged, by columns (F4).

`exact` takes what is fastest: dynamic programming where all reservations are multiples of one
bundle, else column generation with a core of small reduced costs. `cpsat` is CP-SAT with utilities
rounded down to multiples of 1/S: with I jobs its bound B on the rounded total gives
:math:`OPT \le (B + I) / S` (reconstructed).
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.knapsack.relaxation import best_of_groups
from gadgetopt.numbers import agrees
from gadgetopt.result import Limits, MethodOutcome, Status
from gadgetopt.solvers.cpsat import solve_cp

from .bounds import columns_of, price_certificate
from .certificate import check_bound
from .columns import Columns
from .instance import SmdInstance, SmdSolution
from .outer import exactly, left


def exact(instance: SmdInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return the decision of the largest utility, or the best found in time, and a bound.

    Where the Lagrangian bound of the linear relaxation already meets the utility, its prices are
    the certificate.
    """
    begun = time.perf_counter()
    columns = columns_of(instance)
    if not columns.knapsack.num_items:
        return _nothing(instance, columns)
    built = time.perf_counter() - begun
    found = exactly(columns.knapsack, left(limits, built), rng)
    chosen = np.empty(0, dtype=np.int64) if found.chosen is None else found.chosen
    value = columns.knapsack.value(chosen)
    outcome = MethodOutcome(
        solution=columns.solution(instance, chosen),
        claimed_objective=value,
        dual_bound=found.bound,
        limit_hit=found.limit_hit,
        phases_s={"columns": built, "solve": time.perf_counter() - begun - built},
        notes={"columns": columns.knapsack.num_items, "proof": found.proof, **found.notes},
    )
    if "dynamic program" in found.proof:
        outcome.formulation = "dynamic_program"
    elif "core" in found.notes:  # then HiGHS had the last word, else the enumeration
        outcome.formulation = "core"
    if found.duals is not None:
        certificate = price_certificate(columns, found.duals)
        if agrees(check_bound(instance, certificate), value):
            outcome.certificate, outcome.dual_bound = certificate, None
    return outcome


def cpsat(
    instance: SmdInstance, limits: Limits, rng: np.random.Generator, *, scale: int = 10_000
) -> MethodOutcome:
    """Solve F3 or F4 by CP-SAT with utilities rounded down to multiples of 1/scale.

    Raises
    ------
    ModelRefused
        If amounts of resources have too many digits.
    """
    begun = time.perf_counter()
    columns = columns_of(instance)
    if not columns.knapsack.num_items:
        return _nothing(instance, columns)
    model = _rounded_down(columns, scale)
    built = time.perf_counter() - begun
    solved = solve_cp(model, left(limits, built), int(rng.integers(2**31 - 1)))
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    solution: SmdSolution | None = None
    if solved.values is not None:
        solution = columns.solution(instance, np.flatnonzero(solved.values > 0.5))
    # Each job loses less than one unit to rounding.
    groups, best = best_of_groups(columns.knapsack, np.floor(scale * columns.knapsack.profit))
    bound = float(best.sum()) if solved.bound is None else float(solved.bound)
    return MethodOutcome(
        solution=solution,
        dual_bound=(bound + len(groups)) / scale,
        limit_hit=solved.limit_hit,
        phases_s={"build": built, **solved.phases_s},
        versions=solved.versions,
        notes={"rounding_of_the_bound": len(groups) / scale},
    )


def _nothing(instance: SmdInstance, columns: Columns) -> MethodOutcome:
    """No job is of any use, as the bound of no prices says."""
    free = price_certificate(columns, np.zeros(len(instance.capacity)))
    return MethodOutcome(columns.solution(instance, []), 0.0, certificate=free)


def _rounded_down(columns: Columns, scale: int) -> cp_model.CpModel:
    """F3 or F4 in whole numbers; the variable of item c has index c."""
    knapsack = columns.knapsack
    weight = knapsack.weight
    if np.any(weight != np.rint(weight)):
        raise ModelRefused("amounts of resources have too many digits for CP-SAT")
    model = cp_model.CpModel()
    y = [model.new_bool_var(f"y{c}") for c in range(knapsack.num_items)]
    starts = knapsack.group_starts.tolist()
    for first, last in pairwise(starts):
        if last - first > 1:
            model.add_at_most_one(y[first:last])
    for r, most in enumerate(np.floor(knapsack.capacity).tolist()):
        amounts = weight[:, r].astype(np.int64).tolist()
        model.add(cp_model.LinearExpr.weighted_sum(y, amounts) <= int(most))
    profit = np.floor(scale * knapsack.profit).astype(np.int64).tolist()
    model.maximize(cp_model.LinearExpr.weighted_sum(y, profit))
    return model
