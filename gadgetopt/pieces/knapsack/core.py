r"""Exact at scale: the linear relaxation by column generation, then a core of few items.

An item whose choice costs the Lagrangian bound :math:`L(\lambda)` more than the gap to an incumbent
cannot be in a better choice. With many groups the gap is small, and of a million items a few
hundred are left: the core. A core of single items is first searched in two halves (`halves`). Where
their lists are too long, and for groups, the core is enumerated in exact arithmetic
(`cardinality`), and where that takes many nodes, or numbers are no decimals, HiGHS solves it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
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
    reduced_profits,
    usable_items,
)
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.system.result import Limits

#: A better incumbent is searched for among this many items of every group, those of least loss,
#: if the gap to the first one leaves more; for so many seconds, and to this relative gap.
FIRST_CORE = 4
LARGE_CORE = 2000
FIRST_CORE_S = 10.0
FIRST_CORE_GAP = 1e-9
#: If the gap to an incumbent leaves more single items undecided than this, a better one is
#: searched for among the smallest reduced profits, at most for so many seconds.
UNDECIDED = 150
WINDOWS = ((200, 3.0), (600, 3.0))
#: Nodes enumerated, then seconds of HiGHS, in turns until the core is closed; enumeration comes
#: last. It is best on single items and good on few items in groups; on many it varies.
TURNS_SINGLE = ((2e8, 30.0), (math.inf, 0.0))
TURNS_FEW = ((1e7, 3.0), (1e8, 30.0), (math.inf, 0.0))
TURNS_MANY = ((3e6, 5.0), (1e7, 30.0), (math.inf, 0.0))
FEW_ITEMS = 1000

#: With more rows few sets are near each other and a tree finds them hardly faster than a list.
MOST_ROWS_OF_HALVES = 6
#: Proof of a bound before the core is searched.
LAGRANGIAN = "Lagrangian bound"

CoreSolver = Literal["auto", "enumeration", "mip"]


def cg_core(
    knapsack: Knapsack,
    limits: Limits | None = None,
    rng: np.random.Generator | None = None,
    *,
    core_solver: CoreSolver = "auto",
    by_count: bool = True,
) -> CoreResult:
    """Solve a knapsack exactly by its core.

    Parameters
    ----------
    knapsack : Knapsack
    limits : Limits, optional
    rng : numpy.random.Generator, optional
        Gives HiGHS its seed.
    core_solver : "auto", "enumeration" or "mip"
        What solves the core; "auto" searches single items of few rows in two halves, then lets
        enumeration and HiGHS take turns, which become longer.
    by_count : bool
        True if the enumeration slices single items by their number.

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
        return CoreResult(None, -math.inf, -math.inf, "no fractions of items fit")
    if relaxation.duals is None or relaxation.limit_hit:
        return stopped_early(relaxation)
    chosen = incumbent(knapsack, relaxation, clock)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    found = CoreResult(
        chosen, value, relaxation.bound, LAGRANGIAN, relaxation.duals, relaxation.bound
    )
    if core_solver == "auto" and _single(knapsack):
        found = _by_halves(knapsack, relaxation, found, clock)
    searched = found.limit_hit is not None or found.proof != LAGRANGIAN
    if core_solver != "enumeration" and not searched:
        chosen = _sharpened(knapsack, relaxation, found.chosen, clock, rng)
        value = -math.inf if chosen is None else knapsack.value(chosen)
        found = replace(found, chosen=chosen, value=value, bound=max(value, found.bound))
    notes = found.notes | {
        "items": knapsack.num_items,
        "columns": relaxation.columns,
        "rounds": relaxation.rounds,
        "relaxation": relaxation.value,
        "first_value": found.value if found.chosen is not None else None,
        "relaxation_s": clock.elapsed_s,
    }
    # Profits that are no decimals have no unit, hence no least improvement.
    if not searched and not (found.optimal and decimal_unit(knapsack.profit) is None):
        found = _in_turns(knapsack, relaxation, found, clock, rng, core_solver, by_count)
    return replace(found, notes=notes | found.notes)


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
        if mip_s and not _done(found):
            step = clock.limits(at_most_s=mip_s)
            found = _core_mip(knapsack, relaxation, found, step, rng)
            notes |= found.notes
            if found.limit_hit in (None, "gap"):
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
    if _single(knapsack):
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


