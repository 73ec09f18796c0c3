"""The server price bound: prices of parts of servers see fragmentation and communication.

The ascent begins at the prices of B5 and adds multiples of dual feasible functions, which charge
large parts more than their share of a server; `server_prices` has the bound and its proof.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..certificate import PartPrices
from ..instance import ASrptInstance
from ..price_checks import gpu_ticks_used
from ..server_prices import PartPrices as PartTables
from ..server_prices import Servers, cheapest, part_costs, partition_costs, servers_of
from .ascent import FIRST_TARGET, Evaluated, FloatPool, ascend, pool_prices
from .dual_feasible import shares
from .outcome import certified, power_of_two


def server_price_bound(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    intervals: int = 64,
    iterations: int = 60,
) -> MethodOutcome:
    r"""Return the bound :math:`L^{srv}(\pi)` of good prices of parts; never below B5 on its grid.

    Parameters
    ----------
    intervals : int, default 64
        Most intervals of the grid.
    iterations : int, default 60
        Evaluations, each O(n K g c) where jobs may be split.
    """
    clock = Clock(limits)
    servers = servers_of(instance)
    with clock.phase("pool prices"):
        pool = FloatPool.of(servers.pool)
        steps, found = pool_prices(pool, intervals, iterations, 5000, clock)
    lagrangian = _Lagrangian(servers, steps.times)
    start = lagrangian.proportional(steps.prices)
    with clock.phase("part prices"):
        slack = FIRST_TARGET / 4 * abs(found.value)
        ascended = ascend(lagrangian.evaluate, start, lagrangian.lengths, iterations, slack, clock)
    tables = lagrangian.tables(ascended.prices)
    return certified(_proof(servers, steps.times, tables), clock)


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
        pool, times = self.servers.pool, self.times
        parts = PartTables(times, tuple(self.tables(multiples)))
        total = -float(self.capacity @ (multiples @ self.lengths))
        starts = np.zeros(len(pool.release))
        used = [np.zeros_like(table) for table in parts.tables]
        for jobs, cost, start, split in cheapest(self.servers, parts):
            total += float(cost.sum()) / pool.weight_scale
            starts[jobs] = start
            g = int(pool.gpus[jobs[0]])
            longer = self.servers.split_ticks[jobs]
            duration = np.where(split, longer, pool.duration[jobs]).astype(np.float64)
            for k, counts in enumerate(_chosen(parts, start, duration, g, split)):
                for q in np.flatnonzero(counts.any(axis=0)).tolist():
                    used[k][q] += gpu_ticks_used(times, start, duration, counts[:, q])
        demand = [f @ u for f, u in zip(self.functions, used, strict=True)]
        return total, np.concatenate(demand) - self.capacity[:, None] * self.lengths, starts


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
    n = len(start)
    row = np.arange(n)
    costs, classes = [], []
    for k, table in enumerate(parts.tables):
        only = PartTables(parts.times, (table,))
        paid = np.array(part_costs(only, start[:, None], duration[:, None]))[:, :, 0]
        missing = len(parts.tables[-1]) - len(paid)
        costs.append(np.pad(paid, ((0, missing), (0, 0)), constant_values=np.inf))
        classes.append(k)
    by_class = np.array(costs)
    paid = by_class.min(axis=0)
    of_class = by_class.argmin(axis=0)
    sizes = _parts(paid, g, split)
    counts = [np.zeros((n, len(table))) for table in parts.tables]
    for q in range(1, len(paid) + 1):
        for k in classes:
            at = row[of_class[q - 1] == k]
            if q <= counts[k].shape[1]:
                counts[k][at, q - 1] += sizes[at, q - 1]
    return counts


def _parts(paid: Floats, g: int, split: Bools) -> Floats:
    """Return the cheapest partition of g GPUs for each job, shape (jobs, sizes)."""
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
    assert np.allclose(best[g], partition_costs(list(prices), g)[1])
    left = np.full(len(some), g)
    table = np.array(last)
    while (left > 0).any():
        busy = np.flatnonzero(left > 0)
        q = table[left[busy], busy]
        sizes[some[busy], q - 1] += 1.0
        left[busy] -= q
    return sizes
