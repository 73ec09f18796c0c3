r"""The transportation bound B3: the pool's jobs may be interrupted, but not sped up.

With :math:`y_{jt} \ge 0` the part of job j that is worked off in tick :math:`t \ge r_j`,

.. math::
    \min \sum_j w_j \Big[ \sum_t (t + \tfrac12) y_{jt} + \frac{d_j}{2} \Big] \quad\text{subject to}
    \quad \sum_t y_{jt} = 1, \quad \sum_j g_j d_j y_{jt} \le G, \quad y_{jt} \le \frac{1}{d_j}.

The duals of the capacity are prices that prove it (`PreemptivePrices`), whatever the horizon of the
program.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ASrptInstance
from ...relaxations import (
    Pool,
    pool_of,
)
from ..certificate.check import PreemptivePrices
from .ascent import FloatPool
from .outcome import (
    certified,
    step_proof,
)

#: Variables of the linear program. Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 10**6


@method(kind="relaxation", reference="reconstructed", formulation="transportation", backend="highs")
def transportation_bound(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """B3: linear program of jobs that may be interrupted.

    Raises
    ------
    ModelRefused
        If the linear program would be too large: use `price_bound`.
    """
    clock = Clock(limits)
    pool = pool_of(instance)
    horizon = int(FloatPool.of(pool).horizon)
    if horizon * len(pool.release) > MOST_COLUMNS:
        raise ModelRefused(
            f"{len(pool.release)} jobs in {horizon} ticks make more than {MOST_COLUMNS} variables"
        )
    with clock.phase("linear program"):
        prices = _capacity_duals(pool, horizon, clock)
    if prices is None:
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    times = np.arange(horizon + 1, dtype=np.float64)
    return certified(step_proof(PreemptivePrices, pool, times, prices), clock)


def _capacity_duals(pool: Pool, horizon: int, clock: Clock) -> Floats | None:
    """Return the price of a GPU-tick in every tick; None if time ran out."""
    n = len(pool.release)
    lp = PersistentLp("min")
    lp.add_rows([1.0] * n, [1.0] * n, [0] * n, [], [])
    lp.add_rows([-INFINITY] * horizon, [float(pool.total_gpus)] * horizon, [0] * horizon, [], [])
    for j in range(n):
        ticks = np.arange(int(pool.release[j]), horizon)
        weight = float(pool.weight[j]) / pool.weight_scale
        rows = np.stack([np.full(len(ticks), j), n + ticks], axis=1).ravel()
        values = np.tile([1.0, float(pool.gpus[j] * pool.duration[j])], len(ticks))
        lp.add_columns(
            weight * (ticks + 0.5),
            np.zeros(len(ticks)),
            np.full(len(ticks), 1.0 / float(pool.duration[j])),
            2 * np.arange(len(ticks)),
            rows,
            values,
        )
    if lp.solve(clock.limits()) is not Status.OPTIMAL:
        return None
    return np.maximum(0.0, -lp.row_duals[n:])
