"""B0, B1 and B2 in whole numbers."""

from fractions import Fraction

import numpy as np

from gadgetopt.models.a_srpt.algorithms.virtual_machine import virtual_completions
from gadgetopt.models.a_srpt.relaxations import (
    FRACTION_BITS,
    Pool,
    busy_time_bound,
    fraction_sum,
    lattice_ceiling,
    pool_of,
    preemptive_schedule,
    srpt_bound,
    whole_sum,
)

from .rigid_jobs import instance_of, random_jobs


def slots(release, work, key):
    """Return the job that runs in each microtick, by looking at all jobs every time."""
    left, t, who = list(work), 0, []
    while any(left):
        ready = [j for j in range(len(work)) if left[j] and release[j] <= t]
        j = min(ready, key=lambda j: (key(j, left), j)) if ready else None
        if j is not None:
            left[j] -= 1
        who.append(j)
        t += 1
    return who


def test_preemptive_schedules_agree_with_microtick_by_microtick():
    rng = np.random.default_rng(0)
    for _ in range(30):
        release = rng.integers(0, 15, 6).tolist()
        work = rng.integers(1, 9, 6).tolist()
        rank = rng.permutation(6).tolist()
        completion, _ = preemptive_schedule(release, work)
        who = slots(release, work, lambda j, left: left[j])
        ends = [len(who) - who[::-1].index(j) for j in range(6)]
        assert sum(completion) == sum(ends)
        completion, squares = preemptive_schedule(release, work, rank)
        who = slots(release, work, lambda j, _, rank=rank: rank[j])
        for j in range(6):
            ticks = [t for t, i in enumerate(who) if i == j]
            assert completion[j] == ticks[-1] + 1
            assert squares[j] == sum(2 * t + 1 for t in ticks)


def test_the_virtual_machine_of_the_algorithm_has_the_same_sum_of_completions():
    rng = np.random.default_rng(1)
    for _ in range(20):
        release = rng.integers(0, 50, 20).tolist()
        work = rng.integers(1, 30, 20).tolist()
        completion, _ = preemptive_schedule(release, work)
        assert sum(completion) == sum(virtual_completions(release, work))


def test_a_batch_of_unit_jobs_has_the_bound_of_smiths_rule():
    # All released at 0: by falling w / v the second job ends at 1, the first at 3.
    pool = pool_of(instance_of((1,), [(0, 1, 2, 1), (0, 1, 1, 3)]))
    assert busy_time_bound(pool) == 3 * 1 + 1 * 3
    assert srpt_bound(pool) == 1 + 3


def test_b1_of_weighted_jobs_counts_the_least_weight():
    pool = pool_of(instance_of((1,), [(0, 1, 2, Fraction(1, 2)), (0, 1, 1, 3)]))
    assert srpt_bound(pool) == Fraction(1, 2) * (1 + 3)


def test_long_sums_of_fractions_are_rounded_down_a_little():
    exact = fraction_sum({3: 1, 7: 2})
    assert exact == Fraction(1, 3) + Fraction(2, 7)
    primes = [p for p in range(2, 4000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    rounded = fraction_sum(dict.fromkeys(primes, 1))
    total = sum(1 / p for p in primes)
    assert rounded.denominator <= 2**FRACTION_BITS
    assert abs(float(rounded) - total) < 1e-9


def test_sums_beyond_64_bits_are_exact():
    assert whole_sum(np.full(10, 2**61, dtype=np.int64)) == 10 * 2**61
    assert whole_sum(np.array([-5, 3], dtype=np.int64)) == -2


def test_the_lattice_is_that_of_the_weights():
    jobs = [(0, 1, 1, Fraction(3, 2)), (0, 1, 1, Fraction(9, 4))]
    pool = pool_of(instance_of((1,), jobs))
    assert lattice_ceiling(pool, Fraction(1)) == Fraction(3, 2)
    assert lattice_ceiling(pool, Fraction(3, 2)) == Fraction(3, 2)


def test_pool_has_the_shortest_durations():
    rng = np.random.default_rng(3)
    pool = pool_of(instance_of((2, 2), random_jobs(rng, 8, 4), gradient=1))
    assert isinstance(pool, Pool)
    assert (pool.work == pool.gpus * pool.duration).all()
