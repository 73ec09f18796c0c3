"""Schedules in the order of prices: feasible, above their own bound, and close to it."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import (
    low_load,
    overload,
    quickstart,
)
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.proving.bounds.price_guided import price_guided
from gadgetopt.models.a_srpt.proving.certificate.check import check_bound
from gadgetopt.system.result import Limits

from ...rigid_jobs import H3


def interval(instance, limits=None):
    outcome = price_guided(instance, limits or Limits(), np.random.default_rng(0), steps=2000)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == outcome.claimed_objective
    bound = check_bound(instance, outcome.certificate)
    assert bound <= evaluation.objective
    return float(evaluation.objective / bound)


def test_h3_is_optimal_and_proved():
    # J2 and J3 start at 1, J1 at 3: 3 + 3 + 7.
    assert interval(H3) == 1.0


@pytest.mark.parametrize(
    ("preset", "size", "most"),
    [(quickstart, {}, 1.25), (low_load, {"jobs": 100}, 1.05), (overload, {"jobs": 200}, 1.1)],
)
def test_schedules_are_close_to_their_bound(preset, size, most):
    assert interval(preset(np.random.default_rng(1), **size)) <= most


def test_a_short_time_limit_still_gives_a_schedule_and_a_bound():
    instance = overload(np.random.default_rng(2), jobs=100)
    assert interval(instance, Limits(time_s=0.01)) >= 1
