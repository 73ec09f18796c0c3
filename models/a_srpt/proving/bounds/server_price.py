"""The server price bound: prices of parts of servers see fragmentation and communication.

The ascent begins at the prices of B5 and adds multiples of dual feasible functions, which charge
large parts more than their share of a server; `server_costs` has the bound and its proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ASrptInstance
from ...relaxations import pool_of
from ..certificate.check import (
    PartPrices,
    Prices,
    proved,
)
from ..certificate.price_checks import gpu_ticks_used
from ..server_costs import PartPrices as PartTables
from ..server_costs import (
    Servers,
    cheapest,
    part_costs,
    servers_of,
)
from .ascent import (
    FIRST_TARGET,
    Evaluated,
    ascend,
)
from .dual_feasible import shares
from .grid_program import CLOSED
from .outcome import (
    certified,
    power_of_two,
    step_proof,
)
from .price import good_prices


@method(kind="relaxation", reference="ours", formulation="part_prices")
def server_price_bound(
    instance: ASrptInstance,
    limits: Limits,
    *,
    intervals: int = 128,
    iterations: int = 20,
    polished: int = 2000,
) -> MethodOutcome:
    r"""Prices of parts of servers: sees fragmentation and communication.

    Return the bound :math:`L^{srv}(\pi)` of good prices of parts, or B5 if that is higher.

    Parameters
    ----------
    intervals : int, default 128
        Most intervals of the grid.
    iterations : int, default 20
        Evaluations, each O(n K g c) where jobs may be split.
    polished : int, default 2000
        Most jobs for column generation.
    """
    clock = Clock(limits)
    pool = pool_of(instance)
    fine_times, fine_prices, _ = good_prices(pool, 256, 40, 5000, 2000, clock)
    of_gpus = step_proof(Prices, pool, fine_times, fine_prices)
    with clock.phase("durations of split jobs"):
        servers = servers_of(instance)
    times, prices, value = good_prices(pool, intervals, 40, 5000, 2000, clock)
    lagrangian = _Lagrangian(servers, times)
    start = lagrangian.proportional(prices)
    with clock.phase("part prices"):
        slack = FIRST_TARGET / 4 * abs(value)
        found = ascend(lagrangian.evaluate, start, lagrangian.lengths, iterations, slack, clock)
    multiples = found.prices
    if len(pool.release) <= polished:
        with clock.phase("column generation of parts"):
            multiples = _best_multiples(lagrangian, found.value, multiples, clock)
    of_parts = _proof(servers, times, lagrangian.tables(multiples))
    with clock.phase("comparison"):
        better = proved(instance, of_parts) > proved(instance, of_gpus)
    return certified(of_parts if better else of_gpus, clock)


def _best_multiples(
    lagrangian: _Lagrangian, value: float, multiples: Floats, clock: Clock
) -> Floats:
    """Return the best multiples on the grid, or what time allows.

    The linear program over the starts and partitions known so far; its duals are drawn half-way to
    the best multiples known, unless nothing new comes of it.
    """
    n, shape = len(lagrangian.servers.pool.release), multiples.shape
    lp = PersistentLp("min")
    lp.add_rows([1.0] * n, [1.0] * n, [0] * n, [], [])
    limit = (lagrangian.capacity[:, None] * lagrangian.lengths).ravel()
    lp.add_rows([-INFINITY] * limit.size, limit, [0] * limit.size, [], [])
    pool: ColumnPool[Column] = ColumnPool(lp)
    best, best_multiples = value, multiples
    _add(pool, lagrangian, lagrangian.after_all())
    _add(pool, lagrangian, lagrangian.columns(multiples)[1])
    while not clock.expired and lp.solve(clock.limits()) is Status.OPTIMAL:
        duals = np.maximum(0.0, -lp.row_duals[n:]).reshape(shape)
        goal = lp.objective
        for trial in ((duals + best_multiples) / 2, duals):
            bound, new = lagrangian.columns(trial)
            if bound > best:
                best, best_multiples = bound, trial
            if _add(pool, lagrangian, new):
                break
        else:
            break
        if goal <= best + CLOSED * abs(best):
            break
    return best_multiples


@dataclass(frozen=True)
class Column:
    """A job's start, duration and parts: how many of every size on every class of servers."""

    job: int
    start: float
    duration: float
    parts: tuple[tuple[int, int, int], ...]


