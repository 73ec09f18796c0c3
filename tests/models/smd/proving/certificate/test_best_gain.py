"""The largest utility less price of a pair, against enumeration: never below it, and close."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.smd.data.generate.presets import planted
from gadgetopt.models.smd.evaluate import evaluate
from gadgetopt.models.smd.instance import Allocation, SmdInstance, SmdSolution
from gadgetopt.models.smd.proving.certificate import best_gain
from gadgetopt.models.smd.proving.certificate.best_gain import gain_above, pairs_above
from gadgetopt.numbers.exact import ROUNDING, rationals
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.utility import SigmoidUtility, sigmoid_above

from ...brute_force import MOST, small_job


def enumerated(job, prices, used):
    """Largest utility less price over all pairs, by the evaluator."""
    instance = SmdInstance(
        resources=tuple("abc"[: len(prices)]), capacity=(1e9,) * len(prices), jobs=(job,)
    )
    best = 0.0
    for w, p in itertools.product(range(1, MOST + 1), repeat=2):
        given = Allocation(admit=True, num_workers=w, num_ps=p)
        found = evaluate(instance, SmdSolution(jobs=(given,)))
        if not found.feasible:
            continue
        amounts = (
            [a * w + b * p for a, b in zip(job.worker_demand, job.ps_demand, strict=True)]
            if used
            else job.reservation_limit
        )
        paid = sum(float(y) * x for y, x in zip(prices, amounts, strict=True))
        best = max(best, found.objective - paid)
    return best


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_best_pair_is_found(seed, used):
    rng = np.random.default_rng(seed)
    job = small_job(rng, 1 + seed % 3, 1.0)
    size = job.utility.gamma1
    for scale in (0.0, 0.01, 0.1):
        prices = tuple(Fraction(float(rng.uniform(0, scale * size))) for _ in job.worker_demand)
        best = enumerated(job, prices, used)
        found = gain_above(job, prices, used=used)
        assert best * (1 - 1e-12) <= found <= best * (1 + 1e-9) + 1e-9 * size


def test_a_search_that_is_cut_short_leaves_a_bound(monkeypatch):
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    prices = (Fraction(1, 1000),) * len(job.worker_demand)
    whole = gain_above(job, prices, used=True)
    monkeypatch.setattr(best_gain, "MOST_BOXES", 5)
    gain_above.cache_clear()
    assert gain_above(job, prices, used=True) >= whole
    gain_above.cache_clear()


def test_a_job_that_is_always_late_is_worth_nothing():
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    late = job.model_copy(update={"utility": SigmoidUtility(gamma1=1.0, gamma2=1e9, gamma3=1e-9)})
    free = (Fraction(0),) * len(job.worker_demand)
    assert gain_above(late, free, used=False) == 0


# -- the same in rationals, pair by pair ----------------------------------------------------------


def time_rounded_down(job, w, p):
    """Completion time in whole parts of the sum of its coefficients, and such a part in seconds."""
    constant, *others = best_gain._coefficients(job)
    part = (constant + sum(others) or 1) / Fraction(2**best_gain.TIME_BITS)
    terms = zip(others, ((w, 1), (p, 1), (w, p), (p, w), (1, w), (1, p)), strict=True)
    return int(constant / part) + sum(int(c / part) * a // b for c, (a, b) in terms), part


def utility_rounded_up(job, w, p):
    """Utility of a pair in whole parts of gamma_1, and such a part."""
    time, seconds = time_rounded_down(job, w, p)
    height, steepness, middle, unit_s = rationals(
        (job.utility.gamma1, job.utility.gamma2, job.utility.gamma3, job.utility.time_unit_s)
    )
    part = height / 2**best_gain.UTILITY_BITS
    above = (1 + ROUNDING) * sigmoid_above(height, steepness, time * seconds / unit_s, middle)
    return -(-above // part), part


def fitting_pairs(job):
    rows = list(zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True))
    exact = [tuple(decimal_rational(x) for x in row) for row in rows]
    every = itertools.product(range(1, MOST + 1), repeat=2)
    return [(w, p) for w, p in every if all(a * w + b * p <= v for a, b, v in exact)]


def rounded_price(prices, amounts, part):
    return sum(y * decimal_rational(x) for y, x in zip(prices, amounts, strict=True)) // part


@pytest.mark.parametrize("seed", range(60))
def test_whole_numbers_give_the_rationals_that_fractions_give(seed):
    rng = np.random.default_rng(seed)
    job = small_job(rng, 1 + seed % 3, [1.0, 0.1, 0.3][seed % 3])
    prices = tuple(Fraction(float(rng.uniform(0, 20))) for _ in job.worker_demand)
    free = (Fraction(0),) * len(prices)
    gains, units = {True: [Fraction(0)], False: [Fraction(0)]}, Fraction(1, 3**20)
    listed = []
    for w, p in fitting_pairs(job):
        utility, part = utility_rounded_up(job, w, p)
        worker, server, limit = (
            rounded_price(prices, x, part)
            for x in (job.worker_demand, job.ps_demand, job.reservation_limit)
        )
        gains[True].append((utility - worker * w - server * p) * part)
        gains[False].append((utility - limit) * part)
        listed.append((w, p, -(-utility * part // units)))
    assert {used: gain_above(job, prices, used=used) for used in gains} == {
        used: max(found) for used, found in gains.items()
    }
    assert sorted(pairs_above(job, free, Fraction(-1), units)) == listed
