"""Smith's prices prove B2, up to the grid."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.bounds.outcome import step_proof
from gadgetopt.models.a_srpt.proving.bounds.smith_prices import SmithPrices
from gadgetopt.models.a_srpt.proving.certificate.check import (
    PreemptivePrices,
    Prices,
    proved,
)
from gadgetopt.models.a_srpt.relaxations import busy_time_bound, pool_of

from ...rigid_jobs import (
    instance_of,
    random_jobs,
)


def test_prices_of_two_jobs_on_one_gpu():
    # (r, d, w) = (0, 2, 1), (1, 1, 3): the second runs 1-2, the first 0-1 and 2-3 at density 1/2.
    prices = SmithPrices(np.array([0.0, 1]), np.array([2.0, 1]), np.array([1.0, 3]), 1.0)
    assert prices.on(np.array([0.0, 1, 2, 3, 4])).tolist() == [1.25, 2.0, 0.25, 0.0]


@pytest.mark.parametrize("seed", range(10))
def test_on_a_fine_grid_they_prove_b2(seed):
    rng = np.random.default_rng(seed)
    jobs = [(20 * r, g, 20 * d, w) for r, g, d, w in random_jobs(rng, 12, 4)]
    instance = instance_of((4,), jobs)
    pool = pool_of(instance)
    smith = SmithPrices(
        pool.release.astype(float), pool.work.astype(float), pool.weight.astype(float), 4.0
    )
    times = np.arange(float(pool.release.max() + pool.work.sum()))
    bounds = [
        proved(instance, step_proof(kind, pool, times, smith.on(times)))
        for kind in (PreemptivePrices, Prices)
    ]
    assert Fraction(99, 100) * busy_time_bound(pool) <= bounds[0] <= bounds[1]
