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

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.proofs.model import Model, Row

from ..subproblems.cluster import Server, forced_comm_s
from ..subproblems.contents import Content, Lot, Slowdowns, lots_of
from .instance import PlacementInstance
from .price_checks import priced

#: Contents that the enumeration may look at and that a program may have, and entries of a table.
MOST_VISITED, MOST_CONTENTS, MOST_CELLS = 1_000_000, 20_000, 10**6


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
    instance: PlacementInstance, prices: Sequence[Fraction], target_s: Fraction, *, folded: bool
) -> Closing:
    """Return the program over all contents that a placement of less than a cost may have.

    Parameters
    ----------
    prices : sequence of Fraction, shape (jobs,)
        In seconds of a task.
    target_s : Fraction
        The cost: a sum of completion times.
    folded : bool
        Leave racks out, a relaxation.

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
    near = _Contents(instance, lots, prices, program.comm_s)
    for place in places_of(instance, folded=folded):
        above = most[place.gpus, place.cpus] - (target_s - least_s)
        program.add_place(place, near.worth_more(place.gpus, place.cpus, above))
    program.cover()
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


class _Contents:
    """Contents and what they are worth, in whole numbers of a unit."""

    def __init__(
        self,
        instance: PlacementInstance,
        lots: Sequence[Lot],
        prices: Sequence[Fraction],
        comm_s: Sequence[Fraction],
    ) -> None:
        self._lots, self._per_task = lots, instance.per_task
        self._types = instance.num_types
        price = [prices[lot.jobs[0]] for lot in lots]
        parts = [comm / lot.tasks for comm, lot in zip(comm_s, lots, strict=True)]
        shares = [lot.job_s / (lot.tasks if lot.gang else 1) for lot in lots]
        scale = instance.alpha_scale
        self._unit = common_denominator([*price, *parts, *shares]) * scale
        self._price = [int(x * self._unit) for x in price]
        self._part = [int(x * self._unit) for x in parts]
        self._share = [int(x * self._unit) // scale for x in shares]
        self._alpha = [[int(a * scale) for a in row] for row in instance.interference]
        self._found: dict[tuple[int, int, Fraction], list[Content]] = {}
        self._left = MOST_VISITED

    def worth_more(self, gpus: int, cpus: int, above: Fraction) -> list[Content]:
        """Return all contents of a server of this size that are worth more, in order.

        Raises
        ------
        ValueError
            If they are too many.
        """
        key = (gpus, cpus, above)
        if key not in self._found:
            self._found[key] = sorted(self._all(gpus, cpus, above * self._unit))
            if len(self._found[key]) > MOST_CONTENTS:
                raise ValueError(f"target: more than {MOST_CONTENTS} contents of a server")
        return self._found[key]

    def _all(self, gpus: int, cpus: int, above: Fraction) -> Iterator[Content]:
        rest = self._rest(gpus, cpus)
        open_: list[tuple[Content, int, int, int]] = [((), 0, gpus, cpus)]
        while open_:
            content, first, g, u = open_.pop()
            worth = self._worth(content)
            if content and worth > above:
                yield content
            for i in range(first, len(self._lots)):
                if worth + rest[i][g] <= above:
                    break  # the rest of later lots is no more
                lot = self._lots[i]
                for n in range(1, lot.tasks + 1):
                    after_g, after_u = g - n * lot.gpus, u - n * lot.cpus
                    if after_g < 0 or after_u < 0:
                        break
                    self._left -= 1
                    if self._left < 0:
                        raise ValueError("target: the check would take too long")
                    open_.append(((*content, (i, n)), i + 1, after_g, after_u))

    def _value(self, i: int, n: int) -> int:
        """Return what n tasks of a lot are worth if nobody slows them down."""
        lot = self._lots[i]
        apart = lot.gang and n < lot.tasks
        return n * (self._price[i] - (self._part[i] if apart else 0))

    def _worth(self, content: Content) -> int:
        counts = [0] * self._types
        for i, n in content:
            counts[self._lots[i].type] += self._lots[i].weight(n, per_task=self._per_task)
        worth = 0
        for i, n in content:
            lot = self._lots[i]
            row = self._alpha[lot.type]
            among = sum(a * k for a, k in zip(row, counts, strict=True) if k)
            among -= row[lot.type] * lot.own_weight(n, per_task=self._per_task)
            worth += self._value(i, n) - n * self._share[i] * among
        return worth

    def _rest(self, gpus: int, cpus: int) -> list[list[int]]:
        """Return the most that lots from each on add, by GPUs that are free, alone and no CPUs."""
        if (len(self._lots) + 1) * (gpus + 1) > MOST_CELLS:
            raise ValueError("target: a server has too many GPUs")
        rest = [[0] * (gpus + 1)]
        for i in reversed(range(len(self._lots))):
            lot, after = self._lots[i], rest[-1]
            rooms = [h // need for h, need in ((gpus, lot.gpus), (cpus, lot.cpus)) if need]
            values = [(n, self._value(i, n)) for n in range(1, min([lot.tasks, *rooms]) + 1)]
            self._left -= len(values)
            if self._left < 0:
                raise ValueError("target: the check would take too long")
            row = list(after)
            for n, value in values:
                if value > 0:
                    for g in range(n * lot.gpus, gpus + 1):
                        row[g] = max(row[g], after[g - n * lot.gpus] + value)
            rest.append(row)
        return rest[::-1]


class _Program:
    """(L1)-(L7) in integers and rationals, column by column and row by row."""

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
