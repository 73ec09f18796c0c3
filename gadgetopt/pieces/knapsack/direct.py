"""The integer program as arrays, one binary variable per item, for HiGHS or CP-SAT."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse import csr_array, vstack

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.knapsack.integral import decimal_unit
from gadgetopt.pieces.knapsack.moderate import moderate
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.solvers import import_backend
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

#: Part of its capacity by which a solver's choice may exceed a row of decimals.
#: Tuned: `benchmarks/constants.py`.
FEASIBILITY = 1e-9


def standard_form(knapsack: Knapsack) -> StandardForm:
    """Return the model as arrays: the rows of the capacities, then a row for every group."""
    from gadgetopt.solvers.standard_form import Named, StandardForm

    items, rows = knapsack.num_items, len(knapsack.capacity)
    groups = knapsack.num_groups
    member = csr_array((np.ones(items), (knapsack.owner, np.arange(items))), shape=(groups, items))
    # For a group of one item that need not be chosen, the bound of the variable suffices.
    rowed = np.arange(groups)
    if not knapsack.exactly_one:
        rowed = np.flatnonzero(np.diff(knapsack.group_starts) > 1)
    matrix = csr_array(vstack([csr_array(knapsack.weight.T), member[rowed]]))
    matrix.eliminate_zeros()
    least = 1.0 if knapsack.exactly_one else -math.inf
    names = [f"capacity[{r}]" for r in range(rows)] + [f"group[{i}]" for i in rowed.tolist()]
    return StandardForm(
        columns=[Named(f"y[{c}]") for c in range(items)],
        col_lower=np.zeros(items),
        col_upper=np.ones(items),
        integer=np.ones(items, dtype=bool),
        c=knapsack.profit,
        offset=0.0,
        sense="max",
        A=matrix,
        row_lower=np.concatenate([np.full(rows, -math.inf), np.full(len(rowed), least)]),
        row_upper=np.concatenate([knapsack.capacity, np.ones(len(rowed))]),
        rows=[Named(name) for name in names],
        unused=[],
    )


def solve_mip(
    knapsack: Knapsack,
    backend: Literal["highs", "cpsat"] = "highs",
    limits: Limits | None = None,
    seed: int = 0,
    *,
    warm_start: Ints | None = None,
    profit_scale: int | None = None,
    heuristics: bool = True,
) -> CoreResult:
    """Solve the integer program with a solver.

    Parameters
    ----------
    knapsack : Knapsack
    backend : "highs" or "cpsat"
    limits : Limits, optional
    seed : int
    warm_start : ndarray of int, optional
        Items of a feasible choice.
    profit_scale : int, optional
        For CP-SAT with profits that are no decimals: profits times this are rounded down to whole
        numbers, and the bound is that of the rounded profits plus one unit for every group.
    heuristics : bool
        False if HiGHS shall spend no time on better choices, only on the bound.

    Returns
    -------
    CoreResult
        `bound` is claimed by the solver. A choice that fits only by the solver's tolerances is left
        out, and `notes` has "unfit".

    Raises
    ------
    ModelRefused
        If CP-SAT cannot represent the model exactly and no `profit_scale` is given.
    SolverError
        If the solver fails.
    """
    limits = limits or Limits()
    if not knapsack.num_items:
        if knapsack.exactly_one and knapsack.num_groups:
            return CoreResult(None, -math.inf, -math.inf, "a group has no items")
        return CoreResult(np.empty(0, dtype=np.int64), 0.0, 0.0, "there is nothing to choose")
    model, allowance, unit = knapsack, 0.0, 1.0
    if backend == "highs":
        moderated = moderate(knapsack)
        model, unit = moderated.knapsack, moderated.profit_divisor
    if backend == "cpsat" and decimal_unit(knapsack.profit) is None:
        if profit_scale is None:
            raise ModelRefused("profits have more than six decimals; CP-SAT needs a profit_scale")
        model = replace(knapsack, profit=np.floor(knapsack.profit * profit_scale) / profit_scale)
        allowance = knapsack.num_groups / profit_scale
    values = None
    if warm_start is not None:
        values = np.zeros(knapsack.num_items)
        values[warm_start] = 1.0
    options = {} if heuristics or backend != "highs" else {"given": {"mip_heuristic_effort": 0.0}}
    outcome: SolverOutcome = import_backend(backend).solve_form(
        standard_form(model), limits, seed, values, **options
    )
    if outcome.status is Status.ERROR:
        raise SolverError(f"{backend}: {outcome.reason}")
    proof = f"claimed by {backend} on the integer program"
    if outcome.status is Status.INFEASIBLE:
        return CoreResult(None, -math.inf, -math.inf, proof)
    bound = math.inf if outcome.bound is None else float(outcome.bound) * unit + allowance
    if outcome.values is None:
        return CoreResult(None, -math.inf, bound, proof, limit_hit=outcome.limit_hit)
    chosen = np.flatnonzero(outcome.values > 0.5).astype(np.int64)
    if not fits(knapsack, chosen):
        # The bound stands: all choices that fit are also within the solver's tolerances.
        notes = {"unfit": f"the choice of {backend} fits only within the solver's tolerances"}
        return CoreResult(None, -math.inf, bound, proof, limit_hit=outcome.limit_hit, notes=notes)
    value = knapsack.value(chosen)
    return CoreResult(chosen, value, max(bound, value), proof, limit_hit=outcome.limit_hit)


def fits(knapsack: Knapsack, chosen: Ints) -> bool:
    """Return True if a choice fits the groups and, up to rounding, the capacities."""
    owners = knapsack.owner[chosen]
    if len(np.unique(owners)) != len(owners):
        return False
    if knapsack.exactly_one and len(owners) != knapsack.num_groups:
        return False
    load: Floats = knapsack.weight[chosen].sum(axis=0)
    rounding = np.where(knapsack.sum_tolerance > 0, FEASIBILITY, 0.0)
    tolerance = rounding * np.abs(knapsack.capacity)
    return bool(np.all(load <= knapsack.capacity + tolerance))
