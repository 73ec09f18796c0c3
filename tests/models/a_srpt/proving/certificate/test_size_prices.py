"""Prices by size of job, against every start and everything that may run together."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.bounds import size_prices as search
from gadgetopt.models.a_srpt.proving.bounds.price import price_bound
from gadgetopt.models.a_srpt.proving.bounds.size_prices import SizeProgram, size_price_bound
from gadgetopt.models.a_srpt.proving.certificate import price_checks, size_prices
from gadgetopt.models.a_srpt.proving.certificate.check import (
    Prices,
    SizePrices,
    check_bound,
    proved,
)
from gadgetopt.models.a_srpt.proving.certificate.price_checks import StepPrices
from gadgetopt.models.a_srpt.proving.certificate.price_checks import price_bound as bound_of_prices
from gadgetopt.models.a_srpt.proving.certificate.size_prices import (
    bound_of_sizes,
    most_paid,
    sizes_in_time,
    takes_long,
)
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.system.result import Limits

from ...rigid_jobs import H3, fragmented, instance_of, pool_optimum, random_jobs


def random_prices(rng, sizes):
    times = np.unique(np.append(rng.integers(0, 25, 5), [0, 9])).tolist()
    tables = rng.integers(0, 9, (2, sizes, len(times) - 1)).tolist()
    return times, *tables


def plain_bound(pool, times, in_time, late, denominator):
    """Return the bound by whole starts tick by tick, and by all sets of jobs; no heed to speed."""
    sizes = sorted(set(pool.gpus.tolist()))
    jobs = list(zip(*(x.tolist() for x in (pool.release, pool.duration, pool.gpus)), strict=True))

    def price(job, tick):
        r, d, g = job
        k = sum(t <= tick for t in times) - 1
        if not 0 <= k < len(times) - 1:
            return 0
        throughout = r <= times[k] and times[k + 1] <= r + d
        return (in_time if throughout else late)[sizes.index(g)][k]

    total, scale = 0, pool.weight_scale
    for job, w in zip(jobs, pool.weight.tolist(), strict=True):
        r, d, _ = job
        total += min(
            denominator * w * (s + d) + scale * sum(price(job, t) for t in range(s, s + d))
            for s in range(r, max(r, times[-1]) + 1)
        )
    for tick in range(times[0], times[-1]):
        end = next(t for t in times if t > tick)
        there = [job for job in jobs if job[0] < end]
        total -= scale * max(
            sum(price(job, tick) for job, here in zip(there, chosen, strict=True) if here)
            for chosen in product((0, 1), repeat=len(there))
            if sum(g for (_, _, g), here in zip(there, chosen, strict=True) if here)
            <= pool.total_gpus
        )
    return Fraction(total, denominator * scale)


@pytest.mark.parametrize("seed", range(25))
def test_the_check_is_the_definition_and_no_more_than_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = instance_of((2, 2), random_jobs(rng, 5, 4, (1, Fraction(1, 2), 2)))
    pool = pool_of(instance)
    prices = random_prices(rng, len(set(pool.gpus.tolist())))
    bound = bound_of_sizes(pool, *prices, 4)
    assert bound == plain_bound(pool, *prices, 4)
    assert bound <= pool_optimum(instance)


@pytest.mark.parametrize("seed", range(6))
def test_large_numbers_are_exact(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(instance_of((2, 2), random_jobs(rng, 5, 4)))
    times, *tables = random_prices(rng, len(set(pool.gpus.tolist())))
    huge = [[[10**30 * p for p in row] for row in table] for table in tables]
    small = bound_of_sizes(pool, times, *tables, 3)
    assert bound_of_sizes(pool, times, *huge, 3 * 10**30) == small


@pytest.mark.parametrize("seed", range(10))
def test_prices_in_proportion_prove_no_less_than_prices_of_gpu_time(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(instance_of((3, 3), random_jobs(rng, 6, 4)))
    times = np.array([0, 3, 7, 12])
    prices = rng.integers(0, 5, 3)
    table = [[q * p for p in prices.tolist()] for q in sorted(set(pool.gpus.tolist()))]
    of_gpus = bound_of_prices(pool, StepPrices(times, prices, 4))
    assert bound_of_sizes(pool, times.tolist(), table, table, 4) >= of_gpus


@pytest.mark.parametrize("seed", range(20))
def test_the_search_counts_what_may_run_together_as_the_check_does(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(instance_of((2, 2), random_jobs(rng, 6, 4)))
    times = np.union1d(rng.integers(0, 14, 6), pool.release[: seed % 7])
    times = np.union1d(times, [0, int((pool.release + pool.duration).max())])
    sizes, in_time, counts = sizes_in_time(pool, times)
    program = SizeProgram(pool, times)
    assert np.array_equal(program.counts, counts)
    assert np.array_equal(program.item < len(sizes), in_time)


@pytest.mark.parametrize("seed", range(20))
def test_knapsacks_with_bounds_are_those_of_all_choices(seed):
    rng = np.random.default_rng(seed)
    sizes, gpus = rng.integers(1, 5, 3), 9
    counts, prices = rng.integers(0, 6, (3, 4)), rng.integers(0, 7, (3, 4))
    best = most_paid(gpus, sizes, counts, prices)
    for k in range(4):
        choices = product(*(range(n + 1) for n in counts[:, k].tolist()))
        paid = [int(prices[:, k] @ n) for n in choices if sizes @ n <= gpus]
        assert best[k] == max(paid)


@pytest.mark.parametrize("blocks_of", [1, 10**6])
def test_knapsacks_are_looked_at_in_blocks_with_as_many_gpus_as_jobs_have(blocks_of, monkeypatch):
    monkeypatch.setattr(price_checks, "BLOCK", blocks_of)
    rng = np.random.default_rng(0)
    sizes, counts = np.array([3, 5]), rng.integers(0, 4, (2, 6))
    prices = rng.integers(0, 9, (2, 6))
    everything = (counts * prices).sum(axis=0)
    assert np.array_equal(most_paid(10**9, sizes, counts, prices), everything)
    assert most_paid(10**9, sizes, counts, prices.astype(object)).tolist() == everything.tolist()
    written = 6 * (int((sizes @ counts).max()) + 1) * (2 + 2)
    monkeypatch.setattr(size_prices, "MOST_WRITTEN", 3 * written)
    assert not takes_long(10**9, sizes, counts, 3)
    assert takes_long(10**9, sizes, counts, 4)
    assert takes_long(10**9, sizes[:1], np.array([[10**8]]))


def test_certificates_that_take_too_long_are_refused_and_not_made(monkeypatch):
    instance = instance_of((2, 2), [(0, 1, 40, 10), *[(0, 2, 10, 1)] * 3])
    found = size_price_bound(instance, Limits())
    proof = found.certificate.proof
    assert isinstance(proof, SizePrices)
    monkeypatch.setattr(size_prices, "MOST_WRITTEN", 1)
    with pytest.raises(ValueError, match="intervals are too many for the pool to check"):
        proved(instance, proof)
    monkeypatch.setattr(search, "MOST_PIECES", 1)
    assert isinstance(size_price_bound(instance, Limits()).certificate.proof, Prices)


@pytest.mark.parametrize("seed", range(20))
def test_the_search_makes_none_that_the_check_refuses(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    pool = pool_of(instance_of((2, 2), random_jobs(rng, 6, 4)))
    program = SizeProgram(pool, np.unique(np.append(rng.integers(0, 14, 6), [0, 40])))
    given = pool.total_gpus, program.sizes, program.counts
    for most in range(0, 400, 3):
        monkeypatch.setattr(size_prices, "MOST_WRITTEN", most)
        monkeypatch.setattr(search, "MOST_PIECES", most)
        assert program.is_too_large or not takes_long(*given)


@pytest.mark.parametrize("seed", range(12))
def test_the_method_proves_no_more_than_the_optimum_and_no_less_than_b5(seed):
    instance = fragmented(seed)
    found = size_price_bound(instance, Limits())
    bound = check_bound(instance, found.certificate)
    assert bound <= pool_optimum(instance)
    before = price_bound(instance, Limits()).certificate
    assert proved(instance, found.certificate.proof) >= proved(instance, before.proof)


def test_a_long_small_job_leaves_no_room_for_a_whole_large_one():
    # Of four GPUs an urgent job takes one from 0 to 40, so jobs of two GPUs and 10 ticks run one
    # after the other: 10 * 40 + 10 + 20 + 30. By GPU-time alone, 1.5 of them run at a time.
    jobs = [(0, 1, 40, 10), *[(0, 2, 10, 1)] * 3]
    instance = instance_of((2, 2), jobs)
    assert pool_optimum(instance) == 460
    before = check_bound(instance, price_bound(instance, Limits()).certificate)
    bound = check_bound(instance, size_price_bound(instance, Limits()).certificate)
    assert before < bound == 460


def test_rows_are_those_of_the_sizes():
    row = ((1,),)
    proof = SizePrices(times=(0, 1), denominator=1, in_time=row * 3, late=row)
    with pytest.raises(ValueError, match="late: 1 rows, expected 3, one for each size"):
        proved(H3, proof)
    with pytest.raises(ValueError, match=r"late\[0\]: 2 prices, expected one for each"):
        SizePrices(times=(0, 1), denominator=1, in_time=row, late=((1, 1),))
