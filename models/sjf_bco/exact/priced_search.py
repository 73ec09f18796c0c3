"""Exact search in order of time, pruned by prices of modes, for few jobs on a small cluster.

A method of ours (reconstructed), and a rung of the ladder. The configuration LP gives a bound and
prices (`bounds/mode_lp.py`), and annealing towards the bound a schedule. From the bound on, the
search (`subproblems/chronological.py`) decides whether a schedule ends within M slots; each "no"
raises the bound by a slot, and the first "yes" is optimal. Then the check of `exhaustion.py` goes
through the last "no" again: if it can, within `CHECKED_STATES`, the prices are a certificate, and
otherwise the bound is a claim.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits, MethodOutcome

from .. import exhaustion
from ..baselines import order_annealing
from ..bounds.mode_lp import ModeLp
from ..certificate import ExhaustionPrices, SjfBcoCertificate, energetic_bound
from ..exhaustion import Modes, PriceTables, price_tables
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..subproblems.chronological import Chronological
from ..subproblems.chronological_loops import EXHAUSTED, FOUND

#: Moves of the annealing, a second or two.
MOVES = 2_000_000
#: States of which prices are taken, and states between two looks at the clock.
PRICED_STATES, STEP = 30, 1 << 17
#: States up to which an exhausted search is checked at once, some ten seconds.
CHECKED_STATES = 300_000
#: Shares of jobs in a random state that are done, and that have not started.
_DONE, _WHOLE = 0.4, 0.36


def priced_search(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return an optimal schedule, or the best schedule and bound within the time limit.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
    rng : numpy.random.Generator
        Seeds the annealing, and draws the states that are priced.

    Raises
    ------
    ModelRefused
        If there are too many placements or configurations to list, or iterations to tabulate.
    """
    lower = energetic_bound(instance)
    search = Search[SjfBcoSolution]("min", limits, gap=0.0)
    search.prove(lower, SjfBcoCertificate(formula="energetic"))
    notes = close(instance, search, rng)
    return search.outcome(search.best, **notes, **slow_note())


def close(
    instance: SjfBcoInstance, search: Search[SjfBcoSolution], rng: np.random.Generator
) -> dict[str, object]:
    """Raise the bound of a search and improve its incumbent until it is over; return notes.

    Raises
    ------
    ModelRefused
        As `priced_search`.
    """
    notes: dict[str, object] = {}
    if search.over:
        return notes
    modes = Modes(instance)
    prices = _prices(modes, search, rng)
    if not prices:
        return notes
    tables = price_tables(modes, prices)
    root = _root_bound(instance, tables)
    notes |= {"prices": len(prices), "root_bound": root}
    if root > search.bound:
        search.prove(root, _certificate(root, prices))
    if not search.over:
        _anneal(instance, search, rng)
    claimed = nodes = 0
    while not search.over and search.bound <= instance.horizon_slots:
        attempt = Chronological(instance, int(search.bound), tables)
        try:
            while attempt.step(STEP) not in (EXHAUSTED, FOUND) and not search.clock.expired:
                pass
        except KeyboardInterrupt:
            search.limit_hit = "interrupted"
        nodes += attempt.nodes
        if attempt.answer == FOUND:
            search.offer(search.bound, attempt.schedule())
        elif attempt.answer == EXHAUSTED:
            claimed = int(search.bound) + 1
            search.prove(claimed)
    notes["nodes"] = nodes
    if claimed:
        notes["checked"] = checked = _is_proved(instance, claimed, tables)
        if checked:
            search.certificate = _certificate(claimed, prices)
    search.infeasible |= search.bound > instance.horizon_slots
    return notes


def _anneal(
    instance: SjfBcoInstance, search: Search[SjfBcoSolution], rng: np.random.Generator
) -> None:
    limits = search.clock.limits(0.5)
    found = order_annealing.towards(int(search.bound), instance, limits, rng, MOVES)
    if isinstance(found.solution, SjfBcoSolution) and found.claimed_objective is not None:
        search.offer(found.claimed_objective, found.solution)
    if found.limit_hit == "interrupted":
        search.limit_hit = found.limit_hit


def prepare(instance: SjfBcoInstance) -> None:
    """Compile the annealer and the search."""
    order_annealing.prepare(instance)
    modes = Modes(instance)
    prices = ModeLp(modes).prices(instance.rates.iterations, [0] * len(instance.jobs), Limits())
    assert prices is not None
    Chronological(instance, 1, price_tables(modes, [prices])).step(1)


def _prices(
    modes: Modes, search: Search[SjfBcoSolution], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return the best prices of the first state and of random later ones, without repetition."""
    lp, work = ModeLp(modes), np.array(modes.instance.rates.iterations)
    found: dict[tuple[int, ...], None] = {}
    for k in range(PRICED_STATES):
        left = work.copy()
        if k:
            kind = rng.random(len(work))
            left = np.where(kind < _DONE + _WHOLE, work, rng.integers(1, work + 1))
            left[kind < _DONE] = 0
        if left.any():
            prices = lp.prices(left.tolist(), [0] * len(work), search.clock.limits())
            if prices is None:
                break
            found[prices] = None
    return list(found)


def _root_bound(instance: SjfBcoInstance, tables: PriceTables) -> int:
    """Return the least number of slots that can hold what all jobs are worth."""
    jobs = range(len(instance.jobs))
    worth = tables.worth[jobs, 0, instance.rates.iterations].sum(axis=0)
    return int((-(-worth // np.maximum(tables.per_slot, 1))).max())


def _certificate(slots: int, prices: Sequence[tuple[int, ...]]) -> SjfBcoCertificate:
    return SjfBcoCertificate(exhaustion=ExhaustionPrices(slots=slots, prices=tuple(prices)))


def _is_proved(instance: SjfBcoInstance, slots: int, tables: PriceTables) -> bool:
    """Return True if the check finds that no schedule is shorter.

    Raises
    ------
    AssertionError
        If it finds a shorter one, which the search has missed.
    """
    try:
        proved = exhaustion.refutes(instance, slots - 1, tables, CHECKED_STATES)
    except ValueError:  # too many states
        return False
    assert proved, f"a schedule ends within {slots - 1} slots"
    return proved
