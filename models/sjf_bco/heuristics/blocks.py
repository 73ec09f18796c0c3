r"""Nested blocks: gangs and capacities in powers of two, all GPUs on one line.

Servers stand in a row by descending capacity and their GPUs are numbered 0..N-1. If capacities are
powers of two, an aligned block of 2^k GPUs, from a multiple of 2^k on, lies inside one server or
covers whole servers. A job of 2^k GPUs gets such a block. If the block covers several servers, the
job is spread, but nothing else runs there meanwhile: its level is 1 and its duration known. Two
blocks are disjoint or one contains the other, so jobs run from the largest down without idle time,
the load of a GPU is the sum of the durations of the jobs that use it, and the makespan is the
largest load. The order of jobs does not matter.

There are two lines of the same servers. Jobs on the early line run from slot 0 on, those on the
late line run backwards from the makespan, again from the largest down. In each server, the GPUs of
the late line are matched to those of the early line in any way. A GPU has the load of its two
places, and no job meets one of the other line as long as the makespan is the largest load. So gangs
need not share aligned blocks all the time: after early gangs of different lengths, a late gang can
take any GPUs of the server that are free by then. The state is a block for each job and the
matching. (reconstructed)
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints

from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_gpus

#: Stands for a duration on a block on which a job never ends; sums of many stay 64-bit integers.
#: By definition.
NEVER = 2**40


@dataclass(frozen=True)
class Blocks:
    """The two lines of GPUs, and how long each job runs on a block.

    Places on the early line are 0, 1, ..., those on the late line `length`, `length` + 1, ...

    Attributes
    ----------
    gangs : Ints
        G_j, shape (jobs,).
    slots : Ints
        d_j on r servers at level 1, or on one; `NEVER` if it never ends. Shape (jobs, most r), for
        r = 1, 2, ...
    server : Ints
        The position in the row of the server of each place, shape (2 `length`,). Only the first
        `gpus` places of a line have a GPU.
    gpus : int
        N.
    row : Ints
        The index of the server at each place, shape (servers,).
    """

    gangs: Ints
    slots: Ints
    server: Ints
    gpus: int
    row: Ints

    @property
    def length(self) -> int:
        """Places of a line: the GPUs, up to a multiple of the largest gang."""
        return len(self.server) // 2


@dataclass(frozen=True)
class Assignment:
    """A block for each job, and which places are the same GPU.

    Attributes
    ----------
    first : Ints
        The first place of the block of each job, shape (jobs,).
    mate : Ints
        The place on the other line of the GPU of each place, shape (2 length,).
    """

    first: Ints
    mate: Ints

    def copy(self) -> Assignment:
        """Return an assignment of its own."""
        return Assignment(self.first.copy(), self.mate.copy())


def blocks_of(instance: SjfBcoInstance) -> Blocks:
    """Return the lines of GPUs of an instance.

    Raises
    ------
    ModelRefused
        If a gang or a capacity is not a power of two, a gang is longer than any run of whole
        blocks, or there are too many GPUs to list.
    """
    refuse_many_gpus(instance)
    rates = instance.rates
    odd = [n for n in (*rates.gpus, *instance.server_gpus) if n & (n - 1)]
    if odd:
        raise ModelRefused(f"nested blocks: {odd[0]} GPUs, expected powers of two")
    row = np.argsort(-np.array(instance.server_gpus), kind="stable")
    capacities = np.array(instance.server_gpus, dtype=np.int64)[row]
    server = np.repeat(np.arange(len(row)), capacities)
    gangs = np.array(rates.gpus, dtype=np.int64)
    most = 1
    for g in np.unique(gangs).tolist():
        first = np.arange(0, len(server) - g + 1, g)
        most = max(most, int((server[first + g - 1] - server[first]).max()) + 1)
    slots = np.full((len(gangs), most), NEVER, dtype=np.int64)
    for j in range(len(gangs)):
        counts = rates.server_counts(j)
        for r in range(counts[0], min(counts[-1], most) + 1):
            d = rates.duration(j, r, 0 if r == 1 else 1)
            if d is not None:
                slots[j, r - 1] = d
    line = np.pad(server, (0, -len(server) % int(gangs.max())), mode="edge")
    return Blocks(gangs, slots, np.tile(line, 2), len(server), row)


def schedule_of(blocks: Blocks, state: Assignment) -> SjfBcoSolution:
    """Return the schedule of an assignment, which ends at the largest load."""
    used = np.zeros(len(blocks.server), dtype=np.int64)
    makespan = int(loads(blocks, state).max())
    start = [0] * len(state.first)
    placement: list[dict[int, int]] = [{} for _ in start]
    for j in np.argsort(-blocks.gangs, kind="stable").tolist():
        a = int(state.first[j])
        block = slice(a, a + int(blocks.gangs[j]))
        places, counts = np.unique(blocks.server[block], return_counts=True)
        before = int(used[block].max())
        after = before + int(blocks.slots[j, len(places) - 1])
        used[block] = after
        start[j] = before if a < blocks.length else makespan - after
        placement[j] = dict(zip(blocks.row[places].tolist(), counts.tolist(), strict=True))
    return SjfBcoSolution(start_slot=tuple(start), placement=tuple(placement))


def loads(blocks: Blocks, state: Assignment) -> Ints:
    """Return the load of every GPU in slots, in the order of the early line, shape (gpus,)."""
    at = place_loads(blocks.gangs, blocks.slots, blocks.server, state.first)
    return (at + at[state.mate])[: blocks.gpus]


def unmatched(blocks: Blocks, first: Ints) -> Assignment:
    """Return the assignment in which the GPUs of both lines are in the same order."""
    return Assignment(first, np.roll(np.arange(len(blocks.server)), blocks.length))


def best_fit(blocks: Blocks, target: int) -> Assignment:
    """Return early blocks by size and then duration, descending, by best fit within a target.

    A job gets the block of largest load on which it ends by the target, or else that on which it
    ends earliest. So large gangs fill few blocks and leave others to long small jobs.
    """
    first = np.zeros(len(blocks.gangs), dtype=np.int64)
    load = np.zeros(blocks.gpus, dtype=np.int64)
    longest = np.argsort(-blocks.slots.min(axis=1), kind="stable")
    for g in np.unique(blocks.gangs)[::-1].tolist():
        # A gang at least as large covers the whole block, so all GPUs of a block have one load.
        free = _blocks_by_load(blocks, load, g)
        for j in longest[blocks.gangs[longest] == g].tolist():
            d, by_load, at = _place(blocks.slots[j].tolist(), free, target)
            begin, a = by_load.pop(at)
            bisect.insort(by_load, (begin + d, a))
            first[j] = a
            load[a : a + g] += d
    return unmatched(blocks, first)


def _blocks_by_load(blocks: Blocks, load: Ints, g: int) -> dict[int, list[tuple[int, int]]]:
    """Return load and first GPU of every block of g GPUs, ascending, by its servers less one."""
    a = np.arange(0, len(load) - g + 1, g)
    servers = blocks.server[a + g - 1] - blocks.server[a]
    return {
        int(r): sorted(zip(load[a[servers == r]].tolist(), a[servers == r].tolist(), strict=True))
        for r in np.unique(servers)
    }


def _place(
    slots: list[int], free: dict[int, list[tuple[int, int]]], target: int
) -> tuple[int, list[tuple[int, int]], int]:
    """Return the duration, list and position in it of the best fit of a job."""
    options = []
    for r, by_load in free.items():
        at = max(0, bisect.bisect_left(by_load, (target - slots[r] + 1, 0)) - 1)
        end = by_load[at][0] + slots[r]
        options.append(((end > target, end if end > target else -end), r, at))
    _, r, at = min(options)
    return slots[r], free[r], at


def place_loads(gangs: Ints, slots: Ints, server: Ints, first: Ints) -> Ints:
    """Return the slots of the jobs on every place of both lines, shape (2 length,)."""
    last = first + gangs - 1
    taken = slots[np.arange(len(gangs)), server[last] - server[first]]
    change = np.zeros(len(server) + 1, np.int64)  # from each place to the next
    np.add.at(change, first, taken)
    np.subtract.at(change, last + 1, taken)
    return np.cumsum(change[:-1])