def _add(pool: ColumnPool[Column], lagrangian: _Lagrangian, columns: Iterable[Column]) -> int:
    """Add those columns that are not known, and return their number."""
    jobs = lagrangian.servers.pool
    n, weight = len(jobs.release), jobs.weight / jobs.weight_scale
    for column in columns:
        if column not in pool:
            used = lagrangian.usage(column).ravel()
            at = np.flatnonzero(used)
            cost = float(weight[column.job]) * (column.start + column.duration)
            rows, values = np.append(column.job, n + at), np.append(1.0, used[at])
            pool.add(column, column, cost, rows, values)
    return pool.enter()


def _proof(servers: Servers, times: Floats, tables: list[Floats]) -> PartPrices:
    dearest = sum(float(table.max(axis=0) @ np.diff(times)) for table in tables)
    denominator = power_of_two(servers.pool, float(times[-1]), dearest)
    return PartPrices(
        times=tuple(int(t) for t in times.tolist()),
        denominator=denominator,
        prices=tuple(
            tuple(tuple(round(p * denominator) for p in row) for row in table.tolist())
            for table in tables
        ),
    )


class _Lagrangian:
    """The bound as a function of the multiples of the dual feasible functions of every class."""

    def __init__(self, servers: Servers, times: Floats):
        self.servers = servers
        self.times, self.lengths = times, np.diff(times)
        sizes = _sizes(servers)
        self.functions = [shares(c, sizes) for c in servers.capacities]
        self.rows = np.cumsum([0, *(len(f) for f in self.functions)])
        capacity = [np.full(len(f), n) for f, n in zip(self.functions, servers.counts, strict=True)]
        self.capacity = np.concatenate(capacity).astype(np.float64)

    def proportional(self, prices: Floats) -> Floats:
        """Return the multiples that charge every GPU the given price."""
        multiples = np.zeros((int(self.rows[-1]), len(prices)))
        for row, c in zip(self.rows[:-1].tolist(), self.servers.capacities, strict=True):
            multiples[row] = c * prices
        return multiples

    def tables(self, multiples: Floats) -> list[Floats]:
        """Return the prices of parts of every class, shape (c_k, K) each."""
        pairs = zip(self.functions, np.split(multiples, self.rows[1:-1]), strict=True)
        return [functions.T @ part for functions, part in pairs]

    def evaluate(self, multiples: Floats) -> Evaluated:
        """Return the bound, its subgradient in the multiples and the starts of the jobs."""
        total, choices = self._choices(multiples)
        starts = np.zeros(len(self.servers.pool.release))
        used = [np.zeros((c, len(self.lengths))) for c in self.servers.capacities]
        for jobs, start, duration, counts in choices:
            starts[jobs] = start
            for k, of_class in enumerate(counts):
                for q in np.flatnonzero(of_class.any(axis=0)).tolist():
                    used[k][q] += gpu_ticks_used(self.times, start, duration, of_class[:, q])
        demand = [f @ u for f, u in zip(self.functions, used, strict=True)]
        return total, np.concatenate(demand) - self.capacity[:, None] * self.lengths, starts

    def columns(self, multiples: Floats) -> tuple[float, list[Column]]:
        """Return the bound, and each job's cheapest start and partition."""
        total, choices = self._choices(multiples)
        columns = []
        for jobs, start, duration, counts in choices:
            parts: list[list[tuple[int, int, int]]] = [[] for _ in jobs]
            for k, of_class in enumerate(counts):
                for row, q in zip(*np.nonzero(of_class), strict=True):
                    parts[row].append((k, int(q) + 1, int(of_class[row, q])))
            rows = zip(jobs.tolist(), start.tolist(), duration.tolist(), parts, strict=True)
            columns += [Column(j, s, d, tuple(p)) for j, s, d, p in rows]
        return total, columns

    def after_all(self) -> list[Column]:
        """Return a start of every job after the last time, where nothing is paid."""
        pool, last = self.servers.pool, float(self.times[-1])
        starts = np.maximum(last, pool.release.astype(np.float64)).tolist()
        durations = pool.duration.astype(np.float64).tolist()
        return [Column(j, s, d, ()) for j, (s, d) in enumerate(zip(starts, durations, strict=True))]

    def usage(self, column: Column) -> Floats:
        """Return what a column takes of every function and interval, shape (functions, K)."""
        held = np.diff(np.clip(self.times, column.start, column.start + column.duration))
        taken = np.zeros(int(self.rows[-1]))
        for k, q, count in column.parts:
            taken[self.rows[k] : self.rows[k + 1]] += count * self.functions[k][:, q - 1]
        return np.outer(taken, held)

    def _choices(
        self, multiples: Floats
    ) -> tuple[float, list[tuple[Ints, Floats, Floats, list[Floats]]]]:
        """Return the bound and, in blocks of jobs, starts, durations and parts of each class."""
        pool = self.servers.pool
        parts = PartTables(self.times, tuple(self.tables(multiples)))
        total = -float(self.capacity @ (multiples @ self.lengths))
        choices = []
        for jobs, cost, start, split in cheapest(self.servers, parts):
            total += float(cost.sum()) / pool.weight_scale
            longer = self.servers.split_ticks[jobs]
            duration = np.where(split, longer, pool.duration[jobs]).astype(np.float64)
            counts = _chosen(parts, start, duration, int(pool.gpus[jobs[0]]), split)
            choices.append((jobs, start, duration, counts))
        return total, choices


