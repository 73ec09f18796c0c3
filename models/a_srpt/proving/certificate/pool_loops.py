"""The inner loops of the check of states of the pool, in 64-bit whole numbers.

They belong to the check and to nothing else, and give the same as plain Python.

A state is a row: its tick, what it has paid, the jobs that wait, as bits of words, and the ends at
which GPUs become free, in rising order. An end is a code, the tick times one more than the pool's
GPUs, plus how many become free; zeros follow the last.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled, part_of_loops

#: Jobs of a word, and entries of a row before its words. By definition.
WORD, HEAD = 62, 2
#: Where a row is looked for is a number below this prime, made with this factor. By definition.
PRIME, FACTOR = 2**31 - 1, 1_000_003


@compiled
def cheapest_of_each(rows: Ints, table: Ints) -> int:
    """Move the cheapest of rows that differ in nothing else to the front; return how many are left.

    Parameters
    ----------
    rows : array of int, shape (rows, columns)
        Of one tick.
    table : array of int
        Longer than there are rows, all -1.
    """
    count, columns = 0, rows.shape[1]
    for k in range(len(rows)):
        place = 0
        for c in range(HEAD, columns):
            place = (place * FACTOR + rows[k, c] % PRIME) % PRIME
        place %= len(table)
        while table[place] >= 0:
            known, same = table[place], True
            for c in range(HEAD, columns):
                if rows[known, c] != rows[k, c]:
                    same = False
                    break
            if same:
                rows[known, 1] = min(rows[known, 1], rows[k, 1])
                break
            place = (place + 1) % len(table)
        if table[place] < 0:
            table[place] = count
            for c in range(rows.shape[1]):  # whole rows would compile a sentence of an error, too
                rows[count, c] = rows[k, c]
            count += 1
    return count


@compiled
def states_after(
    rows: Ints,
    first: int,
    jobs: Ints,
    rest: Ints,
    paid: Ints,
    gpus: int,
    spare: int,
    found: Ints,
    most: int,
) -> tuple[int, int, int]:
    """Write the states that follow, of as many states as there is room for.

    Parameters
    ----------
    rows : array of int, shape (states, columns)
        Of one tick.
    first : int
        The state with which to begin.
    jobs : array of int, shape (jobs, 6)
        Release, GPUs, ticks, weight, least cost, and 1 if the job before is equal.
    rest : array of int, shape (jobs, 1 + ticks)
        What a job costs above its least cost if it starts at a tick or later.
    paid : array of int, shape (1 + ticks,)
        What a GPU costs until a tick.
    gpus, spare : int
        Of the pool; and what a schedule may cost above the bound of the prices.
    found : array of int, shape (any, columns)
        Filled.
    most : int
        Steps that may be taken, each of which lets one job start or wait, or is the next tick.

    Returns
    -------
    int
        The state with which to go on; -1 if a schedule costs no more than it may, or steps were too
        many.
    int
        How many states were found.
    int
        Steps that were taken.
    """
    tick, unit, one = rows[first, 0], gpus + 1, np.int64(1)
    ends = HEAD + (len(jobs) + WORD - 1) // WORD
    # Room of the right size, written before it is read; new arrays take longer to compile.
    waits, may = jobs[:, 0].copy(), jobs[:, 0].copy()
    # Of each job that was started: its place in `may`, and what there was before.
    begun = jobs[:, :4].copy()
    count = steps = 0
    for s in range(first, len(rows)):
        before = free = gpus
        for c in range(ends, rows.shape[1]):
            before -= rows[s, c] % unit
            if rows[s, c] // unit > tick:
                free -= rows[s, c] % unit
        cost = least = rows[s, 1]
        choices = 0
        for j in range(len(jobs)):
            waits[j] = (rows[s, HEAD + j // WORD] >> (j % WORD)) & one
            if waits[j] == 1:
                had_room = jobs[j, 0] < tick and jobs[j, 1] <= before
                if jobs[j, 0] > tick or had_room:
                    least += rest[j, tick + 1]
                else:
                    least += rest[j, tick]
                    may[choices] = j
                    choices += 1
        kept, i, depth = count, 0, 0
        while True:
            steps += 1
            if steps > most:
                return -1, count, steps
            if least <= spare and i < choices:
                j = may[i]
                end = tick + jobs[j, 2]
                above = jobs[j, 3] * end + jobs[j, 1] * (paid[end] - paid[tick]) - jobs[j, 4]
                then = least - rest[j, tick] + above
                twin_waits = jobs[j, 5] == 1 and waits[j - 1] == 1
                if jobs[j, 1] <= free and then <= spare and not twin_waits:
                    begun[depth, 0], begun[depth, 1] = i, least
                    begun[depth, 2], begun[depth, 3] = cost, free
                    depth += 1
                    least, cost, free = then, cost + above, free - jobs[j, 1]
                    waits[j] = 0
                else:
                    least += rest[j, tick + 1] - rest[j, tick]
                i += 1
                continue
            if least <= spare:
                if count == len(found):
                    return s, kept, steps
                row = found[count]
                row[:] = 0
                for c in range(ends, rows.shape[1]):
                    if rows[s, c] // unit > tick:
                        put(row, ends, rows[s, c], unit)
                for k in range(depth):
                    j = may[begun[k, 0]]
                    put(row, ends, (tick + jobs[j, 2]) * unit + jobs[j, 1], unit)
                row[0], row[1] = tick, cost
                left = later(row, ends, waits, jobs, rest, paid, gpus, spare)
                if left < 0:
                    return -1, count, steps
                count += left
            if depth == 0:
                break
            # The job that was started last waits instead.
            depth -= 1
            i, cost, free = begun[depth, 0] + 1, begun[depth, 2], begun[depth, 3]
            j = may[i - 1]
            waits[j] = 1
            least = begun[depth, 1] + rest[j, tick + 1] - rest[j, tick]
    return len(rows), count, steps


@part_of_loops
def put(row: Ints, ends: int, end: int, unit: int) -> None:
    """Add an end to those of a row, which begin at some place."""
    c = ends
    while row[c] > 0 and row[c] // unit < end // unit:
        c += 1
    if row[c] // unit == end // unit:
        row[c] += end % unit
        return
    while end > 0:
        row[c], end = end, row[c]
        c += 1


@part_of_loops
def later(
    row: Ints, ends: int, waits: Ints, jobs: Ints, rest: Ints, paid: Ints, gpus: int, spare: int
) -> int:
    """Take a row to the next completion or release; return 1, or 0 if nothing cheap follows there.

    It is -1 if no job waits and the schedule is cheap.
    """
    tick, ticks, unit = row[0], len(paid) - 1, gpus + 1
    waiting, then = 0, ticks
    for j in range(len(jobs)):
        if waits[j] == 1:
            waiting += 1
            row[HEAD + j // WORD] += np.int64(1) << (j % WORD)
            if tick < jobs[j, 0] < then:
                then = jobs[j, 0]
    if waiting > 0 and row[ends] > 0:
        then = min(then, row[ends] // unit)
    row[0] = then
    # GPUs that nobody uses until then are paid for.
    row[1] += gpus * (paid[then] - paid[tick])
    for c in range(ends, len(row)):
        until = min(then, max(tick, row[c] // unit))
        row[1] -= (row[c] % unit) * (paid[until] - paid[tick])
    least = row[1]
    for j in range(len(jobs)):
        if waits[j] == 1:
            least += rest[j, then]
    if least > spare:
        return 0
    return 1 if waiting > 0 else -1
