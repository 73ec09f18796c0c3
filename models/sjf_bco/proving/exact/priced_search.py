"""Exact search in order of time, pruned by prices of modes, for few jobs on a small cluster.

A method of ours (reconstructed), and a rung of the ladder. The configuration LP gives a bound and
prices (`bounds/mode_lp.py`), and annealing towards the bound a schedule, soon or hardly ever. From
the bound on, the search (`chronological.py`) decides whether a schedule ends within M
slots; each "no" raises the bound by a slot, and the first "yes" is optimal. A search that takes
longer waits for more annealing, once. Then the check of `exhaustion.py` goes
through the last "no" again, if the search took at most `CHECKED_NODES` states for it; then the
prices are a certificate, and otherwise the bound is a claim.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...energetic import (
    energetic_bound,
)
from ...heuristics import order_annealing
from ...instance import (
    SjfBcoInstance,
    SjfBcoSolution,
)
from ..bounds.mode_lp import ModeLp
from ..certificate import exhaustion
from ..certificate.check import (
    ExhaustionPrices,
    SjfBcoCertificate,
)
from ..certificate.mode_prices import (
    Modes,
    PriceTables,
    most_tables,
    price_tables,
)
from .chronological import Chronological
from .chronological_loops import (
    EXHAUSTED,
    FOUND,
)

#: Moves of the annealing before the search, and during a search that is long, a second or two.
#: Tuned: `benchmarks/constants.py`.
FIRST_MOVES, MOVES = 100_000, 2_000_000
#: States of which prices are taken, and states between two looks at the clock.
#: Tuned: `benchmarks/constants.py`.
PRICED_STATES, STEP = 30, 1 << 17
#: States of an exhausted search up to which it is checked at once, some ten seconds.
#: Tuned: `benchmarks/constants.py`.
CHECKED_NODES = 400_000
#: Seconds of the check for each of these states; the check is left out if they are not left.
#: Tuned: `benchmarks/constants.py`.
_CHECK_S = 5e-5
#: Shares of jobs in a random state that are done, and that have not started.
#: Tuned: `benchmarks/constants.py`.
_DONE, _WHOLE = 0.4, 0.36


@method(kind="exact", reference="priced search (reconstructed)", backend="highs")
def priced_search(
    instance: SjfBcoInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    checked_nodes: int = CHECKED_NODES,
) -> MethodOutcome:
    """Search in order of time, pruned by prices of a configuration LP.

    Return an optimal schedule, or the best schedule and bound within the time limit.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
    rng : numpy.random.Generator
        Seeds the annealing, and draws the states that are priced.
    checked_nodes : int, default 400,000
        States of the last exhausted search up to which the bound gets a certificate, if there is
        time: the check takes some 30 times as long as the search.

    Raises
    ------
    ModelRefused
        If there are too many placements or configurations to list, or iterations to tabulate.
    """
    lower = energetic_bound(instance)
    search = Search[SjfBcoSolution]("min", limits, gap=0.0)
    search.prove(lower, SjfBcoCertificate(formula="energetic"))
    modes = Modes(instance)
    notes: dict[str, object] = {}
    with search.interruptible():
        root(modes, search)
        notes = close(modes, search, rng, checked_nodes)
    return search.outcome(search.best, **notes, **slow_note())


def root(modes: Modes, search: Search[SjfBcoSolution]) -> None:
    """Raise the bound of a search by the best prices of the first state.

    Raises
    ------
    ModelRefused
        If there are too many configurations to list, or iterations to tabulate.
    """
    if search.over:
        return
    instance = modes.instance
    work = instance.rates.iterations
    prices = ModeLp(modes).prices(work, [0] * len(work), search.clock.limits())
    if prices is None:
        return
    tables = price_tables(modes, [prices])
    worth = int(tables.worth[range(len(work)), 0, work, 0].sum())
    bound = -(-worth // max(1, int(tables.per_slot[0])))
    if bound > search.bound:
        search.prove(bound, _certificate(bound, [prices]))
    search.infeasible |= search.bound > instance.horizon_slots


def close(
    modes: Modes,
    search: Search[SjfBcoSolution],
    rng: np.random.Generator,
    checked_nodes: int = CHECKED_NODES,
) -> dict[str, object]:
    """Raise the bound of a search and improve its incumbent until it is over; return notes.

    Raises
    ------
    ModelRefused
        As `priced_search`.
    """
    instance = modes.instance
    whole_annealing = copy.deepcopy(rng)  # begins with the same moves
    if not search.over:
        _anneal(instance, search, rng, FIRST_MOVES)
    if search.over:
        return {}
    prices = _prices(modes, search, rng)
    if not prices:
        return {}
    tables = price_tables(modes, prices)
    claimed = nodes = last_nodes = 0
    annealed = False
    while not search.over and search.bound <= instance.horizon_slots:
        attempt = Chronological(instance, int(search.bound), tables)
        with search.interruptible():
            while attempt.step(STEP) not in (EXHAUSTED, FOUND) and not search.over:
                if not annealed:
                    annealed = True
                    _anneal(instance, search, whole_annealing, MOVES)
        nodes += attempt.nodes
        if attempt.answer == FOUND:
            search.offer(search.bound, attempt.schedule())
        elif attempt.answer == EXHAUSTED:
            claimed, last_nodes = int(search.bound) + 1, attempt.nodes
            search.prove(claimed)
    notes: dict[str, object] = {"prices": len(prices), "nodes": nodes}
    if claimed:
        in_time = last_nodes <= min(checked_nodes, search.clock.left_s / _CHECK_S)
        notes["checked"] = checked = in_time and _is_proved(instance, claimed, tables)
        if checked:
            search.certificate = _certificate(claimed, prices)
    search.infeasible |= search.bound > instance.horizon_slots
    return notes


def _anneal(
    instance: SjfBcoInstance, search: Search[SjfBcoSolution], rng: np.random.Generator, moves: int
) -> None:
    limits = search.clock.limits(0.5)
    found = order_annealing.anneal_from_bound(int(search.bound), instance, limits, rng, moves)
    if isinstance(found.solution, SjfBcoSolution) and found.claimed_objective is not None:
        search.offer(found.claimed_objective, found.solution)
    if found.limit_hit == "interrupted":
        search.limit_hit = found.limit_hit


def _prices(
    modes: Modes, search: Search[SjfBcoSolution], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return the best prices of the first state and of random later ones, without repetition."""
    lp, work = ModeLp(modes), np.array(modes.instance.rates.iterations)
    found: dict[tuple[int, ...], None] = {}
    for k in range(min(PRICED_STATES, most_tables(modes.instance))):
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
        proved = exhaustion.refutes(instance, slots - 1, tables)
    except ValueError:  # too many states
        return False
    assert proved, f"a schedule ends within {slots - 1} slots"
    return proved
