r"""Proof that no schedule ends within M slots: all schedules in normal form, pruned by prices.

A state with f_j iterations left cannot end within n slots if these are worth more than n slots can
hold, at some prices of modes (`mode_prices.py`), with the servers of a job where they are known.

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
search (`exact/chronological.py`) but the tables of prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ...instance import SjfBcoInstance
from .configurations import shares
from .mode_prices import PriceTables

#: States that a check may look at, about half a minute of work. Tuned: `benchmarks/constants.py`.
MOST_STATES = 1_000_000
#: Jobs up to which Python's stack holds the check, two calls for each start and completion.
#: Tuned: `benchmarks/constants.py`.
MOST_JOBS = 100

#: A server: capacity, whether a job has just completed there, whether one more spread job would
#: have slowed one there, and the jobs there with their GPUs.
Server = tuple[int, bool, bool, tuple[tuple[int, int], ...]]
Servers = tuple[Server, ...]


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
