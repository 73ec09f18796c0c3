"""Compiled loops of `repacking_search`: jobs taken out, slots packed again, jobs placed again."""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled, taken_in
from gadgetopt.numbers.loop_pieces import rising

from .repacking_moves import (
    NEVER,
    place,
    put_inside,
    take_out,
)
from .repacking_state import (
    Data,
    Scratch,
    State,
    add,
    copy_into,
    copy_slot,
    value_of,
)

#: Uniform draws of a round beside one for each job. Tuned: `benchmarks/constants.py`.
SINGLE_DRAWS = 7
#: Slots from a job's arrival on in which it may look for jobs in its way.
#: Tuned: `benchmarks/constants.py`.
LONGEST_WINDOW = 5
#: Range of the scales of prices, how much slots differ in theirs, and the order of jobs.
#: Tuned: `benchmarks/constants.py`.
LEAST_SCALE, GREATEST_SCALE = 0.1, 1.3
PRICE_NOISE, ORDER_NOISE = 0.3, 0.5
#: Relative improvement that counts, and what no value is divided by less than. By definition.
IMPROVEMENT, TINY = 1e-12, 1e-300


@compiled
def repack(data: Data, state: State, before: State, t: int) -> bool:
    """Pack the jobs of a slot again: blocks, then units by the dot-product rule.

    Where that fails the slot stays as it is, and the answer is False; `before` is scratch.
    """
    jobs, machines = len(state.completion), state.room.shape[1]
    resources = state.room.shape[2]
    copy_slot(before, state, t)
    asked = np.zeros((2, jobs), dtype=np.int64)
    size = np.zeros(jobs)  # negative, so that the largest come first
    for i in range(jobs):
        n = abs(state.run[i, t])
        if n == 0:
            continue
        if state.run[i, t] < 0:
            asked[0, i], asked[1, i] = n, data.servers[i, n]
        else:
            for r in range(resources):
                use = data.alpha[i, r] * n + data.beta[i, r] * data.servers[i, n]
                size[i] = min(size[i], -use / max(1, data.capacity[0, r]))
    for h in range(machines):
        for r in range(resources):
            state.room[t, h, r] = data.capacity[h, r]
        for i in range(jobs):
            state.workers[t, h, i] = state.servers[t, h, i] = 0
    done = True
    by_size = rising(size)
    for k in range(jobs):
        i = int(by_size[k])
        if size[i] < 0 and not put_inside(data, state, i, t, state.run[i, t]):
            done = False
            break
    if done:
        scarce = np.zeros(resources)
        for r in range(resources):
            need = 0.0
            for i in range(jobs):
                need += asked[0, i] * data.alpha[i, r] + asked[1, i] * data.beta[i, r]
            space = 0
            for h in range(machines):
                space += state.room[t, h, r]
            scarce[r] = need / max(1, space)
        spread = np.zeros(jobs, dtype=np.int64)
        number = 0
        for i in range(jobs):
            if asked[0, i] > 0:
                spread[number] = i
                number += 1
        for h in range(machines):
            _fill_machine(data, state, t, h, spread[:number], asked, scarce)
        for i in range(jobs):
            if asked[0, i] + asked[1, i] > 0:
                done = False
    if not done:
        copy_slot(state, before, t)
    return done


