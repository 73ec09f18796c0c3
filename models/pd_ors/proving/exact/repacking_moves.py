"""Compiled moves of `repacking_search`: a job is taken out of a schedule or placed in it."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled, taken_in
from gadgetopt.numbers.loop_pieces import rising

from .repacking_state import (
    Data,
    Scratch,
    State,
    add,
)

#: Numbers of workers tried in a slot, as parts of the most that fit, in quarters.
#: Tuned: `benchmarks/constants.py`.
QUARTERS = 4
#: What is worse than any plan. By definition.
NEVER = -1e300
#: More than the rounding error of a number of workers. Tuned: `benchmarks/constants.py`.
ROUNDED = 1e-9


@taken_in
def most_inside(data: Data, i: int, room: Ints) -> int:
    """Return the most workers that fit with their servers on one machine of a slot."""
    best = 0
    machines, resources = room.shape
    alpha, beta, per_alpha = data.alpha, data.beta, data.per_alpha
    servers, usable = data.servers, data.usable
    for h in range(machines):
        quotient = float(data.batch[i])
        for r in range(resources):
            if alpha[i, r] > 0:
                quotient = min(quotient, room[h, r] * per_alpha[i, r])
        n = int(quotient + ROUNDED)
        while n > best:
            fits = usable[i, n]
            if fits:
                for r in range(resources):
                    if alpha[i, r] * n + beta[i, r] * servers[i, n] > room[h, r]:
                        fits = False
                        break
            if fits:
                best = n
                break
            n -= 1
    return best


@compiled
def most_spread(data: Data, i: int, asked: int, room: Ints, at: Ints) -> int:
    """Return the most workers, up to a number, that fit spread over a slot with their servers.

    Servers go one by one where they cost the fewest workers; `at` receives servers by machine.
    """
    # Calls with all of `data`, and divisions, would take most of the time of a search.
    machines, resources = room.shape
    alpha, beta, per_alpha = data.alpha, data.beta, data.per_alpha
    servers, usable = data.servers, data.usable
    batch = float(data.batch[i])
    left = np.zeros((machines, resources), dtype=np.int64)
    hold = np.zeros(machines, dtype=np.int64)
    then = np.zeros(machines, dtype=np.int64)
    total = 0
    for h in range(machines):
        at[h] = 0
        for r in range(resources):
            left[h, r] = room[h, r]
        quotient = batch
        for r in range(resources):
            if alpha[i, r] > 0:
                quotient = min(quotient, room[h, r] * per_alpha[i, r])
        n = int(quotient + ROUNDED)
        for r in range(resources):
            while n > 0 and n * alpha[i, r] > room[h, r]:
                n -= 1
        hold[h] = n
        total += n
    n = min(asked, total)
    while n > 0 and not usable[i, n]:
        n -= 1
    placed = first = 0
    end = machines
    while n > 0 and placed < servers[i, n]:
        for h in range(first, end):
            # Workers beside one more server; -1 if that does not fit.
            quotient = batch
            for r in range(resources):
                space = left[h, r] - beta[i, r]
                if space < 0:
                    quotient = -1.0
                    break
                if alpha[i, r] > 0:
                    quotient = min(quotient, space * per_alpha[i, r])
            then[h] = int(quotient + ROUNDED) if quotient >= 0 else -1
            for r in range(resources):
                while then[h] > 0 and then[h] * alpha[i, r] > left[h, r] - beta[i, r]:
                    then[h] -= 1
        best, least = -1, 1 << 60
        for h in range(machines):
            if then[h] >= 0 and hold[h] - then[h] < least:
                best, least = h, hold[h] - then[h]
        if best < 0:
            break
        for r in range(resources):
            left[best, r] -= beta[i, r]
        total -= least
        hold[best] = then[best]
        first, end = best, best + 1
        at[best] += 1
        placed += 1
        n = min(n, total)
        while n > 0 and not usable[i, n]:
            n -= 1
    while n > 0 and (servers[i, n] > placed or not usable[i, n]):
        n -= 1
    return n


@compiled
def take_out(data: Data, state: State, i: int) -> None:
    """Take a job out of a state."""
    for t in range(state.run.shape[1]):
        if state.run[i, t] != 0:
            for h in range(state.room.shape[1]):
                w, s = state.workers[t, h, i], state.servers[t, h, i]
                if w > 0 or s > 0:
                    add(data, state, i, t, h, -w, -s)
            state.run[i, t] = 0
    state.completion[i] = -1


@compiled
def put_inside(data: Data, state: State, i: int, t: int, n: int) -> bool:
    """Put a job on the machine of a slot where it leaves least room."""
    best, least = -1, 1e300
    s = data.servers[i, n]
    for h in range(state.room.shape[1]):
        left = 0.0
        for r in range(state.room.shape[2]):
            space = state.room[t, h, r] - n * data.alpha[i, r] - s * data.beta[i, r]
            if space < 0:
                left = 1e300
                break
            left += space / max(1, data.capacity[h, r])
        if left < least:
            best, least = h, left
    if best < 0:
        return False
    add(data, state, i, t, best, n, s)
    state.run[i, t] = n
    return True


@taken_in
def _put_spread(data: Data, state: State, i: int, t: int, n: int, at: Ints) -> bool:
    """Spread a job over the machines of a slot, those with least room first."""
    machines = state.room.shape[1]
    if most_spread(data, i, n, state.room[t], at) < n:
        return False
    left = data.servers[i, n]
    for h in range(machines):
        s = min(at[h], left)
        left -= s
        if s > 0:
            add(data, state, i, t, h, 0, s)
    rest = n
    hold = np.zeros(machines, dtype=np.int64)
    for h in range(machines):
        n_h = data.batch[i]
        for r in range(state.room.shape[2]):
            if data.alpha[i, r] > 0:
                n_h = min(n_h, state.room[t, h, r] // data.alpha[i, r])
        hold[h] = n_h
    by_hold = rising(hold)
    for k in range(machines):
        h = int(by_hold[k])
        w = min(rest, hold[h])
        rest -= w
        if w > 0:
            add(data, state, i, t, h, w, 0)
    state.run[i, t] = -n
    return True


@taken_in
def _room_of_slot(data: Data, state: State, i: int, t: int, scratch: Scratch) -> None:
    """Find the most workers of a job that fit into a slot, unless they are known."""
    if state.stamp[t] < 0:
        scratch.stamps[0] += 1
        state.stamp[t] = scratch.stamps[0]
    if scratch.seen[i, t] != state.stamp[t]:
        scratch.seen[i, t] = state.stamp[t]
        room = state.room[t]
        scratch.inside[i, t] = most_inside(data, i, room)
        scratch.spread[i, t] = most_spread(data, i, data.batch[i], room, scratch.at)


@compiled
def place(data: Data, state: State, i: int, price: Floats, least: float, scratch: Scratch) -> bool:
    """Place a job where its utility exceeds its cost most, if by `least`; True if it was placed.

    Dynamic program over slots and quanta of work, with a few numbers of workers in each slot. What
    can no longer complete, or no longer gain more than the best completion so far, is left out.
    """
    slots = state.run.shape[1]
    Q = data.level[i]
    a, last = data.first[i], data.last[i]
    # The most progress in all slots after each.
    after = np.zeros(slots + 1, dtype=np.int64)
    for t in range(last, a - 1, -1):
        _room_of_slot(data, state, i, t, scratch)
        inside, spread = scratch.inside[i, t], scratch.spread[i, t]
        after[t] = after[t + 1] + max(data.inside[i, inside], data.spread[i, spread])
    if after[a] < Q:
        scratch.hopeless[i] = True
        return False
    cost = np.zeros(Q)
    for q in range(1, Q):
        cost[q] = 1e300
    options = 2 * QUARTERS
    number = np.zeros((slots, options + 1), dtype=np.int64)
    taken = np.zeros((slots, Q), dtype=np.int64)
    best, best_t, best_q, best_n = least, -1, -1, 0
    reached = 0
    for t in range(a, last + 1):
        worker = server = 0.0
        for r in range(price.shape[1]):
            worker += price[t, r] * data.alpha[i, r]
            server += price[t, r] * data.beta[i, r]
        inside, spread = scratch.inside[i, t], scratch.spread[i, t]
        if inside == 0 and spread == 0:
            continue
        u = data.utility[i, t]
        most = max(data.inside[i, inside], data.spread[i, spread])
        for q in range(max(0, Q - most), reached + 1):
            if u - cost[q] <= best:
                continue
            n = data.need_inside[i, Q - q]
            if n <= inside:
                gain = u - cost[q] - worker * n - server * data.servers[i, n]
                if gain > best:
                    best, best_t, best_q, best_n = gain, t, q, n
            n = data.need_spread[i, Q - q]
            if n <= spread:
                gain = u - cost[q] - worker * n - server * data.servers[i, n]
                if gain > best:
                    best, best_t, best_q, best_n = gain, t, q, -n
        if t == last:
            break
        for k in range(QUARTERS):
            number[t, 1 + 2 * k] = inside * (QUARTERS - k) // QUARTERS
            number[t, 2 + 2 * k] = -(spread * (QUARTERS - k) // QUARTERS)
        dearest = data.utility[i, t + 1] - best
        reach = reached
        # From the most on down, so that a slot is used once.
        for q in range(reached, max(-1, Q - after[t] - 1), -1):
            here = cost[q]
            if here >= dearest:
                continue
            for k in range(1, options + 1):
                n = abs(number[t, k])
                if n == 0 or not data.usable[i, n]:
                    continue
                step = data.inside[i, n] if number[t, k] > 0 else data.spread[i, n]
                then = q + step
                if step == 0 or then >= Q or then < Q - after[t + 1]:
                    continue
                c = here + worker * n + server * data.servers[i, n]
                if c < cost[then] and c < dearest:
                    cost[then] = c
                    taken[t, then] = k
                    reach = max(reach, then)
        reached = reach
    if best_t < 0:
        return False
    return _follow(data, state, i, taken, number, best_t, best_q, best_n, scratch.at)


@taken_in
def _follow(
    data: Data,
    state: State,
    i: int,
    taken: Ints,
    number: Ints,
    t: int,
    q: int,
    n: int,
    at: Ints,
) -> bool:
    """Put a job where a chain of the dynamic program has it."""
    completion = t
    while True:
        done = put_inside(data, state, i, t, n) if n > 0 else _put_spread(data, state, i, t, -n, at)
        if not done:
            take_out(data, state, i)
            return False
        if q == 0:
            break
        t -= 1
        while taken[t, q] == 0:
            t -= 1
        n = number[t, taken[t, q]]
        q -= data.inside[i, n] if n > 0 else data.spread[i, -n]
    state.completion[i] = completion
    return True
