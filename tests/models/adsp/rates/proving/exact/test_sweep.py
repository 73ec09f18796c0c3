"""The threshold sweep: exact, and at any size within time."""

import numpy as np
import pytest

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.models.adsp.rates.proving.exact.sweep import sweep
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, Status, Voucher

from ...brute_force import (
    changed,
    run,
    tiny,
)


def test_the_decision_is_the_hand_checked_one():
    assert sweep(tiny("a2_window_of_two"), Clock()).commits.tolist() == [9, 9, 7]
    assert sweep(tiny("a5_cap_binds"), Clock()).commits.tolist() == [5, 5, 2]


@pytest.mark.parametrize("model", ["error_bound", "time_to_accuracy"])
def test_thousands_of_workers_are_closed_with_a_certificate(model):
    instance = uniform(np.random.default_rng(0), workers=2000, model=model)
    result = run(instance, "exact_rates")
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.VERIFIED


def test_a_wider_window_and_a_larger_cap_never_hurt():
    instance = uniform(np.random.default_rng(5), workers=30, cap_per_worker=6)
    values = [
        sweep(changed(instance, fairness_window=window, commit_cap=cap), Clock()).value
        for window, cap in ((0, 180), (2, 180), (6, 180), (None, 180), (None, 400), (None, None))
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1]


def test_without_time_it_returns_a_decision_and_no_bound():
    instance = uniform(np.random.default_rng(0), workers=50)
    result = run(instance, "exact_rates", time_s=0.0)
    assert result.limit_hit == "time_s"
    assert result.bound is None
    assert not sweep(instance, Clock(Limits(time_s=0.0))).complete
