"""The loops of the search in order of time (`chronological.py`), compiled.

The path is kept by depth, so a search can be paused. Tables have named blocks: `path.jobs[LEFT,
depth, j]` are the iterations that job j has left there.
"""

from __future__ import annotations

from typing import NamedTuple

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled

#: Answers of a search. By definition.
EXHAUSTED, FOUND, PAUSED = 0, 1, 2
#: Blocks of `Data.jobs`. Jobs stand in the order of the search; `CAN_SPREAD` is 1 or 0, and `TWIN`
#: the identical job that starts no later, or -1. By definition.
WORK, FIRST_OPTION, CAN_SPREAD, TWIN, GANG = 0, 1, 2, 3, 4
#: Blocks of `Path.jobs`: iterations left, placement plus one once started, iterations in a slot.
#: By definition.
LEFT, USED, RATE = 0, 1, 2
#: Blocks of `Path.servers`: free GPUs, spread jobs, 1 where a job has just completed, 1 where one
#: more spread job would have slowed another one in the slot before, the nearest equal server.
#: By definition.
FREE, SPREAD, OPENED, SLOWS, EQUAL = 0, 1, 2, 3, 4
#: Blocks of `Path.at`: the instant, 1 while starts are tried, the job and placement to try next, 1
#: if time may advance, slots to advance next, slots to the next completion, the fewest slots.
#: By definition.
TIME, STARTING, JOB, OPTION, MAY_ADVANCE, STEP, LONGEST, SHORTEST = 0, 1, 2, 3, 4, 5, 6, 7
#: Entries of `Path.counts`: depth, states visited, the latest prices that pruned. By definition.
DEPTH, NODES, HOT = 0, 1, 2
#: Modulus less one, multipliers and increment of the 48-bit words by which states are known.
#: By definition.
_MASK, _FACTOR, _OTHER, _STEP = 2**48 - 1, 0x5DEECE66D, 0xFC5CF2DF3, 0xB
#: Entries that are looked at for a state. Tuned: `benchmarks/constants.py`.
_PROBES = 8
_NEVER = 2**62


class Data(NamedTuple):
    """What does not change."""

    capacity: Ints  # shape (servers,)
    options: Ints  # GPUs of a placement on each server, then its servers; (options, servers + 1)
    jobs: Ints  # blocks, shape (5, jobs + 1)
    rates: Ints  # phi_j(r, p), shape (jobs, servers + 1, levels + 1)
    best: Ints  # best rate on r servers, at r = 0 on any number, shape (jobs, servers + 1)
    worth: Ints  # of f iterations on r servers, r = 0: not started; shape (jobs, r, f, prices)
    per_slot: Ints  # the most that a slot holds, shape (prices,)


class Path(NamedTuple):
    """The path of the search by depth, and the states that were met."""

    at: Ints  # blocks, shape (8, depths)
    jobs: Ints  # blocks, shape (3, depths, jobs)
    servers: Ints  # blocks, shape (5, depths, servers)
    start: Ints  # a_j, shape (jobs,)
    value: Ints  # what the jobs are worth, shape (depths, prices)
    met: Ints  # two words of a state and when it was met, shape (a power of two, 3)
    counts: Ints


@compiled
def search(data: Data, path: Path, makespan: int, nodes: int) -> int:
    """Visit at most about `nodes` further states, and return the answer."""
    at, counts = path.at, path.counts
    last = counts[NODES] + nodes
    while counts[DEPTH] >= 0:
        if counts[NODES] >= last:
            return PAUSED
        depth = counts[DEPTH]
        if at[STARTING, depth]:
            if not _start_one(data, path, depth, makespan):
                at[STARTING, depth] = 0
                _set_steps(data, path, depth)
        elif at[STEP, depth] < at[SHORTEST, depth]:
            counts[DEPTH] -= 1
        else:
            slots = at[STEP, depth]
            at[STEP, depth] -= 1
            if at[TIME, depth] + slots <= makespan:
                counts[NODES] += 1
                if _advance(data, path, depth, slots, makespan):
                    return FOUND
    return EXHAUSTED


