"""Prices of GPU-time: limits, samples, weights, and certificates of many jobs."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.data.generate.presets import pool
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.models.a_srpt.proving.bounds import price
from gadgetopt.models.a_srpt.proving.bounds.ascent import FloatPool, pool_prices
from gadgetopt.models.a_srpt.proving.bounds.list_schedule import listed
from gadgetopt.models.a_srpt.proving.bounds.outcome import step_proof
from gadgetopt.models.a_srpt.proving.bounds.price import price_bound, prices_at_moments
from gadgetopt.models.a_srpt.proving.bounds.time_indexed import time_indexed_bound
from gadgetopt.models.a_srpt.proving.bounds.transportation import transportation_bound
from gadgetopt.models.a_srpt.proving.certificate.check import (
    Prices,
    check_bound,
    proved,
)
from gadgetopt.models.a_srpt.relaxations import busy_time_bound, pool_of
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...rigid_jobs import (
    instance_of,
    pool_optimum,
    random_jobs,
)


def priced_starts(instance: ASrptInstance, intervals: int = 128, iterations: int = 40) -> Floats:
    """Return where each job starts under good prices, in ticks, shape (jobs,).

    In this order, list scheduling of the pool comes within about one percent of the bound.
    """
    pool = FloatPool.of(pool_of(instance))
    _, found = pool_prices(pool, intervals, iterations, 5000, Clock())
    return found.starts


RNG = np.random.default_rng(0)


def bound(instance, limits=None, **parameters):
    outcome = price_bound(instance, limits or Limits(), **parameters)
    return proved(instance, outcome.certificate.proof)


def many(count=600, load=3.0):
    return pool(np.random.default_rng(0), jobs=count, load=load)


def test_without_time_some_bound_is_proved():
    outcome = price_bound(many(), Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert check_bound(many(), outcome.certificate) > 0


def test_a_sample_of_the_jobs_costs_little_of_the_bound():
    instance = many()
    sampled = bound(instance, sample=100, polished=0)
    assert sampled >= Fraction(99, 100) * bound(instance)
    assert sampled >= busy_time_bound(pool_of(instance))


def test_column_generation_only_raises_the_bound():
    instance = many(200)
    assert bound(instance, polished=0) <= bound(instance)


def test_in_the_order_of_prices_a_list_schedule_is_close_to_the_bound():
    instance = many()
    jobs = pool_of(instance)
    starts = listed(jobs, priced_starts(instance))
    value = float((starts + jobs.duration) @ jobs.weight) / jobs.weight_scale
    assert value <= 1.09 * float(bound(instance))


def test_fractional_weights():
    rng = np.random.default_rng(4)
    instance = instance_of((3,), random_jobs(rng, 5, 3, (Fraction(1, 3), Fraction(5, 2))))
    outcome = price_bound(instance, Limits())
    assert check_bound(instance, outcome.certificate) <= pool_optimum(instance)


@pytest.mark.parametrize("method", [transportation_bound, time_indexed_bound])
def test_programs_that_are_too_large_are_refused(method):
    jobs = [(0, 1, 10**7, 1)]
    with pytest.raises(ModelRefused, match="make more than"):
        called(method, instance_of((1,), jobs), Limits(), RNG)


def at_moments(instance, order_by):
    jobs = pool_of(instance)
    return proved(instance, step_proof(Prices, jobs, *prices_at_moments(jobs, order_by, Clock())))


@pytest.mark.parametrize("seed", range(8))
def test_prices_at_moments_are_a_bound_whatever_the_order(seed):
    rng = np.random.default_rng(seed)
    instance = instance_of((4,), random_jobs(rng, 5, 4))
    assert 0 < at_moments(instance, rng.permutation(5)) <= pool_optimum(instance)


def test_moments_of_a_schedule_prove_more_than_as_many_equal_intervals():
    """One job in a thousand ticks is far from where equal intervals begin."""
    instance = instance_of((4,), [(0, 4, 1000, 1), (1001, 4, 3, 1), (1002, 4, 2, 1)])
    assert at_moments(instance, np.array([0, 1, 2])) == 1000 + 1004 + 1006
    assert bound(instance, intervals=4) < 1000 + 1004 + 1006


def test_too_many_moments_are_left_out(monkeypatch):
    monkeypatch.setattr(price, "MOST_MOMENTS", 10)
    jobs = pool_of(many(20))
    assert prices_at_moments(jobs, jobs.release, Clock()) is None
