"""Algorithm 1: temporal greedy, which solves slot by slot with what has arrived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import GadgetInstance
from ..subproblems.hull import envelope
from ..subproblems.max_ring import largest_rings
from ..subproblems.schedule import Schedule, as_solution
from ..subproblems.slot_problem import Mapping, SlotProblem, slot_problem
from ..terms import Terms

SlotSolver = Callable[[SlotProblem, np.random.Generator, Limits], Sequence[Mapping]]
RingBounds = Callable[[int, Sequence[int]], Sequence[int]]


@dataclass(frozen=True)
class GreedyRun(Schedule):
    """The schedule of a greedy run with its timing.

    Attributes
    ----------
    slot_s : array, shape (slots,)
        Seconds spent on each slot.
    active : array of int, shape (slots,)
        Number of jobs that could run in each slot.
    limit_hit : str or None
        Slots after a limit was reached are empty.
    """

    slot_s: Floats
    active: Ints
    limit_hit: str | None


def temporal_greedy(
    terms: Terms,
    solve_slot: SlotSolver,
    rng: np.random.Generator,
    limits: Limits,
    *,
    tables: Sequence[Floats] | None = None,
    largest: Sequence[int] | None = None,
    ring_bounds: RingBounds | None = None,
) -> GreedyRun:
    """Solve one slot after another.

    Parameters
    ----------
    terms : Terms
    solve_slot : function
        Takes a slot problem, a generator and limits; returns at most one ring per job. The slot
        stays empty if it raises TimeoutError.
    rng : numpy.random.Generator
    limits : Limits
        For all slots together.
    tables : sequence of array, optional
        Utilities to use in place of u_i, such as their concave envelopes.
    largest : sequence of int, optional
        The largest ring of each job that can be embedded alone.
    ring_bounds : function, optional
        Takes a slot and the worker-slots done; returns the largest ring of each job in this slot.
    """
    clock = Clock(limits)
    by_arrival = sorted(range(len(terms.jobs)), key=lambda i: (terms.jobs[i].arrival, i))
    done = np.zeros(len(terms.jobs), dtype=np.int64)
    revealed, active = 0, []
    mappings: list[tuple[Mapping, ...]] = []
    slot_s, counts = np.zeros(terms.horizon), np.zeros(terms.horizon, dtype=np.int64)
    limit_hit = None
    for t in range(1, terms.horizon + 1):
        begin_s = clock.elapsed_s
        if clock.expired:
            limit_hit = "time_s"
            mappings.append(())
            continue
        while revealed < len(by_arrival) and terms.jobs[by_arrival[revealed]].arrival == t:
            active.append(by_arrival[revealed])
            revealed += 1
        active = sorted(i for i in active if done[i] < terms.jobs[i].max_total)
        most = largest if ring_bounds is None else ring_bounds(t, done.tolist())
        problem = slot_problem(terms, t, done.tolist(), tables, most, active)
        try:
            chosen = tuple(solve_slot(problem, rng, clock.limits()))
        except TimeoutError:
            limit_hit, chosen = "time_s", ()
        for mapping in chosen:
            done[mapping.job] += mapping.size
        mappings.append(chosen)
        slot_s[t - 1] = clock.elapsed_s - begin_s
        counts[t - 1] = len(problem.jobs)
    return GreedyRun(tuple(mappings), done, slot_s, counts, limit_hit)


def slot_by_slot(
    instance: GadgetInstance,
    solve_slot: SlotSolver,
    rng: np.random.Generator,
    limits: Limits,
    *,
    envelopes: bool = True,
    ring_bounds: RingBounds | None = None,
) -> MethodOutcome:
    """Run Algorithm 1 with a slot solver and return what a method returns.

    Parameters
    ----------
    envelopes : bool
        If True, gains are those of the concave envelopes of the utilities (reconstructed).
    ring_bounds : function, optional
        As in `temporal_greedy`.
    """
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs] if envelopes else None
    run = temporal_greedy(
        terms,
        solve_slot,
        rng,
        limits,
        tables=tables,
        largest=largest_rings(terms),
        ring_bounds=ring_bounds,
    )
    return MethodOutcome(
        solution=as_solution(terms, run),
        limit_hit=run.limit_hit,
        notes={
            "longest_slot_s": float(run.slot_s.max()),
            "most_active_jobs": int(run.active.max()),
        },
    )
