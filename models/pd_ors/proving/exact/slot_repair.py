"""Repair of slots that do not pack: jobs in the way are placed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock

from ...instance import (
    PdOrsInstance,
    SlotPlan,
)
from ...subproblems.decoding import (
    Counts,
    slot_plan,
)
from .job_placement import Placing
from .slot_packing import (
    Item,
    fill_machines,
)

Items = tuple[Item, ...]
#: Workers and servers by machine of every job of a slot.
Packed = Mapping[int, Counts]


def repaired(
    instance: PdOrsInstance,
    items: Mapping[int, Items],
    packed: Mapping[int, Packed],
    price: Floats,
    clock: Clock,
) -> Placing:
    """Return a placing of the jobs, without those that keep slots from being packed.

    Those, and all jobs not named, are placed in the capacity that is left.

    Parameters
    ----------
    instance : PdOrsInstance
    items : dict of slot to Items
        Items that complete every job named, if they all pack.
    packed : dict of slot to Packed
        Slots with a known packing.
    price : array, shape (slots, machines, resources)
        Per unit, at which the others are placed.
    clock : Clock
        No further job is placed when time is up.
    """
    counts = {t: packed[t] for t in items if t in packed}
    dropped: set[int] = set()
    for t in items:
        if t in counts:
            continue
        kept = tuple(item for item in items[t] if item.job not in dropped)
        while (found := fill_machines(instance.terms, kept)) is None:
            drop = _in_the_way(instance, kept)
            dropped.add(drop.job)
            kept = tuple(item for item in kept if item is not drop)
        counts[t] = found
    placing = Placing.of(instance, schedules(instance, items, counts, dropped))
    others = [job for job in instance.terms.jobs if job.index not in placing.placed]
    for job in sorted(others, key=lambda job: (-float(job.utility.max()), job.index)):
        if clock.expired:
            break
        placing.place(job, price)
    return placing


def schedules(
    instance: PdOrsInstance,
    items: Mapping[int, Items],
    packed: Mapping[int, Packed],
    without: set[int],
) -> dict[int, list[SlotPlan]]:
    """Return the schedules of all jobs but some in packed slots."""
    out: dict[int, list[SlotPlan]] = {}
    for t in sorted(items):
        for item in items[t]:
            if item.job in without:
                continue
            plan = slot_plan(instance.terms.jobs[item.job], t, packed[t][item.job])
            if plan is not None:
                out.setdefault(item.job, []).append(plan)
    return out


def _in_the_way(instance: PdOrsInstance, items: Items) -> Item:
    """Return the item of least utility without which the others fit, or else of all."""
    jobs = instance.terms.jobs
    by_utility = sorted(items, key=lambda x: (float(jobs[x.job].utility.max()), x.job))
    for item in by_utility:
        if fill_machines(instance.terms, tuple(x for x in items if x is not item)) is not None:
            return item
    return by_utility[0]
