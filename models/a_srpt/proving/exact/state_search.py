r"""All schedules of the pool below some cost, by dynamic programming over time and prices.

A *state* at tick t is the set of jobs that wait, and the GPUs that the others use from t on. Its
successors start any of the jobs that may begin at t. With prices :math:`\pi` and start costs
:math:`c_j` as in `pool_program`, a schedule with starts :math:`S_j` costs exactly

.. math:: L(\pi) + \sum_j \big[c_j(S_j) - \min_s c_j(s)\big]
          + \sum_t \pi_t\, \big(G - \text{GPUs in use at } t\big),

so a state has paid for the jobs that it started and for the GPUs that were idle before t, and every
job that waits costs at least its cheapest start from t on. States that come to more than the best
schedule known are left out; the others are the whole search. Besides these,

- every optimal schedule is left-shifted, as weights are positive: a job begins at its release, or
  at a tick before which it had no room;
- of equal jobs, of one (g, d, w), the first released starts first;
- of two states with the same jobs waiting, the one that uses no fewer GPUs at any tick from t on
  and costs no less is left out.

All of this keeps some optimal schedule. It is one before t, so it is left-shifted and of the cost
of the optimum whichever of two states its past is replaced by. Branch and bound within dynamic
programming is that of T. L. Morin and R. E. Marsten, *Branch-and-bound strategies for dynamic
programming*, Operations Research 24 (1976); the bound and the rules are our own.

A search that comes to its end without a schedule found that there is none. The check of a
certificate (`certificate.pool_exhaustion`) proves it from the same prices by a program of its own.
All numbers are whole and below 2^62.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.search.clock import Clock

from ...relaxations import Pool
from ..start_costs import Starts, classes

#: States of one tick that are compared with each other lie this close, by cost.
#: Tuned: `benchmarks/constants.py`.
NEIGHBOURS = 8
#: Entries that the tables of the states of one tick may have, and digits that their costs may.
MOST_CELLS, MOST_DIGITS = 5 * TABLE_CELLS, 62


@dataclass
class _States:
    """The states of one tick, a row each.

    Attributes
    ----------
    waiting : array of bool, shape (states, jobs)
    used : array of int, shape (states, 1 + longest duration)
        GPUs in use, from the tick before on.
    cost : array of int, shape (states,)
        Of the jobs that started, times the weight scale.
    paid : array of int, shape (states,)
        At least what a schedule from here on costs above the bound of the prices, in its parts.
    last : array of int, shape (states,)
        Number of the last job started, in the search's list of these.
    """

    waiting: Bools
    used: Ints
    cost: Ints
    paid: Ints
    last: Ints

    def rows(self, kept: Bools | Ints) -> _States:
        """Return some of the states."""
        return _States(
            self.waiting[kept], self.used[kept], self.cost[kept], self.paid[kept], self.last[kept]
        )

    def and_also(self, others: _States) -> _States:
        """Return these states and others."""
        return _States(
            np.concatenate([self.waiting, others.waiting]),
            np.concatenate([self.used, others.used]),
            np.concatenate([self.cost, others.cost]),
            np.concatenate([self.paid, others.paid]),
            np.concatenate([self.last, others.last]),
        )

    def __len__(self) -> int:
        return len(self.cost)


class StateSearch:
    """A search for the best schedule of the pool among those below some cost.

    Parameters
    ----------
    pool : Pool
    left : Starts
        The starts that a schedule below this cost may have.
    below : int
        The cost, times the weight scale.

    Attributes
    ----------
    starts : array of int, shape (jobs,), or None
        Of the best schedule found; if the search was complete, of an optimal one.
    states : int
        Number of states looked at.
    """

    def __init__(self, pool: Pool, left: Starts, below: int):
        self.pool, self.left = pool, left
        self.starts: Ints | None = None
        self.states: int = 0
        jobs, ticks = left.allowed.shape
        # A start that is left out costs as much as rules a state out.
        above = np.where(left.allowed, left.above, left.spare + 1)
        above = np.pad(above, ((0, 0), (0, 1)), constant_values=left.spare + 1)
        self._above: Ints = above
        self._least: Ints = np.minimum.accumulate(above[:, ::-1], axis=1)[:, ::-1]
        self._ticks: int = ticks
        self._order: list[int] = np.lexsort((pool.release, -pool.duration, -pool.gpus)).tolist()
        self._before: Ints = np.full(jobs, -1, dtype=np.int64)
        for equal in classes(pool):
            self._before[equal[1:]] = equal[:-1]
        self._below: int = below
        self._started: list[tuple[Ints, int, int]] = []
        self._numbers: int = 0

    def run(self, most_states: int, clock: Clock) -> bool:
        """Search; return False if states became too many, or time ran out, before the end."""
        jobs, longest = len(self.pool.release), int(self.pool.duration.max())
        if (self.left.spare + 1).bit_length() + jobs.bit_length() > MOST_DIGITS:
            return False
        now = _States(
            np.ones((1, jobs), dtype=np.bool_),
            np.zeros((1, 1 + longest), dtype=np.min_scalar_type(-1 - self.pool.total_gpus)),
            np.zeros(1, dtype=np.int64),
            self._least[:, 0].sum(keepdims=True),
            np.full(1, -1, dtype=np.int64),
        )
        most_now = MOST_CELLS // (jobs + longest)
        tick = 0
        while len(now) and tick < self._ticks:
            for j in self._order:
                now = self._with_and_without(now, j, tick)
                if clock.expired or len(now) > min(most_now, most_states - self.states):
                    return False
            self.states += len(now)
            now, tick = self._later(_undominated(self._unfinished(now)), tick)
        return True

    def _with_and_without(self, now: _States, j: int, tick: int) -> _States:
        """Return the states in which a job waits on, and those in which it starts."""
        waits = now.waiting[:, j]
        if self.pool.release[j] > tick or not waits.any():
            return now
        most = self.pool.total_gpus - self.pool.gpus[j]
        known = now.paid - self._least[j, tick]
        starting = known + self._above[j, tick]
        may = waits & (starting <= self.left.spare) & (now.used[:, 1] <= most)
        if self.pool.release[j] < tick:
            may &= now.used[:, 0] > most
        if self._before[j] >= 0:
            may &= ~now.waiting[:, self._before[j]]
        picked = np.flatnonzero(may)
        begun = now.rows(picked)
        now.paid = np.where(waits, known + self._least[j, tick + 1], now.paid)
        still = now.paid <= self.left.spare
        if not still.all():
            now = now.rows(still)
        if not len(picked):
            return now
        end = tick + int(self.pool.duration[j])
        begun.waiting[:, j] = False
        begun.used[:, 1 : 1 + end - tick] += self.pool.gpus[j]
        begun.cost += self.pool.weight[j] * end
        begun.paid = starting[picked]
        self._started.append((begun.last, j, tick))
        begun.last = np.arange(self._numbers, self._numbers + len(picked))
        self._numbers += len(picked)
        return now.and_also(begun)

    def _unfinished(self, now: _States) -> _States:
        """Take the best schedule of those that are complete; return the other states."""
        waiting = np.asarray(now.waiting.any(axis=1))
        done = np.flatnonzero(~waiting)
        if not len(done):
            return now
        best = done[np.argmin(now.cost[done])]
        if now.cost[best] < self._below:
            self._below = int(now.cost[best])
            self.starts = self._starts_of(int(now.last[best]))
        return now.rows(waiting)

    def _starts_of(self, last: int) -> Ints:
        """Return the starts of a complete schedule, by its last job started."""
        starts = np.zeros(len(self.pool.release), dtype=np.int64)
        first = self._numbers
        for before, j, tick in reversed(self._started):
            first -= len(before)
            if last >= first:
                starts[j] = tick
                last = int(before[last - first])
        return starts

    def _later(self, now: _States, tick: int) -> tuple[_States, int]:
        """Return the states at the next tick at which a job may start, and that tick."""
        if not len(now):
            return now, tick
        ends = np.flatnonzero((now.used[:, 1:-1] != now.used[:, 2:]).any(axis=0)) + 1
        ahead = int(ends[0]) if len(ends) else now.used.shape[1] - 1
        releases = self.pool.release[self.pool.release > tick] - tick
        ahead = min(ahead, self._ticks - tick, *releases.tolist())
        idle = self.pool.total_gpus - now.used[:, 1 : 1 + ahead]
        now.paid += idle @ self.left.prices[tick : tick + ahead]
        now.paid += now.waiting @ (self._least[:, tick + ahead] - self._least[:, tick + 1])
        now.used = np.pad(now.used[:, ahead:], ((0, 0), (0, ahead)))
        return now.rows(now.paid <= self.left.spare), tick + ahead


def _undominated(now: _States) -> _States:
    """Leave out states that are no better than one with the same jobs waiting, near by cost."""
    bits = np.packbits(now.waiting, axis=1)
    bits = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    words = np.ascontiguousarray(bits).view(np.uint64)
    order = np.lexsort((now.cost, *words.T))
    now, words = now.rows(order), words[order]
    kept = np.ones(len(now), dtype=np.bool_)
    for k in range(1, min(NEIGHBOURS + 1, len(now))):
        same = np.flatnonzero((words[k:] == words[:-k]).all(axis=1))
        fits = (now.used[same, 1:] <= now.used[same + k, 1:]).all(axis=1)
        kept[same[fits] + k] = False
    return now.rows(kept)
