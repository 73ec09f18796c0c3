r"""The exact integer program over all contents that a placement below some cost may have.

Let L be the bound on the sum of completion times that prices prove, :math:`v_k` the most that a
content of a server of kind k is worth at them, and T > L. A placement in which a server has a
content worth at most :math:`v_k - (T - L)` costs at least T, as every other server loses nothing.
The other contents are enumerated here. A placement of them costs what the closing program says, the
program of `exact/closing_program.py`, so a lower bound on its optimum and T, the lesser of the
two, bound all placements.

It is built from the instance and the prices in integers and rationals, so that a tree over it
(`gadgetopt/proofs/tree_kernel.py`) proves a bound. Slowdowns have to be sums of the table: then
further jobs only slow down what is there, which is what ends the enumeration early.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.proofs.model import Model, Row

from ....subproblems.cluster import (
    Server,
    forced_comm_s,
)
from ....subproblems.contents import (
    Content,
    Lot,
    Slowdowns,
    lots_of,
)
from ...instance import PlacementInstance
from .prices import Price, numbers_of, pays, priced

#: Steps of the enumeration, a few microseconds each, and contents that a program may have.
#: Tuned: `benchmarks/constants.py`.
MOST_STEPS, MOST_CONTENTS = 3_000_000, 20_000
#: Steps after which the time is looked at. Tuned: `benchmarks/constants.py`.
CHECKED = 10_000


class Place(NamedTuple):
    """Servers that are alike to the program: of one size, in any rack or in one."""

    gpus: int
    cpus: int
    rack: int | None
    servers: int


class Closing(NamedTuple):
    """The program, and L: what prices prove of the sum of completion times, in seconds."""

    model: Model
    least_s: Fraction


def closing(
    instance: PlacementInstance,
    prices: Sequence[Price],
    target_s: Fraction,
    *,
    folded: bool,
    stopped: Callable[[], bool] = lambda: False,
) -> Closing:
    """Return the program over all contents that a placement of less than a cost may have.

    Parameters
    ----------
    prices : sequence of Fraction or of tuples of them, shape (jobs,)
        In seconds of a task, or of 1, 2, ... tasks in a server.
    target_s : Fraction
        The cost: a sum of completion times.
    folded : bool
        Leave racks out, a relaxation.
    stopped : callable
        Returns True if it takes too long.

    Raises
    ------
    ValueError
        If there is not a price for every job, one for all jobs that are alike, or the program would
        be too large.
    """
    if not instance.additive:
        raise ValueError("prices: slowdowns are measured, expected sums of the table")
    least_s, most = priced(instance, prices)
    lots = lots_of(instance, merged=True)
    if any(prices[j] != prices[lot.jobs[0]] for lot in lots for j in lot.jobs):
        raise ValueError("prices: jobs that are alike have several")
    program = _Program(instance, lots)
    near = _Contents(instance, lots, prices, program.comm_s, stopped)
    for place in places_of(instance, folded=folded):
        above = most[place.gpus, place.cpus] - (target_s - least_s)
        program.add_place(place, near.worth_more(place.gpus, place.cpus, above))
    program.cover()
    program.divide()
    program.levels()
    if not folded:
        program.homes()
    return Closing(program.model(), least_s)


def places_of(instance: PlacementInstance, *, folded: bool) -> list[Place]:
    """Return the servers by size, `folded`, or by size and rack."""
    number: dict[tuple[int, int, int | None], int] = {}
    for server in instance.servers:
        key = (server.gpus, server.cpus, None if folded else server.rack)
        number[key] = number.get(key, 0) + 1
    return [Place(*key, n) for key, n in sorted(number.items(), key=str)]


class _Node(NamedTuple):
    """A content, with what is free beside it.

    Attributes
    ----------
    content : Content
    first : int
        The lot that may be added next.
    gpus, cpus : int
        Free.
    worth : int
    counts : tuple of int, shape (types,)
        Neighbours that a newcomer has.
    shares : tuple of int, shape (types,)
        What a unit of slowdown takes off the jobs of each type.
    """

    content: Content
    first: int
    gpus: int
    cpus: int
    worth: int
    counts: tuple[int, ...]
    shares: tuple[int, ...]


class _Contents:
    """Contents and what they are worth, in whole numbers of a unit."""

    def __init__(
        self,
        instance: PlacementInstance,
        lots: Sequence[Lot],
        prices: Sequence[Price],
        comm_s: Sequence[Fraction],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._lots, self._per_task = lots, instance.per_task
        self._types = instance.num_types
        price = [prices[lot.jobs[0]] for lot in lots]
        parts = [comm / lot.tasks for comm, lot in zip(comm_s, lots, strict=True)]
        shares = [lot.job_s / (lot.tasks if lot.gang else 1) for lot in lots]
        scale = instance.alpha_scale
        self._unit = common_denominator([*numbers_of(price), *parts, *shares]) * scale
        self._price, self._known_pay = price, dict[tuple[int, int], int]()
        self._part = [int(x * self._unit) for x in parts]
        self._share = [int(x * self._unit) // scale for x in shares]
        self._alpha = [[int(a * scale) for a in row] for row in instance.interference]
        self._found: dict[tuple[int, int, Fraction], list[Content]] = {}
        self._left, self._unchecked, self._stopped = MOST_STEPS, 0, stopped

    def worth_more(self, gpus: int, cpus: int, above: Fraction) -> list[Content]:
        """Return all contents of a server of this size that are worth more, in order.

        Raises
        ------
        ValueError
            If they are too many.
        """
        key = (gpus, cpus, above)
        if key not in self._found:
            least = math.floor(above * self._unit) + 1
            self._found[key] = sorted(self._all(gpus, cpus, least))
            if len(self._found[key]) > MOST_CONTENTS:
                raise ValueError(f"target_s: more than {MOST_CONTENTS} contents of a server")
        return self._found[key]

    def _all(self, gpus: int, cpus: int, least: int) -> Iterator[Content]:
        """Yield the contents that are worth at least this, in any order."""
        none = (0,) * self._types
        known: dict[tuple[int, ...], list[list[int]]] = {}
        open_ = [_Node((), 0, gpus, cpus, 0, none, none)]
        while open_:
            node = open_.pop()
            if node.counts not in known:
                known[node.counts] = self._rest(gpus, cpus, node.counts)
            rest = known[node.counts]
            for i in range(node.first, len(self._lots)):
                if node.worth + rest[i][node.gpus] < least:
                    break  # later lots add no more
                lot = self._lots[i]
                for n in range(1, lot.tasks + 1):
                    g, u = node.gpus - n * lot.gpus, node.cpus - n * lot.cpus
                    if g < 0 or u < 0:
                        break
                    self._spend(1)
                    larger = self._with(node, i, n, g, u)
                    if larger.worth >= least:
                        yield larger.content
                    open_.append(larger)

    def _with(self, node: _Node, i: int, n: int, gpus: int, cpus: int) -> _Node:
        """Return a content with some tasks of one more lot."""
        lot = self._lots[i]
        weight = lot.weight(n, per_task=self._per_task)
        beside = weight - lot.own_weight(n, per_task=self._per_task)
        row, share = self._alpha[lot.type], n * self._share[i]
        among = beside * row[lot.type] + self._among(lot.type, node.counts)
        harm = sum(x * a[lot.type] for x, a in zip(node.shares, self._alpha, strict=True) if x)
        counts, shares = list(node.counts), list(node.shares)
        counts[lot.type] += weight
        shares[lot.type] += share
        return _Node(
            content=(*node.content, (i, n)),
            first=i + 1,
            gpus=gpus,
            cpus=cpus,
            worth=node.worth + self._value(i, n) - share * among - weight * harm,
            counts=tuple(counts),
            shares=tuple(shares),
        )

    def _value(self, i: int, n: int) -> int:
        """Return what n tasks of a lot are worth if nobody slows them down."""
        if (i, n) not in self._known_pay:
            self._known_pay[i, n] = int(pays(self._price[i], n) * self._unit)
        lot = self._lots[i]
        apart = lot.gang and n < lot.tasks
        return self._known_pay[i, n] - (n * self._part[i] if apart else 0)

    def _among(self, victim: int, counts: tuple[int, ...]) -> int:
        return sum(a * k for a, k in zip(self._alpha[victim], counts, strict=True) if k)

    def _rest(self, gpus: int, cpus: int, counts: tuple[int, ...]) -> list[list[int]]:
        """Return the most that lots from each on add, by GPUs that are free.

        They are slowed down by these neighbours, but slow nobody down, and need no CPUs.
        """
        self._spend((len(self._lots) + 1) * (gpus + 1))
        rest = [[0] * (gpus + 1)]
        for i in reversed(range(len(self._lots))):
            lot, after = self._lots[i], rest[-1]
            rooms = [h // need for h, need in ((gpus, lot.gpus), (cpus, lot.cpus)) if need]
            most = min([lot.tasks, *rooms])
            self._spend(most * (1 + gpus // 2))
            slowed = self._share[i] * self._among(lot.type, counts)
            row = list(after)
            for n in range(1, most + 1):
                value = self._value(i, n) - n * slowed
                if value > 0:
                    for g in range(n * lot.gpus, gpus + 1):
                        row[g] = max(row[g], after[g - n * lot.gpus] + value)
            rest.append(row)
        return rest[::-1]

    def _spend(self, steps: int) -> None:
        self._left -= steps
        self._unchecked += steps
        if self._left < 0 or (self._unchecked > CHECKED and self._stopped()):
            raise ValueError("target_s: the check would take too long")
        self._unchecked %= CHECKED


class _Program:
    """(L1)-(L8) in integers and rationals, column by column and row by row."""

    def __init__(self, instance: PlacementInstance, lots: Sequence[Lot]) -> None:
        self._instance, self._lots = instance, lots
        self._slowdowns = Slowdowns(instance, lots)
        classes = {server: len(members) for server, members in instance.server_classes.items()}
        self.comm_s: list[Fraction] = [_comm_s(instance, lot, classes) for lot in lots]
        self._upper: list[int] = []
        self._costs: list[Fraction] = []
        self._rows: list[Row] = []
        self._covers: list[list[tuple[int, int]]] = [[] for _ in lots]
        #: Of gangs: column, tasks, slowdown and rack of each content with a part of it.
        self._parts: dict[int, list[tuple[int, int, Fraction, int | None]]] = {}

    def _column(self, cost: Fraction, most: int) -> int:
        self._costs.append(cost)
        self._upper.append(most)
        return len(self._costs) - 1

    def _row(self, terms: Sequence[tuple[int, int]], lower: int | None, upper: int | None) -> None:
        self._rows.append(Row([j for j, _ in terms], [a for _, a in terms], lower, upper, 1))

    def add_place(self, place: Place, contents: Sequence[Content]) -> None:
        """(L1), (L3): a column for every content of servers that are alike."""
        columns = []
        for content in contents:
            cost, parts = Fraction(0), []
            for (i, n), slowdown in zip(content, self._slowdowns.of(content), strict=True):
                lot = self._lots[i]
                if lot.gang and n < lot.tasks:
                    parts.append((i, n, slowdown))
                else:
                    cost += (1 if lot.gang else n) * lot.job_s * slowdown
            most = min(place.servers, *(self._lots[i].tasks // n for i, n in content))
            column = self._column(cost, most)
            columns.append((column, 1))
            for i, n in content:
                self._covers[i].append((column, n))
            for i, n, slowdown in parts:
                self._parts.setdefault(i, []).append((column, n, slowdown, place.rack))
        self._row(columns, None, place.servers)

    def cover(self) -> None:
        """(L2): all tasks of every lot."""
        for lot, terms in zip(self._lots, self._covers, strict=True):
            self._row(terms, lot.tasks, lot.tasks)

    def divide(self) -> None:
        """(L8): parts of gangs are whole, which says nothing new of placements."""
        for lot, terms in zip(self._lots, self._covers, strict=True):
            most = max((n for _, n in terms), default=0)
            for d in range(2, min(lot.tasks - 1, most) + 1 if lot.gang else 0):
                self._row([(c, -(-n // d)) for c, n in terms], -(-lot.tasks // d), None)
                below = [(c, n // d) for c, n in terms if n >= d]
                self._row(below, None, lot.tasks // d)

    def levels(self) -> None:
        """(L4)-(L6): gangs on several servers."""
        for i, parts in sorted(self._parts.items()):
            tasks, before = self._lots[i].tasks, Fraction(0)
            apart = above = self._column(self.comm_s[i], 1)
            self._row([*((c, n) for c, n, _, _ in parts), (apart, -tasks)], 0, 0)
            for level in sorted({slowdown for _, _, slowdown, _ in parts} - {Fraction(0)}):
                column = self._column((level - before) * self._lots[i].job_s, 1)
                slower = [(c, n) for c, n, slowdown, _ in parts if slowdown >= level]
                self._row([*slower, (column, -tasks)], None, 0)
                self._row([(column, 1), (above, -1)], None, 0)
                above, before = column, level

    def homes(self) -> None:
        """(L7): gangs that lie in several racks."""
        for i, parts in sorted(self._parts.items()):
            job = self._instance.jobs[self._lots[i].jobs[0]]
            more_s = job.iterations * job.cross_comm_s - self.comm_s[i]
            if more_s <= 0:
                continue
            racks = self._instance.racks
            home = {rack: self._column(Fraction(0), 1) for rack in racks}
            away = self._column(more_s, 1)
            self._row([(home[rack], 1) for rack in racks], 1, 1)
            tasks = self._lots[i].tasks
            for rack in racks:
                there = [(c, n) for c, n, _, r in parts if r == rack]
                self._row([*there, (home[rack], -tasks), (away, -tasks)], None, 0)

    def model(self) -> Model:
        """Return the program: its objective is the sum of the completion times."""
        scale = common_denominator(self._costs)
        priced_columns = [j for j, cost in enumerate(self._costs) if cost]
        columns = len(self._costs)
        return Model(
            integer=[True] * columns,
            lower=[0] * columns,
            upper=list(self._upper),
            rows=self._rows,
            costs=(priced_columns, [int(self._costs[j] * scale) for j in priced_columns]),
            scale=scale,
            offset=sum((len(lot.jobs) * lot.job_s for lot in self._lots), Fraction(0)),
            sense="min",
        )


def _comm_s(instance: PlacementInstance, lot: Lot, classes: dict[Server, int]) -> Fraction:
    """Return what a gang pays for lying on several servers, at least; 0 for other lots."""
    if not lot.gang:
        return Fraction(0)
    job = instance.jobs[lot.jobs[0]]
    return job.iterations * max(forced_comm_s(job, classes), job.rack_comm_s)
