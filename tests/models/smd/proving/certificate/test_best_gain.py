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
from gadgetopt.models.smd.proving.certificate.best_gain import gain_above
from gadgetopt.pieces.utility import SigmoidUtility

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
        prices = [Fraction(float(rng.uniform(0, scale * size))) for _ in job.worker_demand]
        best = enumerated(job, prices, used)
        found = gain_above(job, prices, used=used)
        assert best * (1 - 1e-12) <= found <= best * (1 + 1e-9) + 1e-9 * size


def test_a_search_that_is_cut_short_leaves_a_bound(monkeypatch):
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    prices = [Fraction(1, 1000)] * len(job.worker_demand)
    whole = gain_above(job, prices, used=True)
    monkeypatch.setattr(best_gain, "MOST_BOXES", 5)
    assert gain_above(job, prices, used=True) >= whole


def test_a_job_that_is_always_late_is_worth_nothing():
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    late = job.model_copy(update={"utility": SigmoidUtility(gamma1=1.0, gamma2=1e9, gamma3=1e-9)})
    free = [Fraction(0)] * len(job.worker_demand)
    assert gain_above(late, free, used=False) == 0
