r"""Exact at scale: the linear relaxation by column generation, then a core of few items.

An item whose choice costs the Lagrangian bound :math:`L(\lambda)` more than the gap to an incumbent
cannot be in a better choice. With many groups the gap is small, and of a million items a few
hundred are left: the core. First a better incumbent is searched for (`sharpening`). Then a core of
single items is searched in two halves (`halves`). Where their lists are too long, and for groups,
the core is enumerated in exact arithmetic (`cardinality`), and where that takes many nodes, or
numbers are no decimals, HiGHS solves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.cardinality import (
    FIXING_SLACK,
    enumerate_slices,
    incumbent,
    losses_of_items,
    stopped_early,
)
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.halves import solve_by_halves
from gadgetopt.pieces.knapsack.integral import decimal_unit
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import (
    Relaxation,
    linear_relaxation,
    only_items,
    usable_items,
)
from gadgetopt.pieces.knapsack.sharpening import (
    Sharpened,
    Sharpening,
    searches,
    sharpened,
    single_items,
)
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.system.result import Limits

#: Nodes enumerated, then seconds of HiGHS, in turns until the core is closed; enumeration comes
#: last. It is best on single items and good on few items in groups; on many it varies.
TURNS_SINGLE = ((2e8, 30.0), (math.inf, 0.0))
TURNS_FEW = ((1e7, 3.0), (1e8, 30.0), (math.inf, 0.0))
TURNS_MANY = ((3e6, 5.0), (1e7, 30.0), (math.inf, 0.0))
#: Most items of groups for which `TURNS_FEW` are; of more, enumeration varies.
#: Tuned: `benchmarks/constants.py`.
FEW_ITEMS = 1000

#: With more rows few sets are near each other and a tree finds them hardly faster than a list.
#: Tuned: `benchmarks/constants.py`.
MOST_ROWS_OF_HALVES = 6
#: Proof of a bound before the core is searched.
LAGRANGIAN = "Lagrangian bound"

CoreSolver = Literal["auto", "enumeration", "mip"]

#: Is told of a profit and a bound.
Told = Callable[[float, float], None]


def cg_core(
    knapsack: Knapsack,
    limits: Limits | None = None,
    rng: np.random.Generator | None = None,
    *,
    core_solver: CoreSolver = "auto",
    sharpening: Sharpening = "auto",
    by_count: bool = True,
    told: Told = lambda _, __: None,
) -> CoreResult:
    """Solve a knapsack exactly by its core.

    Parameters
    ----------
    knapsack : Knapsack
    limits : Limits, optional
    rng : numpy.random.Generator, optional
        Gives the memetic search and HiGHS their seeds.
    core_solver : "auto", "enumeration" or "mip"
        What solves the core; "auto" searches single items of few rows in two halves, then lets
        enumeration and HiGHS take turns, which become longer, or HiGHS alone where enumeration
        cannot finish (`sharpening`).
    sharpening : "auto", "search" or "mip"
        What looks for a better incumbent before that: the memetic search or kernels, HiGHS among
        few items, or by default the former unless loops are not compiled.
    by_count : bool
        True if the enumeration slices single items by their number.
    told : callable, optional
        Is told of the best profit and the bound after each step.

    Returns
    -------
    CoreResult
        `lagrangian` and `duals` need not trust a solver. `proof` says who claims `bound`.

    Raises
    ------
    ModelRefused
        If enumeration is asked for and the numbers are not made for exact sums in doubles.
    """
    clock = Clock(limits)
    relaxation = linear_relaxation(knapsack, clock.limits())
    if relaxation.infeasible:
        return CoreResult(None, -math.inf, -math.inf, "not even fractions of items fit")
    if relaxation.duals is None or relaxation.limit_hit:
        return stopped_early(relaxation)
    chosen = incumbent(knapsack, relaxation, clock)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    found = CoreResult(
        chosen, value, relaxation.bound, LAGRANGIAN, relaxation.duals, relaxation.bound
    )
    told(found.value, found.bound)
    better = Sharpened(found.chosen)
    halves = core_solver == "auto" and single_items(knapsack)
    by_search = searches(knapsack, sharpening)
    # Profits without a unit have no ties, and two halves are then quicker than any search.
    if halves and (not by_search or decimal_unit(knapsack.profit) is None):
        found = _by_halves(knapsack, relaxation, found, clock)
    if core_solver != "enumeration" and not _searched(found) and not found.optimal:
        better = sharpened(knapsack, relaxation, found.chosen, clock, rng, by_search=by_search)
        found = _with(found, knapsack, better)
    if halves and by_search and better.halves and not _searched(found):
        found = _by_halves(knapsack, relaxation, found, clock)
    searched = _searched(found)
    told(found.value, found.bound)
    notes = found.notes | {
        "items": knapsack.num_items,
        "columns": relaxation.columns,
        "rounds": relaxation.rounds,
        "relaxation": relaxation.value,
        "first_value": found.value if found.chosen is not None else None,
        "relaxation_s": clock.elapsed_s,
    }
    enumerable = better.enumerable
    if not enumerable and not searched and not found.optimal and not single_items(knapsack):
        found = _handed_over(knapsack, relaxation, found, clock, rng)
        return replace(found, notes=notes | found.notes)
    # Profits that are no decimals have no unit, hence no least improvement.
    if not searched and not (found.optimal and decimal_unit(knapsack.profit) is None):
        solver = core_solver
        if not enumerable and solver == "auto":
            solver = "enumeration" if better.lowers else "mip"
        heuristics = "children" not in better.notes  # else a search found no better choice
        found = _in_turns(
            knapsack, relaxation, found, clock, rng, solver, by_count, heuristics, told
        )
    return replace(found, notes=notes | found.notes)


def _searched(found: CoreResult) -> bool:
    """Return True if the core was searched to the end, or a limit ended the run."""
    return found.limit_hit is not None or found.proof != LAGRANGIAN


def _with(found: CoreResult, knapsack: Knapsack, better: Sharpened) -> CoreResult:
    """Return a result with the better incumbent, and with what kernels proved."""
    value = -math.inf if better.chosen is None else knapsack.value(better.chosen)
    bound = found.bound if better.proved is None else min(found.bound, better.proved)
    return replace(
        found,
        chosen=better.chosen,
        value=value,
        bound=max(value, bound),
        proof=found.proof if better.proved is None else "enumeration in exact arithmetic",
        limit_hit="interrupted" if better.interrupted else found.limit_hit,
        notes=found.notes | dict(better.notes),
    )


def _handed_over(
    knapsack: Knapsack,
    relaxation: Relaxation,
    found: CoreResult,
    clock: Clock,
    rng: np.random.Generator | None,
) -> CoreResult:
    """Give HiGHS the rest of the time, from scratch: its own start finds other choices."""
    if clock.expired:
        return replace(found, limit_hit="time_s")
    result = _core_mip(knapsack, relaxation, found, clock.limits(), rng, warm=False)
    return replace(result, notes=result.notes | {"handed_over": "HiGHS"})


def _by_halves(
    knapsack: Knapsack, relaxation: Relaxation, found: CoreResult, clock: Clock
) -> CoreResult:
    """Search single items in two halves; what is left open keeps the proof it came with."""
    if len(knapsack.capacity) > MOST_ROWS_OF_HALVES:
        return found
    try:
        result = solve_by_halves(knapsack, relaxation, found.chosen, clock)
    except ModelRefused:
        return found
    result = replace(result, bound=max(result.value, min(result.bound, found.bound)))
    if result.limit_hit == "nodes":
        return replace(result, proof=LAGRANGIAN, limit_hit=None)
    return result


def _in_turns(
    knapsack: Knapsack,
    relaxation: Relaxation,
    found: CoreResult,
    clock: Clock,
    rng: np.random.Generator | None,
    core_solver: CoreSolver,
    by_count: bool,
    heuristics: bool,
    told: Told,
) -> CoreResult:
    """Let enumeration and HiGHS take turns until the core is closed."""
    notes = dict(found.notes)
    for nodes, mip_s in _turns(knapsack, core_solver):
        if nodes:
            try:
                found = _enumerated(knapsack, relaxation, found, clock, by_count, nodes)
            except ModelRefused:
                if core_solver == "enumeration":
                    raise
                mip_s = math.inf  # noqa: PLW2901
            notes |= found.notes
            told(found.value, found.bound)
        if mip_s and not _done(found):
            step = clock.limits(at_most_s=mip_s)
            found = _core_mip(knapsack, relaxation, found, step, rng, heuristics=heuristics)
            notes |= found.notes
            if found.limit_hit in (None, "gap") and "unfit" not in found.notes:
                # HiGHS closed its own gap, or the one asked for: a little more than ours.
                break
        if _done(found):
            break
        if clock.expired:
            found = replace(found, limit_hit="time_s")
            break
    return replace(found, notes=notes)


def _turns(knapsack: Knapsack, core_solver: CoreSolver) -> tuple[tuple[float, float], ...]:
    """Return the nodes to enumerate and the seconds of HiGHS for each turn."""
    if core_solver == "mip":
        return ((0.0, math.inf),)
    if core_solver == "enumeration":
        return ((math.inf, 0.0),)
    if single_items(knapsack):
        return TURNS_SINGLE
    return TURNS_FEW if knapsack.num_items <= FEW_ITEMS else TURNS_MANY


def _enumerated(
    knapsack: Knapsack,
    relaxation: Relaxation,
    found: CoreResult,
    clock: Clock,
    by_count: bool,
    nodes: float,
) -> CoreResult:
    """Enumerate up to some number of nodes from the choice found so far."""
    result = enumerate_slices(
        knapsack, relaxation, found.chosen, clock, by_count=by_count, most_nodes=nodes
    )
    return replace(result, bound=max(result.value, min(result.bound, found.bound)))


def _done(found: CoreResult) -> bool:
    return found.optimal or found.infeasible or found.limit_hit == "interrupted"


def _core_mip(
    knapsack: Knapsack,
    relaxation: Relaxation,
    found: CoreResult,
    limits: Limits,
    rng: np.random.Generator | None,
    *,
    warm: bool = True,
    heuristics: bool = True,
) -> CoreResult:
    """Solve the core by HiGHS: all items that a choice better than the one found can have."""
    assert relaxation.duals is not None
    usable = np.flatnonzero(usable_items(knapsack))
    losses = losses_of_items(only_items(knapsack, usable), relaxation.duals)
    gap = relaxation.bound - found.value
    # With ">" instead of ">= - slack" the incumbent, which often sits on the threshold, is lost.
    slack = FIXING_SLACK * float(np.abs(knapsack.profit).max(initial=0.0))
    core = usable[losses <= gap + slack]
    known = None
    if warm and found.chosen is not None and np.isin(found.chosen, core).all():
        known = np.searchsorted(core, found.chosen)
    solved = solve_mip(
        only_items(knapsack, core),
        "highs",
        limits,
        seed_of(rng),
        warm_start=known,
        heuristics=heuristics,
    )
    chosen, value = found.chosen, found.value
    if solved.chosen is not None and solved.value > value:
        chosen, value = core[solved.chosen], solved.value
    return CoreResult(
        chosen,
        value,
        max(value, min(found.bound, solved.bound)),
        "exact Lagrangian prices for all items but the core, claimed by HiGHS for the core",
        relaxation.duals,
        relaxation.bound,
        solved.limit_hit,
        {"core": len(core), **solved.notes},
    )
