r"""The linear program of starts B4, (5) of the page.

It is the program of `grid_program` on the unit grid. Its optimal duals are prices that prove it, so
B4 is the best of all price bounds.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ASrptInstance
from ...relaxations import pool_of
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

#: Ticks times jobs of the program. Tuned: `benchmarks/constants.py`.
MOST_STARTS = 10**7


@method(
    kind="relaxation",
    reference="(5), reconstructed",
    formulation="time_indexed_lp",
    backend="highs",
)
def time_indexed_bound(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """B4: linear program of starts, by column generation.

    Return B4, or what the best prices prove when time runs out.

    Raises
    ------
    ModelRefused
        If there are too many starts: use `price_bound`.
    """
    clock = Clock(limits)
    whole = pool_of(instance)
    pool = FloatPool.of(whole)
    ticks = int(pool.horizon)
    if ticks * len(pool.release) > MOST_STARTS:
        raise ModelRefused(
            f"{len(pool.release)} jobs in {ticks} ticks make more than {MOST_STARTS} starts"
        )
    with clock.phase("prices"):
        steps, found = pool_prices(pool, 64, 40, 5000, clock)
    starts = listed(whole, found.starts)
    horizon = int((starts + pool.duration).max())
    times = np.arange(max(horizon, int(steps.times[-1])) + 1, dtype=np.float64)
    prices = np.repeat(steps.prices, np.diff(steps.times).astype(np.int64))
    prices = np.pad(prices, (int(steps.times[0]), len(times) - 1 - int(steps.times[-1])))
    with clock.phase("column generation"):
        _, prices = best_grid_prices(pool, times, prices, starts, clock)
    return certified(step_proof(Prices, whole, times, prices), clock)