@compiled
def _start_one(data: Data, path: Path, depth: int, makespan: int) -> bool:
    """Go on to the next start at this instant; return False if there is none."""
    jobs, used = data.rates.shape[0], path.jobs[USED, depth]
    j, o = path.at[JOB, depth], path.at[OPTION, depth]
    free = 0
    for s in range(len(data.capacity)):
        free += path.servers[FREE, depth, s]
    while j < jobs:
        twin = data.jobs[TWIN, j]
        if used[j] == 0 and data.jobs[GANG, j] <= free and (twin < 0 or used[twin] > 0):
            while o < data.jobs[FIRST_OPTION, j + 1]:
                if _may_start(data, path, depth, o):
                    path.counts[NODES] += 1
                    _put(data, path, depth, j, o)
                    if not _start_pruned(data, path, depth + 1, j, makespan):
                        mark_equal_servers(data, path, depth + 1)
                        path.at[JOB, depth], path.at[OPTION, depth] = j, o + 1
                        path.counts[DEPTH] = depth + 1
                        return True
                o += 1
        j += 1
        o = data.jobs[FIRST_OPTION, j]
    return False


@compiled
def _may_start(data: Data, path: Path, depth: int, o: int) -> bool:
    """Return True if a placement fits, is in normal form, and fills equal servers in order."""
    servers, options = path.servers, data.options
    opened = shares = False
    last = len(data.capacity)
    for s in range(last):
        gpus = options[o, s]
        if gpus > servers[FREE, depth, s]:
            return False
        equal = servers[EQUAL, depth, s]
        if equal >= 0 and options[o, equal] < gpus:
            return False
        if gpus > 0:
            opened |= servers[OPENED, depth, s] > 0
            shares |= servers[SLOWS, depth, s] > 0
    return opened or (shares and options[o, last] > 1)


@compiled
def _copy(path: Path, depth: int) -> None:
    """Copy what a state has to the next depth."""
    path.at[TIME, depth + 1] = path.at[TIME, depth]
    for j in range(path.jobs.shape[2]):
        path.jobs[LEFT, depth + 1, j] = path.jobs[LEFT, depth, j]
        path.jobs[USED, depth + 1, j] = path.jobs[USED, depth, j]
    for s in range(path.servers.shape[2]):
        for block in range(EQUAL):
            path.servers[block, depth + 1, s] = path.servers[block, depth, s]


@compiled
def _put(data: Data, path: Path, depth: int, j: int, o: int) -> None:
    """Start job j with placement o, at the next depth."""
    _copy(path, depth)
    new, last = depth + 1, len(data.capacity)
    path.at[STARTING, new] = path.at[MAY_ADVANCE, new] = 1
    path.at[JOB, new] = j + 1
    path.at[OPTION, new] = data.jobs[FIRST_OPTION, j + 1]
    path.jobs[USED, new, j] = o + 1
    path.start[j] = path.at[TIME, depth]
    spread = 1 if data.options[o, last] > 1 else 0
    for s in range(last):
        gpus = data.options[o, s]
        if gpus > 0:
            path.servers[FREE, new, s] -= gpus
            path.servers[SPREAD, new, s] += spread


@compiled
def _level(data: Data, path: Path, depth: int, o: int) -> int:
    """Return the level of a running job with placement o."""
    last, level = len(data.capacity), 0
    if data.options[o, last] > 1:
        for s in range(last):
            if data.options[o, s] > 0:
                level = max(level, path.servers[SPREAD, depth, s])
    return level


@compiled
def _slows(data: Data, path: Path, depth: int, j: int, s: int) -> bool:
    """Return True if one more spread job on server s would slow job j, which runs on it, too."""
    o = path.jobs[USED, depth, j] - 1
    r = data.options[o, len(data.capacity)]
    if r < 2 or data.options[o, s] == 0:
        return False
    level, more = _level(data, path, depth, o), path.servers[SPREAD, depth, s] + 1
    # No higher level can occur than the last one of the table.
    more = min(more, data.rates.shape[2] - 1)
    return more > level and data.rates[j, r, more] < data.rates[j, r, level]


