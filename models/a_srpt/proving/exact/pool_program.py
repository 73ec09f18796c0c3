"""The pool relaxation solved: prices rule out most starts, HiGHS solves (5) over the others.

The starts that are left are those of `start_costs`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array, vstack

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import Limits

from ...relaxations import Pool
from ..bounds.ascent import (
    FloatPool,
    pool_prices,
)
from ..bounds.grid_program import best_grid_prices
from ..certificate.price_checks import StepPrices
from ..start_costs import (
    check_ticks,
    classes,
)

#: Ticks of the longest unit grid on which the program's dual is solved.
#: Tuned: `benchmarks/constants.py`.
MOST_TICKS = 3000
#: Entries that the program's matrix may have.
MOST_ENTRIES = MOST_CELLS


def first_steps(pool: Pool, clock: Clock) -> StepPrices:
    """Return good prices of GPU-time by ascent, in the objective's unit, on 64 intervals."""
    steps, _ = pool_prices(FloatPool.of(pool), 64, 40, 2000, clock)
    return steps


def ticks_of(pool: Pool, starts: Ints, steps: StepPrices) -> Floats:
    """Return prices on intervals as prices of every tick up to the end of a schedule.

    Raises
    ------
    ModelRefused
        If jobs times ticks are too many for the steps after this.
    """
    horizon = max(int((starts + pool.duration).max()), int(steps.times[-1]))
    check_ticks(pool, horizon)
    prices = np.repeat(steps.prices, np.diff(steps.times).astype(np.int64))
    return np.pad(prices, (int(steps.times[0]), horizon - int(steps.times[-1])))


def price_ticks(pool: Pool, starts: Ints, steps: StepPrices, clock: Clock) -> Floats:
    """Return prices of a GPU-tick of the program's dual, or good ones when time runs out.

    They are the best of all on the unit grid. If this has too many ticks, they are constant between
    the moments at which jobs are likely to start or end.

    Parameters
    ----------
    pool : Pool
    starts : array of int, shape (jobs,)
        Of a schedule.
    steps : StepPrices
        To begin with.
    clock : Clock

    Returns
    -------
    array of float, shape (ticks,)
        In the objective's unit.
    """
    first = ticks_of(pool, starts, steps)
    horizon = len(first)
    times = np.arange(horizon + 1) if horizon <= MOST_TICKS else _moments(pool, starts, horizon)
    lengths = np.diff(times)
    prices = np.add.reduceat(first, times[:-1]) / lengths
    _, prices = best_grid_prices(
        FloatPool.of(pool), times.astype(np.float64), prices, starts.astype(np.float64), clock
    )
    return np.repeat(prices, lengths)


def _moments(pool: Pool, starts: Ints, horizon: int) -> Ints:
    """Return the releases, the starts and ends of a schedule, and those one duration from them."""
    moments = np.unique(np.concatenate([pool.release, starts, starts + pool.duration]))
    near = moments[:, None] + np.concatenate([pool.duration, -pool.duration])
    moments = np.union1d(moments, near)
    moments = moments[(moments > 0) & (moments < horizon)]
    if len(moments) > MOST_TICKS:
        moments = moments[np.linspace(0, len(moments) - 1, MOST_TICKS).astype(np.int64)]
    return np.concatenate([[0], moments, [horizon]])


def solve_program(
    pool: Pool, allowed: Bools, limits: Limits, seed: int
) -> tuple[SolverOutcome, Ints | None]:
    """Solve (5) over the allowed starts.

    Equal jobs, of one (g, d, w), are counted together: that is the program aggregated by template.

    Returns
    -------
    outcome : SolverOutcome
        In the objective's unit times the weight scale. If it is infeasible, no schedule is better
        than the one that the starts were left for.
    starts : array of int, shape (jobs,)
        The best found; None if there are none.
    """
    program = _Program(pool, allowed)
    solved = solve_form(program.form, limits, seed)
    if solved.values is None:
        return solved, None
    return solved, program.starts_of(np.round(solved.values).astype(np.int64))


class _Program:
    def __init__(self, pool: Pool, allowed: Bools):
        self.pool = pool
        ticks = allowed.shape[1]
        self.classes = classes(pool)
        union = np.array([allowed[jobs].any(axis=0) for jobs in self.classes])
        self.of_class, self.tick = (x.astype(np.int64) for x in np.nonzero(union))
        first = np.array([jobs[0] for jobs in self.classes])
        jobs = first[self.of_class]
        counts = np.array([len(jobs) for jobs in self.classes], dtype=np.float64)
        self.column = np.full(union.shape, -1, dtype=np.int64)
        self.column[self.of_class, self.tick] = np.arange(len(jobs))
        gpus, duration = pool.gpus[jobs], pool.duration[jobs]
        if int(duration.sum()) > MOST_ENTRIES:
            raise ModelRefused(f"{len(jobs)} starts make more than {MOST_ENTRIES} entries")
        n = len(jobs)
        columns = np.arange(n)
        one = csr_array((np.ones(n), (self.of_class, columns)), shape=(len(counts), n))
        repeated = np.repeat(columns, duration)
        since = np.arange(len(repeated)) - np.repeat(np.cumsum(duration) - duration, duration)
        at = self.tick[repeated] + since
        rows = int(max(at.max() + 1, ticks))
        used = csr_array((gpus[repeated].astype(np.float64), (at, repeated)), shape=(rows, n))
        at_once = np.minimum(counts[self.of_class], pool.total_gpus // gpus)
        used = used[np.flatnonzero(used @ at_once > pool.total_gpus)]
        early, early_most = self._releases(n)
        blocks = [one, used, early]
        matrix = csr_array(vstack([b for b in blocks if b.shape[0]], format="csr"))
        free = np.full(used.shape[0], -math.inf)
        self.form = StandardForm(
            columns=[None] * n,
            col_lower=np.zeros(n),
            col_upper=at_once,
            integer=np.ones(n, dtype=np.bool_),
            c=(pool.weight[jobs] * (self.tick + duration)).astype(np.float64),
            offset=0.0,
            sense="min",
            A=matrix,
            row_lower=np.concatenate([counts, free, np.full(len(early_most), -math.inf)]),
            row_upper=np.concatenate(
                [counts, np.full(used.shape[0], float(pool.total_gpus)), early_most]
            ),
            rows=[None] * matrix.shape[0],
            unused=[],
        )

    def _releases(self, columns: int) -> tuple[csr_array, Floats]:
        """Return the rows by which no more jobs of a class start than are released."""
        row_of: list[int] = []
        column_of: list[int] = []
        most: list[float] = []
        for c, jobs in enumerate(self.classes):
            releases = self.pool.release[jobs]
            for k in range(1, len(jobs)):
                if releases[k] > releases[k - 1]:
                    early = self.column[c, : releases[k]]
                    early = early[early >= 0]
                    if len(early):
                        row_of += [len(most)] * len(early)
                        column_of += early.tolist()
                        most.append(float(k))
        shape = (len(most), columns)
        return csr_array((np.ones(len(row_of)), (row_of, column_of)), shape=shape), np.array(most)

    def starts_of(self, values: Ints) -> Ints:
        """Return the schedule of values: of equal jobs, the first released starts first."""
        starts = np.zeros(len(self.pool.release), dtype=np.int64)
        for c, jobs in enumerate(self.classes):
            mine = np.flatnonzero((self.of_class == c) & (values > 0))
            starts[jobs] = np.repeat(self.tick[mine], values[mine])
        return starts
