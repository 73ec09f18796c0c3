"""Slot tables by any of the methods for their external case.

Algorithm 4, after PD-ORS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock

from ..instance import Placement
from ..terms import JobTerms
from .greedy_tables import greedy_table, numbers_of_workers
from .slot_tables import (
    Placements,
    Room,
    SlotTable,
    exact_table,
    internal_table,
    units_that_fit,
)

SlotMethod = Literal["auto", "exact_dp", "greedy", "milp", "rounding"]
Keep = Literal["first", "best"]
FallBack = Literal["none", "greedy", "exact_dp"]

#: `auto` takes the exact program over machines if that is about this many steps or fewer.
#: Tuned: `benchmarks/constants.py`.
AUTO_STEPS = 300_000


@dataclass(frozen=True)
class SlotOptions:
    """How slot tables are made.

    Attributes
    ----------
    method : "auto", "exact_dp", "greedy", "milp" or "rounding"
        The program over machines for all numbers of workers at once; the greedy rule; an integer
        program for each number (all three reconstructed); or the linear program of each number,
        rounded at random, as in the paper. "auto" is the first if it is small, else the second.
    grid : int
        Not for the exact program: numbers of workers tried, see `numbers_of_workers`.
    seed : int
        Roundings depend on this, the job, the slot and the number of workers only.
    factor, attempts, keep, trim, fall_back
        Of the roundings, see `slot_rounding.slot_rounding`.
    clock : Clock
        Of the run; where time is up before a solver's answer, `TimeoutError` is raised.
    """

    method: SlotMethod = "exact_dp"
    grid: int = 0
    seed: int = 0
    factor: float = 1.0
    attempts: int = 50
    keep: Keep = "first"
    trim: bool = True
    fall_back: FallBack = "none"
    clock: Clock = field(default_factory=Clock, compare=False)


def slot_table(job: JobTerms, t: int, price: Floats, slot: Room, options: SlotOptions) -> SlotTable:
    """Return the table of a job in slot t, at prices of shape (machines, resources) per unit."""
    method = options.method
    if method == "auto":
        method = "exact_dp" if exact_steps(job, slot) <= AUTO_STEPS else "greedy"
    if method == "exact_dp":
        return exact_table(job, slot)
    if slot.least is not None or slot.most is not None:
        raise ValueError(f"slot_method: {method!r} does not take bounds on workers of a machine")
    n = numbers_of_workers(job, options.grid)
    if method == "greedy":
        return greedy_table(job, slot, n)
    if method == "milp":
        return _one_by_one(job, slot, n, lambda n: _optimum(job, n, price, slot.room, options))
    if method == "rounding":
        return _rounding_table(job, t, slot, n, options)
    raise ValueError(
        f"slot_method: {method!r} is not 'auto', 'exact_dp', 'greedy', 'milp' or 'rounding'"
    )


def exact_steps(job: JobTerms, slot: Room) -> int:
    """Return about how many steps the exact program over machines takes."""
    fit = units_that_fit(job.alpha, slot.room, job.batch).sum()
    fit += units_that_fit(job.beta, slot.room, int(job.servers[-1])).sum()
    return (job.most_external + 1) * (int(job.servers[job.most_external]) + 1) * int(fit)


def _one_by_one(
    job: JobTerms, slot: Room, n: Ints, place: Callable[[int], tuple[Placements, float] | None]
) -> SlotTable:
    internal, machine = internal_table(job, slot)
    external = np.full(job.batch + 1, np.inf)
    known: dict[int, Placements] = {}
    volume = job.most_fitting(slot.room.sum(axis=0, keepdims=True))[0]
    for k in n[n <= min(job.most_external, volume)].tolist():
        placed = place(k)
        if placed is not None:
            known[k], external[k] = placed
    return SlotTable(internal, external, machine, job.servers, known.__getitem__)


def _optimum(
    job: JobTerms, n: int, price: Floats, room: Ints, options: SlotOptions
) -> tuple[Placements, float] | None:
    from .slot_program import solve_slot

    found = solve_slot(job, n, price, room, limits=options.clock.limits())
    if found is None:
        return None
    pairs = enumerate(zip(found.workers.tolist(), found.servers.tolist(), strict=True))
    placed = tuple(Placement(machine=h, workers=w, servers=s) for h, (w, s) in pairs if w or s)
    return placed, found.cost


def _rounding_table(job: JobTerms, t: int, slot: Room, n: Ints, options: SlotOptions) -> SlotTable:
    """Round one number of workers after the other; their linear programs differ in (14), (15) only.

    The vertex of one may depend on those before it in the slot, but on nothing else.
    """
    from .slot_relaxation import SlotLp
    from .slot_rounding import slot_rounding

    lp = SlotLp(job, slot.worker_cost, slot.server_cost, slot.room, options.clock)

    def place(n: int) -> tuple[Placements, float] | None:
        found = slot_rounding(
            job,
            n,
            slot.worker_cost,
            slot.server_cost,
            slot.room,
            factor=options.factor,
            attempts=options.attempts,
            keep=options.keep,
            trim=options.trim,
            fallback=options.fall_back,
            seed_key=(options.seed, job.index, t, n),
            lp=lp,
        )
        return None if found.placements is None else (found.placements, found.cost)

    return _one_by_one(job, slot, n, place)