def _sharpened(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    rng: np.random.Generator | None,
) -> Ints | None:
    """Return a better choice among few items if the gap to the incumbent leaves many."""
    assert relaxation.duals is not None
    if _single(knapsack):
        for items, most_s in WINDOWS:
            step = clock.limits(at_most_s=most_s)
            chosen = _in_window(knapsack, relaxation, chosen, items, step, rng)
        return chosen
    usable = np.flatnonzero(usable_items(knapsack))
    losses = losses_of_items(only_items(knapsack, usable), relaxation.duals)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    few = FIRST_CORE * knapsack.num_groups
    if np.count_nonzero(losses <= relaxation.bound - value) <= max(few, LARGE_CORE):
        return chosen
    cheap = np.sort(np.argpartition(losses, few - 1)[:few]) if few < len(losses) else slice(None)
    first = usable[cheap] if chosen is None else np.union1d(usable[cheap], chosen)
    limits = clock.limits(at_most_s=FIRST_CORE_S)
    known = None if chosen is None else np.searchsorted(first, chosen)
    solved = solve_mip(
        only_items(knapsack, first),
        "highs",
        replace(limits, rel_gap=max(FIRST_CORE_GAP, limits.rel_gap)),
        seed_of(rng),
        warm_start=known,
    )
    better = solved.chosen is not None and solved.value > value
    return first[solved.chosen] if better else chosen


def _single(knapsack: Knapsack) -> bool:
    return knapsack.num_groups == knapsack.num_items and not knapsack.exactly_one


def _in_window(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    items: int,
    limits: Limits,
    rng: np.random.Generator | None,
) -> Ints | None:
    """Return a better choice that differs from the relaxation's in a few single items only.

    The relaxation takes all items of positive reduced profit; those of the smallest reduced profit
    or loss are the least certain.
    """
    assert relaxation.duals is not None
    value = -math.inf if chosen is None else knapsack.value(chosen)
    reduced = np.where(
        usable_items(knapsack), reduced_profits(knapsack, relaxation.duals), -math.inf
    )
    if np.count_nonzero(np.abs(reduced) <= relaxation.bound - value) <= UNDECIDED:
        return chosen
    undecided = np.zeros(len(reduced), dtype=bool)
    undecided[np.argsort(np.abs(reduced), kind="stable")[:items]] = True
    window = np.flatnonzero(undecided & np.isfinite(reduced))
    taken = np.flatnonzero(~undecided & (reduced > 0))
    left = knapsack.capacity - knapsack.weight[taken].sum(axis=0)
    if np.any(left < 0):
        return chosen
    known = None
    if chosen is not None and np.array_equal(chosen[~undecided[chosen]], taken):
        known = np.searchsorted(window, chosen[undecided[chosen]])
    solved = solve_mip(
        replace(only_items(knapsack, window), owner=np.arange(len(window)), capacity=left),
        "highs",
        limits,
        seed_of(rng),
        warm_start=known,
    )
    if solved.chosen is None or knapsack.value(taken) + solved.value <= value:
        return chosen
    return np.sort(np.concatenate([taken, window[solved.chosen]]))


def _core_mip(
    knapsack: Knapsack,
    relaxation: Relaxation,
    found: CoreResult,
    limits: Limits,
    rng: np.random.Generator | None,
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
    if found.chosen is not None and np.isin(found.chosen, core).all():
        known = np.searchsorted(core, found.chosen)
    solved = solve_mip(
        only_items(knapsack, core),
        "highs",
        limits,
        seed_of(rng),
        warm_start=known,
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
        {"core": len(core)},
    )
