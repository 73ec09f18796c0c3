r"""The kernel: one job's cheapest schedule for every completion slot, at given prices.

It is the pricing problem of column generation, with full capacities, and of the online algorithm,
with the capacities that are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints

from ..instance import SlotPlan
from ..terms import JobTerms
from .labels import (
    Front,
    Scale,
    cheapest_chains,
    exact_scale,
    front,
    quantised_scale,
    sample_scale,
)
from .slot_methods import SlotMethod, SlotOptions, slot_table
from .slot_tables import Room, SlotTable

Progress = Literal["auto", "exact", "quantised", "samples"]

#: Progress is exact if there are at most this many pairs of internal and external worker-slots.
#: Tuned: `benchmarks/constants.py`.
AUTO_PAIRS = 1_000_000

#: Mask of the numbers of workers that are allowed in a slot and a mode (internal or not).
Allow = Callable[[int, bool, Ints], Bools]


@dataclass(frozen=True)
class Use:
    """The part of a plan in one slot: a number of workers, all on one machine or spread."""

    slot: int
    internal: bool
    workers: int


@dataclass(frozen=True)
class Usage:
    """Units that a plan takes, one entry for each slot and machine with something on it.

    Attributes
    ----------
    slots : array of int, shape (entries,)
        Numbered from 1.
    machines : array of int, shape (entries,)
    amounts : array of int, shape (entries, resources)
        In units.
    """

    slots: Ints
    machines: Ints
    amounts: Ints


@dataclass(frozen=True, eq=False)
class Plan:
    """A schedule of one job that completes in the slot of its last use.

    Attributes
    ----------
    job : JobTerms
    cost : float
        At the prices it was made for.
    uses : tuple of Use
        In order of slots.
    tables : tuple of SlotTable
        Where the placements of each use come from; they are looked up when asked for.
    """

    job: JobTerms
    cost: float
    uses: tuple[Use, ...]
    tables: tuple[SlotTable, ...]

    @property
    def completion(self) -> int:
        """The last slot with workers."""
        return self.uses[-1].slot

    @cached_property
    def slots(self) -> tuple[SlotPlan, ...]:
        """The schedule as solutions state it."""
        return tuple(
            SlotPlan(slot=use.slot, placements=table.placements(use.internal, use.workers))
            for use, table in zip(self.uses, self.tables, strict=True)
        )

    @cached_property
    def usage(self) -> Usage:
        """Units that it takes, by machine and slot."""
        return usage_of(self.job, self.slots)


def usage_of(job: JobTerms, schedule: Sequence[SlotPlan]) -> Usage:
    """Return the units that a schedule takes, by machine and slot."""
    entries = [
        (plan.slot, place.machine, place.workers, place.servers)
        for plan in schedule
        for place in plan.placements
    ]
    slots, machines, workers, servers = np.array(entries, dtype=np.int64).reshape(-1, 4).T
    amounts = workers[:, None] * job.alpha + servers[:, None] * job.beta
    return Usage(slots, machines, amounts)


def best_plans(
    job: JobTerms,
    price: Floats,
    room: Ints,
    *,
    slot_method: SlotMethod = "exact_dp",
    progress: Progress = "exact",
    quanta: int = 200,
    options: SlotOptions | None = None,
    last_slot: int | None = None,
    alike: Ints | None = None,
    allow: Allow | None = None,
    least_workers: Ints | None = None,
    most_workers: Ints | None = None,
) -> dict[int, Plan]:
    """Return the cheapest plan for every completion slot in which the job can complete.

    A plan for a slot runs in it and is not done before. With the exact slot method and exact
    progress no schedule is cheaper, as one that goes on after it is done would be cheaper without
    what comes last.

    Parameters
    ----------
    job : JobTerms
    price : array of float, shape (slots, machines, resources)
        Per unit, at least 0; slot t is at t - 1.
    room : array of int, shape (slots, machines, resources)
        In units.
    slot_method : "auto", "exact_dp", "greedy", "milp" or "rounding"
        How external slot tables are made, see `slot_methods.SlotOptions`.
    progress : "auto", "exact", "quantised" or "samples"
        In what progress is counted, see `labels`. "auto" is exact if that is few labels.
    quanta : int, default 200
        Parts of the work, if quantised.
    options : SlotOptions, optional
        More of how tables are made, instead of `slot_method`.
    last_slot : int, optional
        Later completion is of no interest.
    alike : array of int, shape (slots,), optional
        Slots of the same number have the same prices and room; by default they are compared.
    allow : function of (slot, internal, workers), optional
        Which numbers of workers of an array are allowed in a mode and slot.
    least_workers, most_workers : array of int, shape (slots, machines), optional
        Bounds on the job's workers on machines, of the exact slot method. In a slot with a least
        number it has to run.

    Raises
    ------
    ModelRefused
        If the dynamic program would be too large.
    """
    if job.earliest is None:
        return {}
    options = options or SlotOptions(slot_method)
    slots = range(job.arrival, (last_slot or job.instance.horizon_slots) + 1)
    # Roundings are drawn again in every slot, and bounds may differ.
    share = options.method != "rounding" and least_workers is None and most_workers is None
    known: dict[object, SlotTable] = {}
    tables: list[SlotTable] = []
    for t in slots:
        key: object = t
        if share and alike is not None:
            key = int(alike[t - 1])
        elif share:
            key = price[t - 1].tobytes() + room[t - 1].tobytes()
        if key not in known:
            slot = Room(
                price[t - 1] @ job.alpha,
                price[t - 1] @ job.beta,
                room[t - 1],
                None if least_workers is None else least_workers[t - 1],
                None if most_workers is None else most_workers[t - 1],
            )
            known[key] = slot_table(job, t, price[t - 1], slot, options)
        tables.append(known[key])
    forced = None
    if least_workers is not None:
        forced = [bool(least_workers[t - 1].any()) for t in slots]
    return plans_in(job, tables, progress, quanta, allow=allow, forced=forced)


def plans_in(
    job: JobTerms,
    tables: Sequence[SlotTable],
    progress: Progress,
    quanta: int,
    *,
    allow: Allow | None = None,
    forced: Sequence[bool] | None = None,
) -> dict[int, Plan]:
    """Return `plans` with progress counted in a given way; parameters are those of `best_plans`.

    Raises
    ------
    ModelRefused
        If the dynamic program would be too large, unless the way is "auto".
    """
    try:
        scale = progress_scale(job, progress, quanta)
        return plans(job, tables, scale, allow=allow, forced=forced)
    except ModelRefused:
        if progress != "auto":
            raise
    return plans(job, tables, quantised_scale(job, quanta), allow=allow, forced=forced)


def progress_scale(job: JobTerms, progress: Progress, quanta: int) -> Scale:
    """Return the units in which progress is counted."""
    if progress == "auto":
        pairs = math.ceil(job.work) * math.ceil(job.work / job.sigma)
        progress = "exact" if pairs <= AUTO_PAIRS else "quantised"
    if progress == "exact":
        return exact_scale(job)
    if progress == "quantised":
        return quantised_scale(job, quanta)
    if progress == "samples":
        return sample_scale(job)
    raise ValueError(f"progress: {progress!r} is not 'auto', 'exact', 'quantised' or 'samples'")


def plans(
    job: JobTerms,
    tables: Sequence[SlotTable],
    scale: Scale,
    *,
    allow: Allow | None = None,
    forced: Sequence[bool] | None = None,
) -> dict[int, Plan]:
    """Return the cheapest plan for every completion slot from the tables of the job's slots.

    Parameters
    ----------
    tables : sequence of SlotTable
        Of the slots from the arrival on; slots that are alike may share one.
    scale, allow, forced
        As in `best_plans` and `labels.cheapest_chains`.
    """
    known: dict[int, Front] = {}
    fronts: list[Front] = []
    for k, table in enumerate(tables):
        if allow is not None:
            fronts.append(allowed_front(table, scale, allow, job.arrival + k))
            continue
        if id(table) not in known:
            known[id(table)] = front(table.internal, table.external, scale)
        fronts.append(known[id(table)])
    out = {}
    for k, chain in enumerate(cheapest_chains(fronts, scale.level, forced)):
        if chain is not None:
            uses = tuple(
                Use(job.arrival + j, bool(fronts[j].internal[o]), int(fronts[j].workers[o]))
                for j, o in chain.steps
            )
            chosen = tuple(tables[j] for j, _ in chain.steps)
            out[job.arrival + k] = Plan(job, chain.cost, uses, chosen)
    return out


def allowed_front(table: SlotTable, scale: Scale, allow: Allow, slot: int) -> Front:
    """Return the undominated options of a slot among those that are allowed."""
    n = np.arange(len(table.internal))
    return front(
        np.where(allow(slot, True, n), table.internal, np.inf),
        np.where(allow(slot, False, n), table.external, np.inf),
        scale,
    )
