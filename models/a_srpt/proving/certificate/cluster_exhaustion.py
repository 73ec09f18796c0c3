r"""Proof that no schedule of (F) costs less than some number: all schedules that prices leave.

A *state* is a tick t, the jobs that wait, and what runs on every server until when. At a tick any
waiting jobs start, on any division of their GPUs, by the block, over the servers, for the fastest
duration there; time then goes on to the next completion or release. With prices :math:`\pi \ge 0`
of a GPU-tick and :math:`\Pi(t) = \sum_{t' < t} \pi_{t'}`, the jobs that wait cost at least

.. math::
    \sum_j \min_{s \ge t, r_j} \big[w_j (s + d_j) + g_j (\Pi(s + d_j) - \Pi(s))\big]
    - G\, (\Pi(\infty) - \Pi(t)) + \sum_{i\ \text{running}} g_i (\Pi(C_i) - \Pi(t)),

as they never use a GPU that another one uses; longer durations than the shortest, :math:`d_j`, only
add to it. A state is left if that and the cost of the jobs that started are too much, or if it was
visited before at no more cost, up to the order of equal servers. Besides,

- optimal schedules are left-shifted, as weights are positive: a job begins at its release, or when
  another one ends on one of its servers;
- of equal jobs, of one type, number of iterations and weight, the first released starts first.

An optimal schedule stays optimal, and so left-shifted, if equal jobs change places. The search is
in Python's integers, whole states are compared, and it shares with the methods the fastest mappings
of `mapping` and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gadgetopt.pieces.knapsack.bins import distributions

from ...instance import ASrptInstance
from ...mapping import fastest_mapping

#: States that a check may visit, about 30 microseconds each, and jobs, and jobs times ticks of its
#: tables, that it may have. Tuned: `benchmarks/constants.py`.
MOST_STATES, MOST_JOBS, MOST_STARTS = 200_000, 100, 10**6

#: Of a server: its GPUs, whether a job ended there now, and end and GPUs of what runs there.
Server = tuple[int, bool, tuple[tuple[int, int], ...]]


class TooManyStatesError(Exception):
    """A search has visited as many states as it may."""


@dataclass
class ClusterSearch:
    """A search for a schedule below some cost.

    Parameters
    ----------
    instance : ASrptInstance
    prices : sequence of int
        Of a GPU-tick, from tick 0 on, times the weight scale and `denominator`.
    denominator : int
    below : int
        Cost times the weight scale.
    most_states : int
    """

    instance: ASrptInstance
    prices: Sequence[int]
    denominator: int
    below: int
    most_states: int

    def __post_init__(self) -> None:
        instance = self.instance
        self.release: list[int] = instance.release_ticks.tolist()
        self.gpus: list[int] = instance.gpus.tolist()
        types = [instance.job_types[job.job_type] for job in instance.jobs]
        #: GPUs and replicas of the blocks of each job by size, and what their sizes are counted in.
        self.blocks: list[tuple[tuple[int, int], ...]] = [a.blocks for a in types]
        self.units: list[int] = [a.block_unit for a in types]
        self.weight: list[int] = instance.whole_weights.tolist()
        jobs = range(len(self.release))
        kinds = [(job.job_type, job.num_iterations, job.weight) for job in instance.jobs]
        #: Large jobs first; of equal ones the first released.
        self.order: list[int] = sorted(
            jobs, key=lambda j: (-self.gpus[j], kinds[j], self.release[j], j)
        )
        #: The equal job that has to start before each one.
        self.before: dict[int, int] = {
            j: i for i, j in zip(self.order, self.order[1:], strict=False) if kinds[i] == kinds[j]
        }
        self.ticks: dict[tuple[int, tuple[int, ...]], int] = {}
        self.seen: dict[tuple[int, int, tuple[Server, ...]], int] = {}
        self.paid: list[int] = [0]
        for price in self.prices:
            self.paid.append(self.paid[-1] + price)
        shortest = instance.min_ticks.tolist()
        self.rest: list[list[int]] = [self._rest(j, shortest[j]) for j in jobs]
        self.shortest: list[int] = shortest

    def _rest(self, j: int, d: int) -> list[int]:
        """Return the least cost of a job that starts at each tick or later, with its prices."""
        w, g = self.denominator * self.weight[j], self.gpus[j]
        least = [w * (len(self.prices) + d)]
        for s in reversed(range(len(self.prices))):
            cost = w * (s + d) + g * (self._paid(s + d) - self.paid[s])
            least.append(min(least[-1], cost) if s >= self.release[j] else least[-1])
        return least[::-1]

    def _paid(self, tick: int) -> int:
        return self.paid[min(tick, len(self.prices))]

    def finds(self) -> bool:
        """Return True if a schedule is found; False proves that there is none.

        Raises
        ------
        TooManyStatesError
        """
        start: tuple[Server, ...] = tuple(
            sorted((c, False, ()) for c in self.instance.gpus_per_server)
        )
        return self._from(min(self.release), (1 << len(self.order)) - 1, start, 0, 0)

    def _from(
        self, now: int, waiting: int, servers: tuple[Server, ...], cost: int, place: int
    ) -> bool:
        """Try all that can follow; jobs before `place` in the order do not start any more now."""
        self.most_states -= 1
        if self.most_states < 0:
            raise TooManyStatesError
        if not waiting:
            return cost < self.below
        for i in range(place, len(self.order)):
            j = self.order[i]
            twin = self.before.get(j)
            if not waiting >> j & 1 or self.release[j] > now:
                continue
            if twin is not None and waiting >> twin & 1:
                continue
            left = waiting & ~(1 << j)
            for ticks, after in self._placements(j, now, servers):
                then = cost + self.weight[j] * (now + ticks)
                if self._may_be_cheaper(now, left, after, then) and self._from(
                    now, left, after, then, i + 1
                ):
                    return True
        return self._later(now, waiting, servers, cost)

    def _placements(
        self, j: int, now: int, servers: tuple[Server, ...]
    ) -> Iterator[tuple[int, tuple[Server, ...]]]:
        """Yield the durations of a job that starts now, and the servers then."""
        free = [c - sum(g for _, g in running) for c, _, running in servers]
        alike = [m > 0 and servers[m] == servers[m - 1] for m in range(len(servers))]
        for row in _rows(self.blocks[j], free, alike):
            if self.release[j] < now and not any(
                s[1] for s, x in zip(servers, row, strict=True) if x
            ):
                continue
            ticks = self._ticks(j, row)
            end = now + ticks
            yield (
                ticks,
                tuple(
                    sorted(
                        (s[0], s[1], tuple(sorted((*s[2], (end, x))))) if x else s
                        for s, x in zip(servers, row, strict=True)
                    )
                ),
            )

    def _ticks(self, j: int, row: Sequence[int]) -> int:
        """Return at most the duration of a job with these GPUs on the servers."""
        parts = tuple(sorted((x for x in row if x), reverse=True))
        if (j, parts) not in self.ticks:
            times = self.instance.times[self.instance.jobs[j].job_type]
            units = fastest_mapping(times, [x // self.units[j] for x in parts]).bound
            self.ticks[j, parts] = self.instance.ticks(j, units)
        return self.ticks[j, parts]

    def _later(self, now: int, waiting: int, servers: tuple[Server, ...], cost: int) -> bool:
        """Go on to the next completion or release."""
        events = [end for _, _, running in servers for end, _ in running]
        events += [r for j, r in enumerate(self.release) if waiting >> j & 1 and r > now]
        if not events:
            return False
        then = min(events)
        after: tuple[Server, ...] = tuple(
            sorted(
                (
                    c,
                    any(end == then for end, _ in running),
                    tuple(x for x in running if x[0] > then),
                )
                for c, _, running in servers
            )
        )
        key = then, waiting, after
        known = self.seen.get(key)
        if known is not None and known <= cost:
            return False
        self.seen[key] = cost
        return self._may_be_cheaper(then, waiting, after, cost) and self._from(
            then, waiting, after, cost, 0
        )

    def _may_be_cheaper(
        self, now: int, waiting: int, servers: tuple[Server, ...], cost: int
    ) -> bool:
        """Return False if prices show that every schedule that follows costs too much."""
        paid = self._paid(now)
        bound = self.denominator * cost - self.instance.total_gpus * (self.paid[-1] - paid)
        for j in self.order:
            if waiting >> j & 1:
                if now < len(self.prices):
                    bound += self.rest[j][now]
                else:
                    bound += self.denominator * self.weight[j] * (now + self.shortest[j])
        for _, _, running in servers:
            bound += sum(g * (self._paid(end) - paid) for end, g in running)
        return bound < self.denominator * self.below


def _rows(
    blocks: Sequence[tuple[int, int]], free: Sequence[int], alike: Sequence[bool]
) -> Iterator[Sequence[int]]:
    """Yield the GPUs on every server of blocks that are placed there, size by size.

    Servers are alike that were so before and hold as much: of these, the first holds the most.
    """
    (size, count), *others = blocks
    found = set()
    for placed in distributions(count, [f // size for f in free], alike):
        row = [size * x for x in placed]
        if not others:
            yield row
            continue
        left = [f - x for f, x in zip(free, row, strict=True)]
        same = [a and row[m] == row[m - 1] for m, a in enumerate(alike)]
        for rest in _rows(others, left, same):
            found.add(tuple(x + y for x, y in zip(row, rest, strict=True)))
    yield from sorted(found, reverse=True)


def none_cheaper(
    instance: ASrptInstance,
    prices: Sequence[int],
    denominator: int,
    below: int,
    most_states: int = MOST_STATES,
) -> bool:
    """Return True if it is proved that no schedule costs less than `below`.

    The parameters are those of `ClusterSearch`.
    """
    jobs = len(instance.jobs)
    if jobs > MOST_JOBS or jobs * len(prices) > MOST_STARTS:
        return False
    try:
        return not ClusterSearch(instance, prices, denominator, below, most_states).finds()
    except TooManyStatesError:
        return False
