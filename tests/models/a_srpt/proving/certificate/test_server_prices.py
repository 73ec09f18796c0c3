"""Prices of parts of servers, against every start and every partition."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.bounds.price import price_bound
from gadgetopt.models.a_srpt.proving.bounds.server_price import server_price_bound
from gadgetopt.models.a_srpt.proving.certificate.check import proved
from gadgetopt.models.a_srpt.proving.certificate.price_checks import StepPrices
from gadgetopt.models.a_srpt.proving.certificate.price_checks import price_bound as bound_of_prices
from gadgetopt.models.a_srpt.proving.certificate.server_prices import bound_of_parts as checked
from gadgetopt.models.a_srpt.proving.server_costs import (
    PartPrices,
    cheapest,
    collected,
    servers_of,
)
from gadgetopt.models.a_srpt.relaxations import pool_of, whole_sum
from gadgetopt.system.result import Limits

from ...rigid_jobs import (
    cluster_optimum,
    instance_of,
    random_jobs,
)


def random_parts(rng, capacities):
    times = np.unique(np.append(rng.integers(0, 25, 5), [0, 9])).astype(np.int64)
    tables = tuple(rng.integers(0, 9, (c, len(times) - 1)) for c in capacities)
    return PartPrices(times, tables, 4)


def bound_of_parts(instance, parts):
    """Return the check's bound of prices in arrays."""
    tables = [table.tolist() for table in parts.tables]
    return checked(instance, parts.times.tolist(), tables, parts.denominator)


def bound_of_search(instance, parts):
    """Return the bound by the functions with which the search finds prices, in whole numbers."""
    servers = servers_of(instance)
    costs = cheapest(servers, parts, np.int64)
    total = sum(whole_sum(cost) for _, cost, _, _ in costs)
    for c, count, table in zip(servers.capacities, servers.counts, parts.tables, strict=True):
        charged = collected(c, table)[-1] @ np.diff(parts.times)
        total -= servers.pool.weight_scale * count * int(charged)
    return Fraction(total, parts.denominator * servers.pool.weight_scale)


def partitions(g, largest):
    if g == 0:
        yield ()
    for q in range(min(g, largest), 0, -1):
        for rest in partitions(g - q, q):
            yield (q, *rest)


def plain_bound(instance, parts):
    """Return the bound by looking at all whole starts and partitions; no heed to speed."""
    servers, pool = servers_of(instance), pool_of(instance)
    horizon = int(parts.times[-1])
    of_tick = np.repeat(np.arange(len(parts.times) - 1), np.diff(parts.times))
    price = [
        np.concatenate([table[:, of_tick], np.zeros((len(table), 60), dtype=int)], axis=1)
        for table in parts.tables
    ]
    total = Fraction(0)
    for j, job in enumerate(instance.jobs):
        r, g = job.release_tick, int(pool.gpus[j])
        options = []
        for sizes in partitions(g, servers.capacities[-1]):
            if len(sizes) > 1 and instance.num_servers == 1:
                continue
            d = int(pool.duration[j] if len(sizes) == 1 else servers.split_ticks[j])
            for s in range(r, max(r, horizon) + 1):
                paid = sum(
                    min(int(t[q - 1, s : s + d].sum()) for t in price if q <= len(t)) for q in sizes
                )
                options.append(job.weight * (s + d) + Fraction(paid, parts.denominator))
        total += min(options)
    for c, count, table in zip(servers.capacities, servers.counts, price, strict=True):
        for t in range(horizon):
            patterns = (
                p
                for n in range(c + 1)
                for p in combinations_with_replacement(range(1, c + 1), n)
                if sum(p) <= c
            )
            most = max(sum(int(table[q - 1, t]) for q in p) for p in patterns)
            total -= Fraction(count * most, parts.denominator)
    return total


@pytest.mark.parametrize("seed", range(10))
def test_bounds_of_parts_are_those_of_every_start_and_partition(seed):
    rng = np.random.default_rng(seed)
    gpus = [(3, 3), (2, 4), (4,), (1, 2, 3)][seed % 4]
    instance = instance_of(gpus, random_jobs(rng, 5, min(5, sum(gpus))), Fraction(1, 2))
    parts = random_parts(rng, sorted(set(gpus)))
    assert bound_of_parts(instance, parts) == plain_bound(instance, parts)


@pytest.mark.parametrize("seed", range(100))
def test_the_check_and_the_search_compute_the_same_bound(seed):
    rng = np.random.default_rng(seed)
    gpus = [(3, 3), (2, 4), (6,), (1, 2, 3), (2, 2, 2, 2), (1, 8)][seed % 6]
    jobs = random_jobs(rng, 12, min(8, sum(gpus)))
    instance = instance_of(gpus, jobs, Fraction(1, 2), 100, 16)
    parts = random_parts(rng, sorted(set(gpus)))
    assert bound_of_parts(instance, parts) == bound_of_search(instance, parts)


def test_random_prices_of_parts_never_prove_more_than_the_optimum():
    rng = np.random.default_rng(7)
    for gpus in ((2, 2), (3, 1)):
        instance = instance_of(gpus, random_jobs(rng, 4, 4), 1)
        capacities, optimum = sorted(set(gpus)), cluster_optimum(instance)
        for _ in range(60):
            assert bound_of_parts(instance, random_parts(rng, capacities)) <= optimum


def test_prices_in_proportion_prove_at_least_what_gpu_time_proves():
    rng = np.random.default_rng(8)
    for _ in range(20):
        instance = instance_of((4, 4), random_jobs(rng, 6, 6), 1)
        times = np.array([0, 4, 9, 15])
        prices = rng.integers(0, 5, 3)
        table = np.outer(np.arange(1, 5), prices)
        parts = bound_of_parts(instance, PartPrices(times, (table,), 4))
        assert parts >= bound_of_prices(pool_of(instance), StepPrices(times, prices, 4))


def test_numbers_beyond_64_bits_give_the_same_bound():
    rng = np.random.default_rng(9)
    instance = instance_of((3, 2), random_jobs(rng, 5, 5), 1)
    parts = random_parts(rng, (2, 3))
    huge = PartPrices(
        parts.times, tuple(t.astype(object) * 10**30 for t in parts.tables), 4 * 10**30
    )
    assert bound_of_parts(instance, huge) == bound_of_parts(instance, parts)


def test_a_server_collects_the_best_pattern():
    table = np.array([[1, 0], [3, 0], [3, 5]])
    assert [best.tolist() for best in collected(3, table)] == [[0, 0], [1, 0], [3, 0], [4, 5]]


def test_five_of_eight_gpus_cost_a_whole_server_where_splitting_is_slow():
    # Six jobs of five GPUs on two servers of eight take d = 5 ticks, split 16. Whole, each server
    # runs one at a time: 2 (1 + 2 + 3) d. By GPU-time three fit at once: 3 (1 + 2) d.
    instance = instance_of((8, 8), [(0, 5, 4, 1)] * 6, Fraction(15, 4), 100, 16)
    servers = servers_of(instance)
    assert (servers.split_ticks >= 3 * servers.pool.duration).all()
    of_gpus = proved(instance, price_bound(instance, Limits()).certificate.proof)
    of_parts = proved(instance, server_price_bound(instance, Limits()).certificate.proof)
    d = int(servers.pool.duration[0])
    assert of_gpus <= Fraction(3, 4) * 12 * d
    assert Fraction(99, 100) * 12 * d <= of_parts <= 12 * d
