"""Dynamic programming over states of time finds the pool's optimum, or proves it."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import pool
from gadgetopt.models.a_srpt.proving.exact.pool_program import solve_program
from gadgetopt.models.a_srpt.proving.exact.state_search import StateSearch
from gadgetopt.models.a_srpt.proving.start_costs import better_starts
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...rigid_jobs import (
    instance_of,
    pool_cost,
    pool_optimum,
    random_jobs,
)

MANY = 10**6


def searched(relaxed, prices, below):
    """Return a search for schedules below a cost."""
    return StateSearch(relaxed, better_starts(relaxed, prices, below), below)


@pytest.mark.parametrize("block", range(4))
def test_the_search_agrees_with_enumeration_whatever_the_prices(block):
    for seed in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng(seed)
        weights = (1,) if seed % 2 else (1, 1, 2, 3)
        instance = instance_of((4,), random_jobs(rng, 5, 4, weights))
        relaxed = pool_of(instance)
        optimum = int(pool_optimum(instance) * relaxed.weight_scale)
        for prices in (np.zeros(1), rng.uniform(0, 2, 30)):
            proof = searched(relaxed, prices, optimum)
            assert proof.run(MANY, Clock())
            assert proof.starts is None
            for value in (optimum + 1, optimum + 4):
                search = searched(relaxed, prices, value)
                assert search.run(MANY, Clock())
                assert pool_cost(relaxed, search.starts) == optimum


def test_equal_jobs_of_which_one_start_is_left_share_its_gpus():
    """Two equal jobs and a third at 6 need three GPUs of two; a late one makes it 46, not 45."""
    jobs = [(3, 2, 1, 2), (0, 2, 1, 1), (6, 1, 2, 1), (6, 1, 1, 2), (6, 1, 1, 2)]
    relaxed = pool_of(instance_of((2,), jobs))
    left = better_starts(relaxed, np.zeros(1), 47)
    solved, starts = solve_program(relaxed, left.allowed, Limits(), 0)
    assert round(solved.objective) == pool_cost(relaxed, starts) == 46
    search = searched(relaxed, np.zeros(1), 47)
    assert search.run(MANY, Clock())
    assert pool_cost(relaxed, search.starts) == 46


@pytest.mark.parametrize("unit", [2, 3])
def test_costs_between_multiples_of_the_weights_are_asked_for_rightly(unit):
    """A question about costs below any number leaves every multiple of the unit below it."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        instance = instance_of((4,), random_jobs(rng, 5, 4, (unit, 2 * unit)))
        relaxed = pool_of(instance)
        optimum = int(pool_optimum(instance) * relaxed.weight_scale)
        search = searched(relaxed, rng.uniform(0, 2, 30), optimum + 1)
        assert search.run(MANY, Clock())
        assert pool_cost(relaxed, search.starts) == optimum


def test_costs_of_too_many_digits_are_not_searched():
    relaxed = pool_of(pool(np.random.default_rng(0), jobs=8))
    left = better_starts(relaxed, np.zeros(1), 1000)
    object.__setattr__(left, "spare", 2**60)
    assert not StateSearch(relaxed, left, 1000).run(MANY, Clock())


def test_time_that_is_over_ends_the_search():
    relaxed = pool_of(pool(np.random.default_rng(0), jobs=8))
    left = better_starts(relaxed, np.zeros(1), 1000)
    assert not StateSearch(relaxed, left, 1000).run(MANY, Clock(Limits(time_s=0.0)))