@taken_in
def _fill_machine(
    data: Data, state: State, t: int, h: int, spread: Ints, asked: Ints, scarce: Floats
) -> None:
    """Fill a machine with the units whose demand points most along its free capacity."""
    resources = len(scarce)
    room = state.room[t, h]
    # Rows 2 k and 2 k + 1 are of the workers and the servers of a job.
    demand = np.zeros((2 * len(spread), resources), dtype=np.int64)
    weight = np.zeros((2 * len(spread), resources))
    left = np.zeros(2 * len(spread), dtype=np.int64)
    for k in range(len(left)):
        i = spread[k // 2]
        left[k] = asked[k % 2, i]
        for r in range(resources):
            demand[k, r] = data.alpha[i, r] if k % 2 == 0 else data.beta[i, r]
            unit = max(1, data.capacity[h, r])
            weight[k, r] = scarce[r] * (demand[k, r] / unit) / unit
    while True:
        best, most = -1, -1.0
        for k in range(len(left)):
            if left[k] == 0:
                continue
            pull = 0.0
            for r in range(resources):
                if demand[k, r] > room[r]:
                    left[k] = 0  # nor will it fit later
                    pull = -1.0
                    break
                pull += weight[k, r] * room[r]
            if pull > most:
                best, most = k, pull
        if best < 0:
            return
        i, kind = spread[best // 2], best % 2
        left[best] -= 1
        asked[kind, i] -= 1
        add(data, state, i, t, h, 1 - kind, kind)


@taken_in
def _ruined(data: Data, state: State, most: int, u: Floats) -> Ints:
    """Return jobs to take out: some at random, or of one slot, or in the way of another job."""
    jobs, slots = state.run.shape
    first, last = 0, slots - 1
    if u[0] < 0.4:
        first = last = int(u[1] * slots)
    elif u[0] < 0.8:
        j = int(u[1] * jobs)
        if data.last[j] >= 0:
            first = data.first[j]
            last = min(data.last[j], first + 1 + int(u[2] * LONGEST_WINDOW))
    key = np.zeros(jobs)
    number = 0
    for i in range(jobs):
        key[i] = 2.0
        if state.completion[i] < 0:
            continue
        for t in range(first, last + 1):
            if state.run[i, t] != 0:
                key[i] = u[SINGLE_DRAWS + i]
                number += 1
                break
    if number == 0:
        return np.zeros(0, dtype=np.int64)
    return rising(key)[: 1 + int(u[3] * min(most, number))]


@compiled
def ruin_and_recreate(
    data: Data,
    current: State,
    best: State,
    trial: State,
    spare: State,
    scratch: Scratch,
    uniform: Floats,
    normal: Floats,
    heat: Floats,
    most: int,
) -> int:
    """Take jobs out, pack their slots again, place jobs again; return the number of better states.

    A worse state is kept with the probability of annealing.

    Parameters
    ----------
    uniform : array of float, shape (rounds, SINGLE_DRAWS + jobs)
        Draws from [0, 1).
    normal : array of float, shape (rounds, jobs + slots)
        Draws of the standard normal distribution.
    heat : array of float, shape (rounds,)
        Relative losses that are likely to be kept.
    most : int
        Jobs taken out, at most.
    """
    jobs, slots = current.run.shape
    now, record = value_of(data, current), value_of(data, best)
    better = 0
    key = np.zeros(jobs)
    price: Floats = np.zeros(data.price.shape)
    for k in range(len(heat)):
        u, z = uniform[k], normal[k]
        copy_into(trial, current)
        touched = np.zeros(slots, dtype=np.int64)
        for i in _ruined(data, current, most, u):
            for t in range(slots):
                if trial.run[i, t] != 0:
                    touched[t] = 1
            take_out(data, trial, i)
        for t in range(slots):
            if touched[t] > 0:
                repack(data, trial, spare, t)
        row = int(2 * u[4])
        for i in range(jobs):
            key[i] = -data.worth[row, i] * math.exp(ORDER_NOISE * z[i])
        order = rising(key)
        scale = LEAST_SCALE + (GREATEST_SCALE - LEAST_SCALE) * u[5]
        for t in range(slots):
            factor = scale * math.exp(PRICE_NOISE * z[jobs + t])
            for r in range(price.shape[1]):
                price[t, r] = data.price[t, r] * factor
        for i in range(jobs):
            scratch.hopeless[i] = False
        for least in (0.0, NEVER):
            for i in order:
                if trial.completion[i] < 0 and data.last[i] >= 0 and not scratch.hopeless[i]:
                    place(data, trial, int(i), price, least, scratch)
        value = value_of(data, trial)
        if value >= now or u[6] < math.exp((value - now) / (heat[k] * max(record, TINY))):
            now = value
            copy_into(current, trial)
            if value > record * (1 + IMPROVEMENT):
                record = value
                better += 1
                copy_into(best, trial)
    return better
