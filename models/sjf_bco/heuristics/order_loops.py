r"""Annealing of start order, placement and delay, compiled.

A state is an order of the jobs, a placement of each and a delay of each. Jobs start strictly in the
order, each as soon as its servers have room and at least its delay after the start before it; rates
follow from the levels. With delays every schedule has a state. The cost is 100 times the makespan
plus the sum of completions. Moves: two jobs change places in the order (0.25), a job moves to
another place (0.2), a job gets another placement (0.35), or another delay if there are any (0.1),
and two jobs get other placements. (reconstructed)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.numbers.loop_pieces import put

#: Rows of a state: the order of jobs, the placement of each job, its delay in slots. By definition.
ORDER, CHOICE, DELAY = 0, 1, 2
#: A delay is less than this. Tuned: `benchmarks/constants.py`.
MOST_DELAY = 6
#: The cost of a schedule that never ends, more than of any that does, and of a slot of makespan.
#: By definition.
STALLED, PER_SLOT = 2**62, 100
#: Modulus less one, multiplier and increment of the 48-bit generator of POSIX's drand48.
#: By definition.
_MASK, _FACTOR, _STEP = 2**48 - 1, 0x5DEECE66D, 0xB


class Data(NamedTuple):
    """What does not change."""

    capacity: Ints  # shape (servers,)
    options: Ints  # GPUs of a placement on each server, then its servers; (options, servers + 1)
    first_option: Ints  # shape (jobs + 1,)
    work: Ints
    rates: Ints  # phi_j(r, p), shape (jobs, servers + 1, levels + 1)


@compiled
def starts(data: Data, state: Ints, jobs: Ints, servers: Ints) -> tuple[int, int]:
    """Return makespan and cost of a state; `jobs[0]` are then the starts.

    `jobs` and `servers` are room for the starts and iterations left of jobs, whether they run,
    their rates, and for free GPUs and spread jobs of servers.
    """
    start, left, runs, rate = jobs[0], jobs[1], jobs[2], jobs[3]
    free, spread = servers[0], servers[1]
    count, last = len(data.work), len(data.capacity)
    put(left, data.work)
    runs[:] = 0
    put(free, data.capacity)
    spread[:] = 0
    time = next_job = before = running = cost = 0
    while next_job < count or running > 0:
        wait = STALLED
        while next_job < count:
            j = state[ORDER, next_job]
            if time < before + state[DELAY, j]:
                wait = before + state[DELAY, j] - time
                break
            o = data.first_option[j] + state[CHOICE, j]
            fits = True
            for s in range(last):
                fits &= data.options[o, s] <= free[s]
            if not fits:
                break
            for s in range(last):
                free[s] -= data.options[o, s]
                if data.options[o, s] > 0 and data.options[o, last] > 1:
                    spread[s] += 1
            runs[j] = 1
            start[j] = before = time
            running += 1
            next_job += 1
        slots = wait
        for j in range(count):
            if runs[j] == 1:
                o, level = data.first_option[j] + state[CHOICE, j], 0
                for s in range(last):
                    if data.options[o, last] > 1 and data.options[o, s] > 0:
                        level = max(level, spread[s])
                rate[j] = data.rates[j, data.options[o, last], level]
                if rate[j] > 0:
                    slots = min(slots, -(-left[j] // rate[j]))
        if slots == STALLED:
            return STALLED, STALLED
        time += slots
        for j in range(count):
            if runs[j] == 1:
                left[j] -= rate[j] * slots
                if left[j] <= 0:
                    runs[j] = 2
                    running -= 1
                    cost += time
                    o = data.first_option[j] + state[CHOICE, j]
                    for s in range(last):
                        free[s] += data.options[o, s]
                        if data.options[o, s] > 0 and data.options[o, last] > 1:
                            spread[s] -= 1
    return time, cost + PER_SLOT * time


@compiled
def moved(data: Data, state: Ints, seed: int, delays: bool) -> int:
    """Make a random move, and return the next seed."""
    count = len(data.work)
    seed = (seed * _FACTOR + _STEP) & _MASK
    kind = seed / 281474976710656.0
    seed = (seed * _FACTOR + _STEP) & _MASK
    a = ((seed >> 17) * count) >> 31
    seed = (seed * _FACTOR + _STEP) & _MASK
    b = ((seed >> 17) * count) >> 31
    if kind < 0.25:
        state[ORDER, a], state[ORDER, b] = state[ORDER, b], state[ORDER, a]
    elif kind < 0.45:
        j, step = state[ORDER, a], 1 if a < b else -1
        for i in range(a, b, step):
            state[ORDER, i] = state[ORDER, i + step]
        state[ORDER, b] = j
    elif delays and kind < 0.55:
        seed = (seed * _FACTOR + _STEP) & _MASK
        delay = ((seed >> 17) * 2 * MOST_DELAY) >> 31
        state[DELAY, a] = delay if delay < MOST_DELAY else 0
    else:
        for j in (a, b):
            options = data.first_option[j + 1] - data.first_option[j]
            seed = (seed * _FACTOR + _STEP) & _MASK
            state[CHOICE, j] = ((seed >> 17) * options) >> 31
            if kind < 0.85:
                break
    return seed


@compiled
def _put_state(target: Ints, source: Ints) -> None:
    for row in range(len(source)):
        put(target[row], source[row])


@compiled
def anneal(
    data: Data,
    state: Ints,
    seed: int,
    begin: int,
    end: int,
    hot: float,
    cooling: float,
    delays: bool,
    enough: int,
) -> tuple[Ints, int, int]:
    """Make moves `begin` to `end`, change `state`; return the best state, its makespan, the seed.

    Stops once the makespan is at most `enough`.
    """
    jobs = np.zeros((4, len(data.work)), np.int64)
    servers = np.zeros((2, len(data.capacity)), np.int64)
    shortest, cost = starts(data, state, jobs, servers)
    least = cost
    best, trial = state.copy(), state.copy()
    temperature = hot * math.exp(cooling * begin)
    for move in range(begin, end):
        if shortest <= enough:
            break
        if move & 255 == 0:
            temperature = hot * math.exp(cooling * move)
        _put_state(trial, state)
        seed = moved(data, trial, seed, delays)
        makespan, new = starts(data, trial, jobs, servers)
        if new > cost:
            seed = (seed * _FACTOR + _STEP) & _MASK
            if seed / 281474976710656.0 >= math.exp((cost - new) / temperature):
                continue
        cost = new
        _put_state(state, trial)
        if makespan < shortest or (makespan == shortest and cost < least):
            shortest, least = makespan, cost
            _put_state(best, state)
    return best, shortest, seed
