"""What the compiled loops of `repacking_search` work on: constants, schedules, what they remember.

Arrays of a state: free room and units by slot and machine, and for every job and slot the number of
workers, negative where they are spread. Slots and machines are numbered from 0.
"""

from __future__ import annotations

from typing import NamedTuple

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.compiled import compiled


class Data(NamedTuple):
    """Constants of an instance; jobs by row.

    Attributes
    ----------
    capacity : array of int, shape (machines, resources)
    alpha, beta : array of int, shape (jobs, resources)
    per_alpha : array of float, shape (jobs, resources)
        1 / alpha, and 0 where alpha is 0.
    servers : array of int, shape (jobs, most workers + 1)
    usable : array of bool, same shape
        True where so many workers are allowed.
    batch, first, last : array of int, shape (jobs,)
        F, the first slot, and the last one in which completing is worth something (-1: none).
    utility : array of float, shape (jobs, slots)
    inside, spread : array of int, shape (jobs, most workers + 1)
        Progress in quanta of n workers on one machine, or spread.
    level : array of int, shape (jobs,)
        Quanta of the work.
    need_inside, need_spread : array of int, shape (jobs, largest level + 1)
        Least number of workers for so much progress, F + 1 if there is none.
    price : array of float, shape (slots, resources)
    worth : array of float, shape (2, jobs)
    """

    capacity: Ints
    alpha: Ints
    beta: Ints
    per_alpha: Floats
    servers: Ints
    usable: Bools
    batch: Ints
    first: Ints
    last: Ints
    utility: Floats
    inside: Ints
    spread: Ints
    level: Ints
    need_inside: Ints
    need_spread: Ints
    price: Floats
    worth: Floats


class State(NamedTuple):
    """A schedule.

    Attributes
    ----------
    room : array of int, shape (slots, machines, resources)
    workers, servers : array of int, shape (slots, machines, jobs)
    run : array of int, shape (jobs, slots)
        Workers; negative if spread.
    completion : array of int, shape (jobs,)
        -1 for a job that is not accepted.
    stamp : array of int, shape (slots,)
        Equal stamps of a slot mean equal placements; -1 if it has none yet.
    """

    room: Ints
    workers: Ints
    servers: Ints
    run: Ints
    completion: Ints
    stamp: Ints


class Scratch(NamedTuple):
    """What the moves remember and write over.

    Attributes
    ----------
    at : array of int, shape (machines,)
    hopeless : array of bool, shape (jobs,)
        True for a job that did not fit into all room that is left, whatever it costs.
    stamps : array of int, shape (1,)
        The last stamp that was given to a slot.
    seen : array of int, shape (jobs, slots)
        Stamp of the slot for which the two next are known.
    inside, spread : array of int, shape (jobs, slots)
        Most workers that fit on one machine, or spread.
    """

    at: Ints
    hopeless: Bools
    stamps: Ints
    seen: Ints
    inside: Ints
    spread: Ints


@compiled
def copy_into(target: State, source: State) -> None:
    """Make one state equal to another."""
    jobs, slots = source.run.shape
    for t in range(slots):
        if source.stamp[t] < 0 or source.stamp[t] != target.stamp[t]:
            copy_slot(target, source, t)
    for i in range(jobs):
        target.completion[i] = source.completion[i]
        for t in range(slots):
            target.run[i, t] = source.run[i, t]


@compiled
def copy_slot(target: State, source: State, t: int) -> None:
    """Make what one state has on the machines of a slot equal to another's."""
    machines, resources = source.room.shape[1], source.room.shape[2]
    for h in range(machines):
        for r in range(resources):
            target.room[t, h, r] = source.room[t, h, r]
        for i in range(len(source.completion)):
            target.workers[t, h, i] = source.workers[t, h, i]
            target.servers[t, h, i] = source.servers[t, h, i]
    target.stamp[t] = source.stamp[t]


@compiled
def value_of(data: Data, state: State) -> float:
    """Return the utility of a state."""
    total = 0.0
    for i in range(len(state.completion)):
        if state.completion[i] >= 0:
            total += data.utility[i, state.completion[i]]
    return total


@compiled
def add(data: Data, state: State, i: int, t: int, h: int, w: int, s: int) -> None:
    """Add workers and servers of a job on a machine of a slot; negative numbers take them away."""
    state.workers[t, h, i] += w
    state.servers[t, h, i] += s
    state.stamp[t] = -1
    for r in range(state.room.shape[2]):
        state.room[t, h, r] -= w * data.alpha[i, r] + s * data.beta[i, r]