def _sizes(servers: Servers) -> set[int]:
    """Return the sizes of parts of which dual feasible functions may take account."""
    largest = servers.capacities[-1]
    whole = set(servers.pool.gpus[servers.fits].tolist())
    return whole | {g % largest for g in servers.pool.gpus.tolist()} - {0} | {largest}


def _chosen(
    parts: PartTables, start: Floats, duration: Floats, g: int, split: Bools
) -> list[Floats]:
    """Return how many parts of every size jobs of g GPUs occupy, shape (jobs, c_k) of each class.

    Jobs start at `start`; those that `split` occupy the cheapest two or more parts.
    """
    n, largest = len(start), len(parts.tables[-1])
    by_class = np.full((len(parts.tables), largest, n), np.inf)
    for k, table in enumerate(parts.tables):
        only = PartTables(parts.times, (table,))
        sizes = range(1, min(g, len(table)) + 1)
        paid = part_costs(only, start[:, None], duration[:, None], sizes)
        by_class[k, : len(paid)] = np.array(paid)[:, :, 0]
    sizes_used = _parts(by_class.min(axis=0)[: min(g, largest)], g, split)
    of_class = by_class.argmin(axis=0)
    counts = []
    for k, table in enumerate(parts.tables):
        chosen = np.zeros((n, len(table)))
        for q in range(1, min(len(table), sizes_used.shape[1]) + 1):
            at = of_class[q - 1] == k
            chosen[at, q - 1] = sizes_used[at, q - 1]
        counts.append(chosen)
    return counts


def _parts(paid: Floats, g: int, split: Bools) -> Floats:
    """Return the cheapest partition of g GPUs for each job, shape (jobs, sizes).

    Parameters
    ----------
    paid : array of float, shape (sizes, jobs)
        Costs of parts of 1, 2, ... GPUs.
    g : int
    split : array of bool, shape (jobs,)
        Jobs in two or more parts; the others are whole.
    """
    c, n = paid.shape
    sizes = np.zeros((n, c))
    if g <= c:
        sizes[~split, g - 1] = 1.0
    if not split.any():
        return sizes
    some = np.flatnonzero(split)
    prices = paid[:, some]
    best = [np.zeros(len(some))]
    last: list[Ints] = [np.zeros(len(some), dtype=np.int64)]
    for m in range(1, g + 1):
        most = min(m, c, g - 1)
        options = np.array([best[m - q] + prices[q - 1] for q in range(1, most + 1)])
        last.append(options.argmin(axis=0) + 1)
        best.append(options.min(axis=0))
    left = np.full(len(some), g)
    table = np.array(last)
    while (left > 0).any():
        busy = np.flatnonzero(left > 0)
        q = table[left[busy], busy]
        sizes[some[busy], q - 1] += 1.0
        left[busy] -= q
    return sizes
