r"""Proof that no schedule of the pool costs less than some number: all that prices leave.

A *state* is a tick, the jobs that wait, and the ends of the others. At a tick any waiting jobs
start; time then goes on to the next completion or release. With prices :math:`\pi \ge 0` of a
GPU-tick and :math:`\Pi(t) = \sum_{t' < t} \pi_{t'}`, a schedule with starts :math:`S_j` costs

.. math::
    \sum_j \min_s c_j(s) - G\, \Pi(T) + \sum_j \big[c_j(S_j) - \min_s c_j(s)\big]
    + \sum_{t < T} \pi_t \big(G - \text{GPUs in use at } t\big), \qquad
    c_j(s) = w_j (s + d_j) + g_j (\Pi(s + d_j) - \Pi(s)),

if it ends by T. The first two terms are a bound; a state has paid for the others as far as it has
come, and each job that waits pays at least its least c from there on. A state that comes to more
than the schedules that are looked for is left out, and of states that differ in nothing but what
they have paid the cheapest is kept. Besides,

- a job that begins after its release needs GPUs of which one was in use the tick before, or it
  could begin sooner: weights are positive;
- of equal jobs, of one (g, d, w), the first released starts first.

Some optimal schedule does both, and none that is left out is cheaper than all that are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...relaxations import Pool
from .pool_loops import HEAD, WORD, cheapest_of_each, states_after

#: Jobs times ticks that the tables may have, and entries of all states that are still to come.
MOST_STARTS, MOST_ENTRIES = MOST_CELLS // 4, 2 * MOST_CELLS
#: Binary digits of sums of costs. By definition.
MOST_DIGITS = 62
#: States that a call of a loop takes on, and may find. Tuned: `benchmarks/constants.py`.
BLOCK = 1 << 14


@dataclass(frozen=True)
class Tables:
    """What the loops know of the pool.

    Attributes
    ----------
    jobs : array of int, shape (jobs, 6)
        Release, GPUs, ticks, weight, least cost, and 1 if the job before is equal.
    rest : array of int, shape (jobs, 1 + ticks)
        What a job costs above its least cost if it starts at a tick or later.
    paid : array of int, shape (1 + ticks,)
        What a GPU costs until a tick.
    spare : int
        What a schedule may cost above the bound of the prices; below 0 if that is enough.
    """

    jobs: Ints
    rest: Ints
    paid: Ints
    spare: int


def none_cheaper(pool: Pool, prices: Ints, denominator: int, below: int, most_steps: int) -> bool:
    """Return True if it is proved that no schedule of the pool costs less than `below`.

    Parameters
    ----------
    pool : Pool
    prices : array of int, shape (any,)
        Of a GPU-tick from 0 on, times the weight scale and `denominator`.
    denominator : int
    below : int
        Cost times the weight scale.
    most_steps : int
    """
    # What a schedule costs is a multiple of this, and at least what jobs cost that never wait.
    unit = math.gcd(*pool.weight.tolist())
    most = (below - 1) // unit * unit
    ends = zip(*(x.tolist() for x in (pool.weight, pool.release, pool.duration)), strict=True)
    slack = most - sum(w * (r + d) for w, r, d in ends)
    if slack < 0:
        return True
    tables = tables_of(pool, prices, denominator, most, slack)
    if tables is None or tables.spare < 0:
        return tables is not None
    return _none_left(tables, pool.total_gpus, most_steps)


def tables_of(pool: Pool, prices: Ints, denominator: int, most: int, slack: int) -> Tables | None:
    """Return what the loops are told; None if that is too much, or numbers have too many digits.

    Parameters
    ----------
    pool : Pool
    prices : array of int, shape (any,)
    denominator : int
    most : int
        What a schedule may cost.
    slack : int
        How much of that is more than if no job ever waited.
    """
    g, d, w, r = (x.tolist() for x in (pool.gpus, pool.duration, pool.weight, pool.release))
    order = sorted(range(len(r)), key=lambda j: (-g[j], -d[j], w[j], r[j], j))
    kinds = [(g[j], d[j], w[j]) for j in order]
    latest = [r[j] + slack // w[j] for j in range(len(r))]
    ticks = max(t + d[j] for j, t in enumerate(latest))
    if (ticks + 1) * len(r) > MOST_STARTS:
        return None
    paid_in_all = sum(prices[:ticks].tolist())
    size = denominator * (most + sum(x * (ticks + y) for x, y in zip(w, d, strict=True)))
    size += paid_in_all * (pool.total_gpus + sum(g))
    if max(size, (ticks + 1) * (pool.total_gpus + 1)).bit_length() > MOST_DIGITS - 1:
        return None
    paid = np.full(ticks + 1, paid_in_all, dtype=np.int64)
    paid[0] = 0
    np.cumsum(prices[:ticks], out=paid[1 : 1 + len(prices)])
    costs = []
    for j in order:
        starts = np.arange(r[j], latest[j] + 1)
        costs.append(
            denominator * w[j] * (starts + d[j]) + g[j] * (paid[starts + d[j]] - paid[starts])
        )
    least = [int(cost.min()) for cost in costs]
    spare = denominator * most - sum(least) + pool.total_gpus * paid_in_all
    if (len(r) * (spare + 1)).bit_length() > MOST_DIGITS:
        return None
    rest = np.zeros((len(r), ticks + 1), dtype=np.int64)
    for k, j in enumerate(order):
        above = np.minimum.accumulate(costs[k][::-1])[::-1] - least[k]
        rest[k, r[j] : latest[j] + 1] = np.minimum(above, spare + 1)
        rest[k, latest[j] + 1 :] = spare + 1
    equal = [k > 0 and kinds[k] == kinds[k - 1] for k in range(len(r))]
    jobs = np.array(
        [(r[j], g[j], d[j], denominator * w[j], least[k], equal[k]) for k, j in enumerate(order)],
        dtype=np.int64,
    )
    return Tables(jobs, rest, paid, spare)


def _none_left(tables: Tables, gpus: int, most_steps: int) -> bool:
    """Return True if all states were looked at and none is a schedule of those looked for."""
    jobs, rest, paid, spare = tables.jobs, tables.rest, tables.paid, tables.spare
    found = _first_state(jobs, paid, gpus)
    columns, entries = found.shape[1], found.size
    waiting = {int(found[0, 0]): [found]}
    found = np.empty((BLOCK, columns), dtype=np.int64)
    while waiting:
        rows = np.concatenate(waiting.pop(min(waiting)))
        entries -= rows.size
        rows = rows[: cheapest_of_each(rows, np.full(2 * len(rows), -1))]
        s = 0
        while s < len(rows):
            some = rows[: s + BLOCK]  # so that a call is short
            then, count, steps = states_after(
                some, s, jobs, rest, paid, gpus, spare, found, most_steps
            )
            entries += count * columns
            most_steps -= steps
            if then < 0 or max(entries, found.size) > MOST_ENTRIES:
                return False
            for tick, part in _by_tick(found[:count]):
                waiting.setdefault(tick, []).append(part)
            if then == s:  # there is no room for what follows a single state
                found = np.empty((2 * len(found), columns), dtype=np.int64)
            s = then
    return True


def _first_state(jobs: Ints, paid: Ints, gpus: int) -> Ints:
    """Return the row of the first release, when all jobs wait."""
    words = -(-len(jobs) // WORD)
    at_once = int(np.searchsorted(np.cumsum(np.sort(jobs[:, 1])), gpus, side="right"))
    row = np.zeros((1, HEAD + words + at_once + 1), dtype=np.int64)  # a zero follows the last end
    tick = int(jobs[:, 0].min())
    row[0, :HEAD] = tick, gpus * int(paid[tick])
    for j in range(len(jobs)):
        row[0, HEAD + j // WORD] |= 1 << j % WORD
    return row


def _by_tick(rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield the ticks of rows in rising order, and the rows of each."""
    order = np.argsort(rows[:, 0], kind="stable")
    ticks, first = np.unique(rows[order, 0], return_index=True)
    places = [*first.tolist(), len(rows)]
    for tick, begin, end in zip(ticks.tolist(), places, places[1:], strict=False):
        yield tick, rows[order[begin:end]]
