r"""Proof that no schedule ends within M slots: all schedules in normal form, pruned by prices.

**Prices.** In a schedule job j runs on r_j servers, and with n_p slots at level p it does
:math:`\sum_p n_p \phi_j(r_j, p) \ge F_j` iterations. With prices :math:`v_j(r, p) \ge 0` of a slot,
f iterations on r servers are worth at least

.. math::
    V_j^r(f) = \min\Big\{\sum_p n_p v_j(r, p) : \sum_p n_p \phi_j(r, p) \ge f,\
    n_p \in \mathbb N\Big\},

and before the job starts :math:`V_j(f) = \min_r V_j^r(f)`. A slot holds one configuration c
(`configurations.py`) and is worth at most :math:`R = \max_c \sum_j v_j(c)`. So a state with f_j
iterations left cannot end within n slots if :math:`\sum_j V_j(f_j) > R n`, with r_j where it is
known. Prices of iterations, :math:`v_j = p_j \phi_j`, are a special case, which overlooks that the
last slot of a job may be used in part only. If prices do not rise with r and p, the configurations
in which no job has fewer servers and a lower level than in another one can be left out.

**Normal form.** If some schedule ends within M slots, one does in which every start t > 0 of a job
j satisfies (L) some job completes at t on a server of j, or (S) j is spread, and on a server s of j
runs, in slots t - 1 and t, a spread job that would have been slower in slot t - 1 with one more
spread job on s. *Proof.* Take such a schedule with the least sum of starts, and let j satisfy
neither. Nothing completes on the servers of j at t, so the GPUs of j are free in slot t - 1. Start
j at t - 1 instead: in that slot all others are as fast as before, and j does no less. From t on no
job has more left, so with the true rates none ends later: fewer active jobs mean lower levels, and
lower levels no lower rates. The sum of starts fell, a contradiction. (reconstructed)

The levels of (S) are taken after the completions at t. Those before are no lower for any job, and
the same number of spread jobs is on s, so this admits no fewer starts.

So at an instant jobs start under (L) or (S), and time then advances to the next completion, or, if
a start under (S) can follow, to any instant before it. A state is left

* if the jobs left are worth more than the slots left can hold, by a table of prices;
* if a job cannot do what it has left by M at its best rate;
* if the same state, up to the order of servers, was visited at the same instant or before: whatever
  follows here would follow there as well, and end no later.

Of equal servers the first get most of a job, and of identical jobs the first starts no later. The
check runs in Python on integers, compares states in full, and shares nothing with the compiled
search (`subproblems/chronological.py`) but the tables of prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from gadgetopt.numbers.arrays import Ints

from .configurations import modes_per_slot, shares
from .instance import SjfBcoInstance
from .size_limits import refuse_many

#: Largest price, and most entries of the tables of values, 8 bytes each.
LARGEST_PRICE, MOST_VALUES = 10**9, 20_000_000
#: Most that all slots together may hold at any prices. What jobs are worth is far less: at most the
#: largest price for each iteration, of which there are at most `MOST_VALUES`.
MOST_WORTH = 2**62
#: States that a check may look at, about half a minute of work.
MOST_STATES = 1_000_000
#: Jobs up to which Python's stack holds the check, two calls for each start and completion.
MOST_JOBS = 100

#: A server: capacity, whether a job has just completed there, whether one more spread job would
#: have slowed one there, and the jobs there with their GPUs.
Server = tuple[int, bool, bool, tuple[tuple[int, int], ...]]
Servers = tuple[Server, ...]


@dataclass(frozen=True)
class Modes:
    """The modes (r, p) of every job, in ascending order, one job after the other."""

    instance: SjfBcoInstance

    @cached_property
    def of_job(self) -> list[list[tuple[int, int]]]:
        """Return the modes of every job."""
        rates = self.instance.rates
        return [
            [(r, p) for r in rates.server_counts(j) for p in rates.levels(r)]
            for j in range(len(rates.gpus))
        ]

    @cached_property
    def first(self) -> list[int]:
        """Return where the modes of each job begin, and the number of all modes."""
        return [0, *np.cumsum([len(modes) for modes in self.of_job]).tolist()]

    @cached_property
    def number(self) -> dict[tuple[int, int, int], int]:
        """Return the number of mode (j, r, p)."""
        return {
            (j, r, p): self.first[j] + i
            for j, modes in enumerate(self.of_job)
            for i, (r, p) in enumerate(modes)
        }

    @cached_property
    def configurations(self) -> Ints:
        """Return the mode of every job plus one, 0 if it does not run.

        Raises
        ------
        ModelRefused
            If there are too many of them.
        """
        return modes_per_slot(self.instance, lambda j, r, p: self.number[j, r, p] + 1)

    @cached_property
    def no_better(self) -> list[tuple[int, int]]:
        """Return pairs of modes, the second with one server or level more, and so no better."""
        number = self.number
        return [
            (number[less], mode)
            for (j, r, p), mode in number.items()
            for less in ((j, r, p - 1), (j, r - 1, p), (j, 1, 0))
            if less in number and less != (j, r, p) and (less[1] > 1 or r == 2)
        ]


@dataclass(frozen=True)
class PriceTables:
    """Values of jobs and of a slot for several tables of prices.

    Attributes
    ----------
    worth : Ints
        V_j^r(f), at r = 0 V_j(f), shape (jobs, servers + 1, largest work + 1, tables).
    per_slot : Ints
        R, shape (tables,).
    """

    worth: Ints
    per_slot: Ints

    def refuse_many_slots(self, slots: int) -> None:
        """Refuse a number of slots whose value may pass 64-bit integers.

        Raises
        ------
        ModelRefused
        """
        value = slots * int(self.per_slot.max(initial=0))
        refuse_many(value, MOST_WORTH, "prices: what the slots can hold")


def refuse_many_values(instance: SjfBcoInstance, tables: int) -> None:
    """Refuse tables of a value for each iteration that would fill the memory.

    Raises
    ------
    ModelRefused
    """
    values = _values_of_a_table(instance) * tables
    refuse_many(values, MOST_VALUES, "jobs.iterations: values of a price for each iteration")


def most_tables(instance: SjfBcoInstance) -> int:
    """Return how many tables of prices are not refused."""
    return MOST_VALUES // _values_of_a_table(instance)


def _values_of_a_table(instance: SjfBcoInstance) -> int:
    rates = instance.rates
    return len(rates.gpus) * (rates.servers + 1) * (max(rates.iterations) + 1)


def price_tables(modes: Modes, prices: Sequence[Sequence[int]]) -> PriceTables:
    """Return the values that follow from tables of prices, one price for each mode.

    Raises
    ------
    ModelRefused
        If the values, or the configurations, are too many.
    ValueError
        If a table has not one price for each mode, a price is negative or too large, or one rises
        with the servers or the level.
    """
    rates = modes.instance.rates
    table = np.array(prices, dtype=np.int64).reshape(len(prices), -1)
    if not len(prices) or table.shape[1] != modes.first[-1]:
        raise ValueError(f"{table.shape[1]} for {modes.first[-1]} modes of jobs")
    if table.min(initial=0) < 0 or table.max(initial=0) > LARGEST_PRICE:
        raise ValueError(f"a price is not between 0 and {LARGEST_PRICE:,}")
    if any((table[:, more] > table[:, less]).any() for less, more in modes.no_better):
        raise ValueError("a price rises with the servers or the level of a job")
    refuse_many_values(modes.instance, len(prices))
    jobs, most = len(rates.gpus), max(rates.iterations)
    worth = np.zeros((jobs, rates.servers + 1, most + 1, len(prices)), dtype=np.int64)
    for j, of_job in enumerate(modes.of_job):
        first, work = modes.first[j], rates.iterations[j]
        ways = []
        for r in rates.server_counts(j):
            useful = [
                (rates.rate(j, r, p), table[:, first + i])
                for i, (q, p) in enumerate(of_job)
                if q == r and rates.rate(j, r, p)
            ]
            if useful:
                ways.append(r)
                _add_values(worth[j, r, : work + 1], useful)
        worth[j, 0] = worth[j, ways].min(axis=0)
    return PriceTables(worth, _per_slot(modes, table))


def _add_values(values: Ints, modes: Sequence[tuple[int, Ints]]) -> None:
    """Set V(f) for f >= 1, shape (work + 1, tables), from rates and prices of modes."""
    # So many values follow from those before them, all at once.
    slowest = min(phi for phi, _ in modes)
    for begin in range(1, len(values), slowest):
        f = np.arange(begin, min(begin + slowest, len(values)))
        ways = [price + values[np.maximum(f - phi, 0)] for phi, price in modes]
        values[f] = np.min(ways, axis=0)


def _per_slot(modes: Modes, table: Ints) -> Ints:
    """Return R for each table."""
    with_idle = np.concatenate([np.zeros((len(table), 1), dtype=np.int64), table], axis=1)
    configurations = modes.configurations
    return np.array(
        [int(row[configurations].sum(axis=1).max(initial=0)) for row in with_idle], dtype=np.int64
    )


def refutes(
    instance: SjfBcoInstance, makespan: int, tables: PriceTables, most_states: int = MOST_STATES
) -> bool:
    """Return True if all schedules in normal form take more than `makespan` slots.

    Raises
    ------
    ModelRefused
        If the slots can hold more than `MOST_WORTH` at some prices.
    ValueError
        If there are more states than `most_states`, or more than `MOST_JOBS` jobs and the prices
        alone do not refute.
    """
    if makespan >= int(instance.rates.exec_min.sum()):
        return False  # the jobs end by then one after the other
    tables.refuse_many_slots(makespan)
    return not _Exhaustion(instance, makespan, tables, most_states).ends_in_time()


class _Exhaustion:
    """All schedules in normal form."""

    def __init__(
        self, instance: SjfBcoInstance, makespan: int, tables: PriceTables, most_states: int
    ):
        rates = instance.rates
        self.rates, self.makespan, self.left_states = rates, makespan, most_states
        self.tables, self.hot = tables, 0
        self.hot_worth = tables.worth[..., 0].tolist()
        self.order = sorted(range(len(rates.gpus)), key=lambda j: -rates.gpus[j])
        self.best = [
            [max(self._rates(j, r), default=0) for r in range(rates.servers + 1)]
            for j in range(len(rates.gpus))
        ]
        for of_job in self.best:
            of_job[0] = max(of_job)
        self.can_spread = [any(of_job[2:]) for of_job in self.best]
        self.seen: dict[tuple[Servers, tuple[int, ...]], int] = {}
        data = [
            (
                rates.gpus[j],
                rates.iterations[j],
                [self._rates(j, r) for r in rates.server_counts(j)],
            )
            for j in range(len(rates.gpus))
        ]
        #: The place in the order of the last identical job before each place.
        self.twin = [
            max((e for e in range(i) if data[self.order[e]] == data[j]), default=None)
            for i, j in enumerate(self.order)
        ]
        self.start_servers: Servers = tuple(
            sorted((gpus, True, False, ()) for gpus in instance.server_gpus)
        )

    def _rates(self, j: int, r: int) -> list[int]:
        if r not in self.rates.server_counts(j):
            return []
        return [self.rates.rate(j, r, p) for p in self.rates.levels(r)]

    def ends_in_time(self) -> bool:
        """Return True if a schedule is found that ends in time."""
        left, servers_used = tuple(self.rates.iterations), (0,) * len(self.order)
        if self._left(0, left, servers_used):
            return False
        if len(left) > MOST_JOBS:
            raise ValueError(f"exhaustion: {len(left):,} jobs, expected at most {MOST_JOBS}")
        return self._from(0, self.start_servers, left, servers_used, 0, event=True)

    def _from(
        self,
        time: int,
        servers: Servers,
        left: tuple[int, ...],
        used: tuple[int, ...],
        place: int,
        event: bool,
    ) -> bool:
        """Try all that can follow; `used` has the servers of jobs once started, 0 before."""
        for i in range(place, len(self.order)):
            j, twin = self.order[i], self.twin[i]
            if used[j] or (twin is not None and not used[self.order[twin]]):
                continue
            for r, after in self._placements(j, servers):
                now = (*used[:j], r, *used[j + 1 :])
                if not self._left(time, left, now) and self._from(
                    time, after, left, now, i + 1, event=True
                ):
                    return True
        return event and self._advance(time, servers, left, used)

    def _placements(self, j: int, servers: Servers) -> Iterator[tuple[int, Servers]]:
        """Yield the numbers of servers of job j, and the servers with it, in normal form."""
        groups = [(server, len(list(equal))) for server, equal in groupby(servers)]
        free = [server[0] - sum(gpus for _, gpus in server[3]) for server, _ in groups]
        sizes = tuple((f, number) for f, (_, number) in zip(free, groups, strict=True))
        gang = self.rates.gpus[j]
        for counts in shares(sizes, gang, gang):
            r = len(counts) - counts.count(0)
            chosen = [server for server, gpus in zip(servers, counts, strict=True) if gpus]
            if any(s[1] for s in chosen) or (r > 1 and any(s[2] for s in chosen)):
                yield (
                    r,
                    tuple(
                        sorted(
                            (s[0], s[1], s[2], tuple(sorted((*s[3], (j, gpus))))) if gpus else s
                            for s, gpus in zip(servers, counts, strict=True)
                        )
                    ),
                )

    def _advance(
        self, time: int, servers: Servers, left: tuple[int, ...], used: tuple[int, ...]
    ) -> bool:
        """Advance to the next completion, and to instants before it where (S) can follow."""
        levels = self._levels(servers, used)
        rate = {j: self.rates.rate(j, used[j], p) for j, p in levels.items()}
        moving = {j: phi for j, phi in rate.items() if phi}
        if not moving:
            return False
        longest = min(-(-left[j] // phi) for j, phi in moving.items())
        steps = [longest]
        slowed = [s for s in servers if self._slows(s, levels, used)]
        if any(s[0] > sum(gpus for _, gpus in s[3]) for s in slowed) and any(
            left[j] and not used[j] and self.can_spread[j] for j in self.order
        ):
            steps += range(1, min(longest, self.makespan - time + 1))
        for slots in steps:
            now = time + slots
            after = list(left)
            for j, phi in moving.items():
                after[j] = max(0, left[j] - phi * slots)
            if now > self.makespan:
                continue
            if not any(after):
                return True
            if self._left(now, after, used):
                continue
            done = {j for j in moving if not after[j]}
            state = self._released(servers, done, used)
            if slots == longest:
                key = state, tuple(after)
                if self.seen.get(key, now + 1) <= now:
                    continue
                self.seen[key] = now
            if self._from(now, state, tuple(after), used, 0, event=slots == longest):
                return True
        return False

    def _released(self, servers: Servers, done: set[int], used: tuple[int, ...]) -> Servers:
        """Return the servers without the jobs that are done."""
        rest: Servers = tuple(
            (
                s[0],
                any(j in done for j, _ in s[3]),
                False,
                tuple(x for x in s[3] if x[0] not in done),
            )
            for s in servers
        )
        levels = self._levels(rest, used)
        return tuple(sorted((s[0], s[1], self._slows(s, levels, used), s[3]) for s in rest))

    def _levels(self, servers: Servers, used: tuple[int, ...]) -> dict[int, int]:
        """Return the levels of the running jobs."""
        levels: dict[int, int] = {}
        for server in servers:
            spread = sum(used[j] > 1 for j, _ in server[3])
            for j, _ in server[3]:
                levels[j] = max(levels.get(j, 0), spread) if used[j] > 1 else 0
        return levels

    def _slows(self, server: Server, levels: dict[int, int], used: tuple[int, ...]) -> bool:
        """Return True if one more spread job on this server would slow a spread job there."""
        there = [j for j, _ in server[3] if used[j] > 1]
        more = len(there) + 1
        return any(
            more > levels[j]
            and self.rates.rate(j, used[j], more) < self.rates.rate(j, used[j], levels[j])
            for j in there
        )

    def _left(self, time: int, left: list[int] | tuple[int, ...], used: tuple[int, ...]) -> bool:
        """Return True if the jobs cannot end in time, by their best rates or by prices."""
        self.left_states -= 1
        if self.left_states < 0:
            raise ValueError("exhaustion: more states than a check may look at")
        slots = self.makespan - time
        worth = 0
        for j, f in enumerate(left):
            if f:
                if self.best[j][used[j]] * slots < f:
                    return True
                worth += self.hot_worth[j][used[j]][f]
        if worth > self.tables.per_slot[self.hot] * slots:
            return True
        jobs = range(len(left))
        total = self.tables.worth[jobs, used, left].sum(axis=0)
        refuting = (total > self.tables.per_slot * slots).nonzero()[0]
        if not len(refuting):
            return False
        self.hot = int(refuting[0])
        self.hot_worth = self.tables.worth[..., self.hot].tolist()
        return True
