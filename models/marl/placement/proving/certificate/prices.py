r"""The most that a server's content is worth at given prices, by dynamic programming in integers.

A content's neighbours of each type are its profile. Given the profile every slowdown is certain,
and the worth is a sum over lots: the best content of a profile is a knapsack in which every type
has the count that the profile says. All profiles that a server has room for are tried. The search
of `subproblems/content_search.py` shares no line with this check, which also holds for measured
slowdowns. Worths are rounded up to whole numbers of a small unit where they are not whole in one
that keeps sums within 64 bits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import ceiling, common_denominator
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

from ....subproblems.cluster import (
    ClusterInstance,
    Job,
    forced_comm_s,
)

#: Profiles that are tried, and entries that all tables may have together.
#: Tuned: `benchmarks/constants.py`.
MOST_PROFILES, MOST_STEPS = 300_000, 10**10
#: Cells of a table.
MOST_CELLS = TABLE_CELLS // 4
#: Binary digits of sums, and of the numbers below which a common unit is kept. By definition.
_BITS = 60
_NEVER = -(2**62)


#: Of a task of a job, or of 1, 2, ... of its tasks in one server.
Price = Fraction | tuple[Fraction, ...]


def numbers_of(prices: Sequence[Price]) -> list[Fraction]:
    """Return all numbers in prices."""
    return [x for p in prices for x in (p if isinstance(p, tuple) else (p,))]


def most_together(instance: ClusterInstance, job: Job) -> int:
    """Return how many tasks of a job an empty server holds at most."""
    most = 0
    for server in instance.servers:
        rooms = [
            have // need
            for have, need in (
                (server.gpus, job.gpus_per_task),
                (server.cpus, job.cpus_per_task),
            )
            if need
        ]
        most = max(most, min([job.num_tasks, *rooms]))
    return most


def pays(price: Price, tasks: int) -> Fraction:
    """Return what so many tasks of a job in one server pay."""
    return price[tasks - 1] if isinstance(price, tuple) else tasks * price


def least_of_gang(instance: ClusterInstance, job: Job, price: Price) -> Fraction:
    """Return the least that a job pays, however its tasks are divided among servers.

    Raises
    ------
    ValueError
        If a table has not a price for every number of tasks that a server holds.
    """
    if not isinstance(price, tuple):
        return job.num_tasks * price
    if not price or len(price) != most_together(instance, job):
        raise ValueError(f"prices: {len(price)} numbers of tasks, expected those a server holds")
    least = [Fraction(0)]
    for n in range(1, job.num_tasks + 1):
        least.append(min(least[n - k] + x for k, x in enumerate(price[:n], start=1)))
    return least[-1]


def priced(
    instance: ClusterInstance, prices: Sequence[Price]
) -> tuple[Fraction, dict[tuple[int, int], Fraction]]:
    """Return the bound in seconds, on the sum over jobs, that prices of their tasks prove.

    And, by GPUs and CPUs of a server, the most that its content is worth.

    Raises
    ------
    ValueError
        If there is not a price for every job, or the check would take too long.
    """
    if len(prices) != len(instance.jobs):
        raise ValueError(f"prices: {len(prices)} for {len(instance.jobs)} jobs")
    if not prices:
        return Fraction(0), {}
    common_denominator(numbers_of(prices))
    total = sum(
        (
            job.iterations * job.base_iteration_s + least_of_gang(instance, job, price)
            for job, price in zip(instance.jobs, prices, strict=True)
        ),
        Fraction(0),
    )
    contents = PricedContents(instance, prices)
    sizes = Counter((server.gpus, server.cpus) for server in instance.servers)
    most = {size: contents.most(*size) for size in sorted(sizes)}
    for size, servers in sizes.items():
        total -= servers * most[size]
    return total, most


@dataclass(frozen=True)
class _Option:
    """So many tasks of one job, or of several alike, in a server.

    `worth` is without slowdown, `share` what a unit of slowdown takes off.
    """

    weight: int
    own: int
    gpus: int
    cpus: int
    worth: Fraction
    share: Fraction


class PricedContents:
    """Contents of servers at prices of the tasks of each job.

    Parameters
    ----------
    instance : ClusterInstance
    prices : sequence of Fraction or of tuples of them, shape (jobs,)

    Raises
    ------
    ValueError
        If the check would take too long.
    """

    def __init__(self, instance: ClusterInstance, prices: Sequence[Price]):
        self._instance = instance
        self._classes = {
            server: len(members) for server, members in instance.server_classes.items()
        }
        alike: dict[object, list[int]] = {}
        for j, job in enumerate(instance.jobs):
            work_s = job.iterations * job.base_iteration_s
            single = (job.type, job.gpus_per_task, job.cpus_per_task, work_s, prices[j])
            alike.setdefault(single if job.num_tasks == 1 else j, []).append(j)
        self._lots: list[list[list[_Option]]] = [[] for _ in range(instance.num_types)]
        gpus = max(server.gpus for server in instance.servers)
        cpus = max(server.cpus for server in instance.servers)
        for jobs in alike.values():
            job = instance.jobs[jobs[0]]
            options = self._options(job, len(jobs), prices[jobs[0]], gpus, cpus)
            if options:
                self._lots[job.type].append(options)
        self._slowdowns: dict[tuple[int, tuple[int, ...]], Fraction] = {}
        self._unit = self._scale()
        self._steps = 0

    def most(self, gpus: int, cpus: int) -> Fraction:
        """Return the largest worth of a content of a server of this size, at least 0."""
        lots = [
            [fitting for lot in of_type if (fitting := _fitting(lot, gpus, cpus))]
            for of_type in self._lots
        ]
        gpus, cpus = _used_size(lots, gpus, cpus)
        profiles = []
        for profile in _profiles(lots, gpus, cpus):
            profiles.append(profile)
            if len(profiles) > MOST_PROFILES:
                raise ValueError(f"prices: more than {MOST_PROFILES} mixes of types in a server")
        best = 0
        known: dict[object, tuple[Ints, Ints, Ints] | None] = {}
        for profile, bound in self._most_promising_first(lots, profiles):
            if bound <= best:
                break
            best = max(best, self._best_of_profile(lots, profile, gpus, cpus, known))
        return Fraction(best, self._unit)

    def _most_promising_first(
        self, lots: list[list[list[_Option]]], profiles: list[tuple[int, ...]]
    ) -> list[tuple[tuple[int, ...], int]]:
        """Return profiles with bounds on the worth of their contents, the largest first.

        Each neighbour is worth no more than the best option of its type for one neighbour.
        """
        if not self._instance.additive or not profiles:
            return [(profile, 2**62) for profile in profiles]
        scale = self._instance.alpha_scale
        alpha = np.array(
            [[int(a * scale) for a in row] for row in self._instance.interference], dtype=object
        )
        counts = np.array(profiles, dtype=np.int64)
        most = int(counts.sum(axis=1).max())
        unit = self._unit >> (scale.bit_length() + most.bit_length())
        # Where sums may exceed 64 bits there are no bounds.
        if unit == 0 or int(alpha.max()) * most >= 2**31:
            return [(profile, 2**62) for profile in profiles]
        among = counts @ alpha.T.astype(np.int64)
        bounds = np.zeros(len(counts), dtype=np.int64)
        for t, of_type in enumerate(lots):
            each = np.zeros(len(counts), dtype=np.int64)
            for o in {o for lot in of_type for o in lot}:
                slowed = np.maximum(0, among[:, t] - o.own * int(alpha[t, t]))
                # Both in whole numbers of a unit, rounded so that the bound holds.
                worth = np.full(len(counts), ceiling(o.worth * unit) * scale)
                # Where nobody disturbs, sums have no room for shares.
                if slowed.any():
                    worth -= int(o.share * unit) * slowed
                np.maximum(each, -(-worth // o.weight), out=each)
            bounds += counts[:, t] * each
        order = np.argsort(-bounds, kind="stable").tolist()
        # From units of the slowdowns back to those of worths, rounded up.
        factor = Fraction(self._unit, unit * scale)
        return [(profiles[r], ceiling(int(bounds[r]) * factor)) for r in order]

    def _options(self, job: Job, copies: int, price: Price, gpus: int, cpus: int) -> list[_Option]:
        """Return how many tasks of a job, or of copies of it, may be in a server."""
        per_task, gang = self._instance.per_task, job.num_tasks > 1
        forced = forced_comm_s(job, self._classes) if gang else Fraction(0)
        tasks = copies * job.num_tasks
        room = [
            have // need
            for have, need in ((gpus, job.gpus_per_task), (cpus, job.cpus_per_task))
            if need
        ]
        options = []
        # Of a gang: a table says no more than one server holds.
        most = len(price) if isinstance(price, tuple) else tasks
        for n in range(1, min([tasks, most, *room]) + 1):
            part = Fraction(n, job.num_tasks)
            share = part * job.iterations * job.base_iteration_s
            worth = pays(price, n)
            if gang and n < tasks:
                worth -= part * job.iterations * max(forced, job.rack_comm_s)
            weight = n if per_task or not gang else 1
            if worth <= 0 and self._instance.additive:
                continue  # without it the others are no slower
            options.append(
                _Option(
                    weight=weight,
                    own=weight if gang else 1,
                    gpus=n * job.gpus_per_task,
                    cpus=n * job.cpus_per_task,
                    worth=worth,
                    share=share,
                )
            )
        return options

    def _scale(self) -> int:
        """Return how many units make one second of worth."""
        options = [o for of_type in self._lots for lot in of_type for o in lot]
        largest = sum((abs(o.worth) for o in options), Fraction(1))
        worst = max((a for row in self._instance.interference for a in row), default=Fraction(0))
        worst = max([worst, *(m.slowdown for m in self._instance.measured)])
        weights = sum(max(o.weight for o in lot) for of_type in self._lots for lot in of_type)
        largest += sum((o.share for o in options), Fraction(0)) * worst * (weights + 1)
        room = 2**_BITS // ceiling(largest)
        if room < 1:
            raise ValueError("prices: too many digits for 64 bits")
        exact = common_denominator([x for o in options for x in (o.worth, o.share)])
        exact *= self._instance.alpha_scale
        return room // exact * exact if exact <= room else room

    def _slowdown(self, victim: int, neighbours: tuple[int, ...]) -> Fraction:
        key = (victim, neighbours)
        if key not in self._slowdowns:
            known = self._instance.measured_slowdowns.get(key)
            if known is None:
                table = self._instance.interference[victim]
                known = sum(
                    (a * n for a, n in zip(table, neighbours, strict=True) if n), Fraction(0)
                )
            self._slowdowns[key] = known
        return self._slowdowns[key]

    def _best_of_profile(
        self,
        lots: list[list[list[_Option]]],
        profile: tuple[int, ...],
        gpus: int,
        cpus: int,
        known: dict[object, tuple[Ints, Ints, Ints] | None],
    ) -> int:
        """Return the largest worth of contents with exactly these neighbours of each type."""
        used = (np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
        for t, count in enumerate(profile):
            if not count:
                continue
            owns = sorted({o.own for lot in lots[t] for o in lot if o.own <= count})
            among = []
            for own in owns:
                neighbours = (*profile[:t], count - own, *profile[t + 1 :])
                among.append(self._slowdown(t, neighbours))
            key = (t, count, *among)
            if key not in known:
                known[key] = self._best_of_type(
                    lots[t], count, dict(zip(owns, among, strict=True)), gpus, cpus
                )
            table = known[key]
            if table is None:
                return 0
            combined = _combined(used, table, gpus, cpus)
            if combined is None:
                return 0
            used = combined
        return int(used[2].max())

    def _best_of_type(
        self,
        lots: list[list[_Option]],
        count: int,
        slowdown: dict[int, Fraction],
        gpus: int,
        cpus: int,
    ) -> tuple[Ints, Ints, Ints] | None:
        """Return GPUs, CPUs and largest worth of all ways to have `count` neighbours of a type."""
        shape = (count + 1, gpus + 1, cpus + 1)
        if math.prod(shape) > MOST_CELLS:
            raise ValueError(f"prices: a table of {math.prod(shape):.2g} cells is too large")
        best = np.full(shape, _NEVER, dtype=np.int64)
        best[0, 0, 0] = 0
        for lot in lots:
            before = best.copy()
            for o in lot:
                g, u = (o.gpus if gpus else 0), (o.cpus if cpus else 0)
                if o.weight > count or g > gpus or u > cpus:
                    continue
                self._steps += best.size
                if self._steps > MOST_STEPS:
                    raise ValueError("prices: the check would take too long")
                worth = ceiling((o.worth - o.share * slowdown[o.own]) * self._unit)
                if worth <= 0 and self._instance.additive:
                    continue
                into = best[o.weight :, g:, u:]
                source = before[: count + 1 - o.weight, : gpus + 1 - g, : cpus + 1 - u]
                np.maximum(into, np.where(source > _NEVER, source + worth, _NEVER), out=into)
        g_used, u_used = np.nonzero(best[count] > _NEVER)
        if not len(g_used):
            return None
        return g_used, u_used, best[count][g_used, u_used]


def _fitting(lot: list[_Option], gpus: int, cpus: int) -> list[_Option]:
    return [o for o in lot if o.gpus <= gpus and o.cpus <= cpus]


def _used_size(lots: list[list[list[_Option]]], gpus: int, cpus: int) -> tuple[int, int]:
    """Return the size of a server, 0 for a resource that the other one always limits first."""
    options = [o for of_type in lots for lot in of_type for o in lot]
    if gpus and all(o.gpus * cpus >= o.cpus * gpus for o in options):
        return gpus, 0
    if cpus and all(o.cpus * gpus >= o.gpus * cpus for o in options):
        return 0, cpus
    return gpus, cpus


def _profiles(lots: list[list[list[_Option]]], gpus: int, cpus: int) -> Iterator[tuple[int, ...]]:
    """Yield the counts of neighbours of each type for which a server may have room."""
    # Demand for one neighbour, at least, in whole numbers of a part of a GPU or CPU.
    parts = math.lcm(*(o.weight for of_type in lots for lot in of_type for o in lot))
    limits = []
    for of_type in lots:
        options = [o for lot in of_type for o in lot]
        most = sum(max(o.weight for o in lot) for lot in of_type)
        least_g = min((o.gpus * parts // o.weight for o in options), default=0)
        least_u = min((o.cpus * parts // o.weight for o in options), default=0)
        limits.append((most, least_g if gpus else 0, least_u if cpus else 0))
    open_: list[tuple[tuple[int, ...], int, int]] = [((), gpus * parts, cpus * parts)]
    while open_:
        counts, g, u = open_.pop()
        if len(counts) == len(limits):
            if any(counts):
                yield counts
            continue
        most, least_g, least_u = limits[len(counts)]
        for count in range(most + 1):
            if count * least_g > g or count * least_u > u:
                break
            open_.append(((*counts, count), g - count * least_g, u - count * least_u))


def _combined(
    one: tuple[Ints, Ints, Ints], other: tuple[Ints, Ints, Ints], gpus: int, cpus: int
) -> tuple[Ints, Ints, Ints] | None:
    """Return GPUs, CPUs and largest worth of two sets of ways together."""
    g = (one[0][:, None] + other[0]).ravel()
    u = (one[1][:, None] + other[1]).ravel()
    worth = (one[2][:, None] + other[2]).ravel()
    fits = (g <= gpus) & (u <= cpus)
    if not fits.any():
        return None
    cell = g[fits] * (cpus + 1) + u[fits]
    order = np.lexsort((worth[fits], cell))
    cell = cell[order]
    last = np.append(cell[1:] != cell[:-1], True)
    return cell[last] // (cpus + 1), cell[last] % (cpus + 1), worth[fits][order][last]
