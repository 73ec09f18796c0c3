"""The price bound B5: a price of GPU-time certifies thousands of jobs."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ASrptInstance
from ...relaxations import (
    Pool,
    pool_of,
)
from ..certificate.check import Prices
from .ascent import (
    FloatPool,
    pool_prices,
)
from .grid_program import best_grid_prices
from .list_schedule import listed
from .outcome import (
    certified,
    step_proof,
)

#: Most intervals between moments of a schedule: the program over 1,400 takes a second.
#: Tuned: `benchmarks/constants.py`.
MOST_MOMENTS = 2000


@method(kind="relaxation", reference="(6), reconstructed", formulation="prices")
def price_bound(
    instance: ASrptInstance,
    limits: Limits,
    *,
    intervals: int = 256,
    iterations: int = 40,
    sample: int = 5000,
    polished: int = 2000,
) -> MethodOutcome:
    r"""B5: prices of GPU-time, for thousands of jobs.

    Return the bound :math:`L(\pi)` of good prices, (6) of the page.

    The prices are constant on a grid, found by subgradient ascent from Smith's prices on 16
    intervals on, halving them until there are `intervals`. Where there are few enough jobs, column
    generation then finds the best prices on that grid. Any prices are a certificate; the best on a
    unit grid prove B4.

    Parameters
    ----------
    intervals : int, default 256
        Most intervals of the grid.
    iterations : int, default 40
        Evaluations on every grid, each O(n K).
    sample : int, default 5000
        Jobs that the coarse grids look at.
    polished : int, default 2000
        Most jobs for column generation.
    """
    clock = Clock(limits)
    pool = pool_of(instance)
    times, prices, _ = good_prices(pool, intervals, iterations, sample, polished, clock)
    return certified(step_proof(Prices, pool, times, prices), clock)


def good_prices(
    pool: Pool, intervals: int, iterations: int, sample: int, polished: int, clock: Clock
) -> tuple[Floats, Floats, float]:
    """Return a grid, good prices on it and about the bound that they prove; see `price_bound`."""
    jobs = FloatPool.of(pool)
    with clock.phase("ascent"):
        steps, found = pool_prices(jobs, intervals, iterations, sample, clock)
    times, prices, value = steps.times, steps.prices, found.value
    if len(pool.release) > polished or clock.expired:
        return times, prices, value
    with clock.phase("column generation"):
        starts = listed(pool, found.starts)
        horizon = float((starts + pool.duration).max())
        if horizon > times[-1]:
            step = max(1.0, (times[-1] - times[0]) / len(prices))
            tail = np.append(np.floor(np.arange(times[-1] + step, horizon, step)), horizon)
            times = np.unique(np.append(times, tail))
            prices = np.pad(prices, (0, len(times) - 1 - len(prices)))
        value, prices = best_grid_prices(jobs, times, prices, starts, clock)
    return times, prices, value


def prices_at_moments(pool: Pool, order_by: Floats, clock: Clock) -> tuple[Floats, Floats] | None:
    """Return a grid of the moments of a list schedule, and the best prices on it.

    A moment is an arrival, a start or an end; the best prices mostly change there, so these few
    prove more than many equal intervals. None if there are more than `MOST_MOMENTS`.

    Parameters
    ----------
    pool : Pool
    order_by : array, shape (jobs,)
        By which the jobs are listed, such as the starts of a good schedule on the servers.
    clock : Clock
    """
    starts = listed(pool, order_by)
    times = np.unique(np.concatenate([pool.release, starts, starts + pool.duration]))
    if len(times) > MOST_MOMENTS:
        return None
    times, nothing = times.astype(np.float64), np.zeros(len(times) - 1)
    _, prices = best_grid_prices(FloatPool.of(pool), times, nothing, starts, clock)
    return times, prices