@compiled
def _set_steps(data: Data, path: Path, depth: int) -> None:
    """Set rates, and by how many slots time may advance."""
    longest = _NEVER
    slows = waits = False
    for j in range(data.rates.shape[0]):
        path.jobs[RATE, depth, j] = 0
        left, o = path.jobs[LEFT, depth, j], path.jobs[USED, depth, j] - 1
        if left > 0 and o < 0:
            waits |= data.jobs[CAN_SPREAD, j] > 0
        elif left > 0:
            r = data.options[o, len(data.capacity)]
            rate = data.rates[j, r, _level(data, path, depth, o)]
            path.jobs[RATE, depth, j] = rate
            if rate > 0:
                longest = min(longest, -(-left // rate))
            if not slows:
                for s in range(len(data.capacity)):
                    if path.servers[FREE, depth, s] > 0:
                        slows |= _slows(data, path, depth, j, s)
    path.at[STEP, depth] = path.at[LONGEST, depth] = longest
    path.at[SHORTEST, depth] = 1 if slows and waits else longest
    if longest == _NEVER or path.at[MAY_ADVANCE, depth] == 0:
        path.at[STEP, depth], path.at[SHORTEST, depth] = 0, 1


@compiled
def _advance(data: Data, path: Path, depth: int, slots: int, makespan: int) -> bool:
    """Advance, and go to the state there unless it is left; return True if all jobs are done."""
    new, last, servers = depth + 1, len(data.capacity), path.servers
    _copy(path, depth)
    path.at[TIME, new] += slots
    for s in range(last):
        servers[OPENED, new, s] = servers[SLOWS, new, s] = 0
    done = True
    for j in range(data.rates.shape[0]):
        rate = path.jobs[RATE, depth, j]
        if rate > 0:
            left = max(0, path.jobs[LEFT, depth, j] - rate * slots)
            path.jobs[LEFT, new, j] = left
            o = path.jobs[USED, depth, j] - 1
            for s in range(last):
                if left == 0 and data.options[o, s] > 0:
                    servers[FREE, new, s] += data.options[o, s]
                    servers[OPENED, new, s] = 1
                    if data.options[o, last] > 1:
                        servers[SPREAD, new, s] -= 1
        done &= path.jobs[LEFT, new, j] == 0
    if done:
        path.counts[DEPTH] = new
        return True
    at_event = slots == path.at[LONGEST, depth]
    if _pruned(data, path, new, makespan) or (at_event and _was_met(data, path, new)):
        return False
    for j in range(data.rates.shape[0]):
        if path.jobs[USED, new, j] > 0 and path.jobs[LEFT, new, j] > 0:
            for s in range(last):
                if _slows(data, path, new, j, s):
                    servers[SLOWS, new, s] = 1
    path.at[STARTING, new] = 1
    path.at[MAY_ADVANCE, new] = 1 if at_event else 0
    path.at[JOB, new], path.at[OPTION, new] = 0, 0
    mark_equal_servers(data, path, new)
    path.counts[DEPTH] = new
    return False


@compiled
def _start_pruned(data: Data, path: Path, depth: int, j: int, makespan: int) -> bool:
    """Return True if after the start of job j the jobs cannot end in time."""
    slots = makespan - path.at[TIME, depth]
    left = path.jobs[LEFT, depth, j]
    r = data.options[path.jobs[USED, depth, j] - 1, len(data.capacity)]
    if data.best[j, r] * slots < left:
        return True
    before, now = data.worth[j, 0, left], data.worth[j, r, left]
    for k in range(len(data.per_slot)):
        path.value[depth, k] = path.value[depth - 1, k] - before[k] + now[k]
    return _priced_out(data, path, depth, slots)


@compiled
def _pruned(data: Data, path: Path, depth: int, makespan: int) -> bool:
    """Return True if the jobs cannot end in time, by their best rates or by prices."""
    slots = makespan - path.at[TIME, depth]
    jobs, last, prices = data.rates.shape[0], len(data.capacity), len(data.per_slot)
    hot, worth = path.counts[HOT], 0
    for j in range(jobs):
        left, o = path.jobs[LEFT, depth, j], path.jobs[USED, depth, j] - 1
        if left > 0:
            r = data.options[o, last] if o >= 0 else 0
            if data.best[j, r] * slots < left:
                return True
            worth += data.worth[j, r, left, hot]
    if worth > data.per_slot[hot] * slots:
        return True
    value = path.value[depth]
    value[:] = 0
    for j in range(jobs):
        left, o = path.jobs[LEFT, depth, j], path.jobs[USED, depth, j] - 1
        if left > 0:
            r = data.options[o, last] if o >= 0 else 0
            of_job = data.worth[j, r, left]
            for k in range(prices):
                value[k] += of_job[k]
    return _priced_out(data, path, depth, slots)


@compiled
def _priced_out(data: Data, path: Path, depth: int, slots: int) -> bool:
    """Return True if the jobs are worth more than the slots left can hold."""
    for k in range(len(data.per_slot)):
        if path.value[depth, k] > data.per_slot[k] * slots:
            path.counts[HOT] = k
            return True
    return False


@compiled
def mark_equal_servers(data: Data, path: Path, depth: int) -> None:
    """Find for each server the nearest one before it with equal content."""
    servers = path.servers
    for s in range(len(data.capacity)):
        servers[EQUAL, depth, s] = -1
        for e in range(s - 1, -1, -1):
            same = (
                data.capacity[e] == data.capacity[s]
                and servers[OPENED, depth, e] == servers[OPENED, depth, s]
                and servers[SLOWS, depth, e] == servers[SLOWS, depth, s]
                and servers[FREE, depth, e] == servers[FREE, depth, s]
            )
            j = 0
            while same and j < data.rates.shape[0]:
                o = path.jobs[USED, depth, j] - 1
                if o >= 0 and path.jobs[LEFT, depth, j] > 0:
                    same = data.options[o, e] == data.options[o, s]
                j += 1
            if same:
                servers[EQUAL, depth, s] = e
                break


@compiled
def _was_met(data: Data, path: Path, depth: int) -> bool:
    """Return True if an equal state was met no later; otherwise remember this one."""
    first = second = 0
    for s in range(len(data.capacity)):
        a = b = int(data.capacity[s] * 2 + path.servers[OPENED, depth, s])
        for j in range(data.rates.shape[0]):
            o = path.jobs[USED, depth, j] - 1
            running = o >= 0 and path.jobs[LEFT, depth, j] > 0
            gpus = int(data.options[o, s]) if running else 0
            a = (a * _FACTOR + gpus + _STEP) & _MASK
            b = (b * _OTHER + gpus + _STEP) & _MASK
        # The order of servers does not matter.
        first = (first + (a ^ (a >> 21)) * _OTHER) & _MASK
        second = (second + (b ^ (b >> 19)) * _FACTOR) & _MASK
    for j in range(data.rates.shape[0]):
        left = int(path.jobs[LEFT, depth, j])
        first = ((first ^ (first >> 23)) * _FACTOR + left + _STEP) & _MASK
        second = ((second ^ (second >> 17)) * _OTHER + left + _STEP) & _MASK
    met, time = path.met, path.at[TIME, depth]
    size = met.shape[0]
    home = (first ^ (first >> 20)) & (size - 1)
    entry = home
    for probe in range(_PROBES):
        i = (home + probe) & (size - 1)
        if met[i, 0] == first and met[i, 1] == second:
            if met[i, 2] <= time:
                return True
            entry = i
            break
        if met[i, 0] < 0:
            entry = i
            break
    met[entry, 0], met[entry, 1], met[entry, 2] = first, second, time
    return False
