"""The proven ratio holds; the claimed ones are refuted by D1 and D2."""

import pytest

from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.guarantees.ratios import latency_ratio, rounds_ratio
from gadgetopt.models.dapple.proving.bounds.least_bound import least_bound
from gadgetopt.system.result import Limits

from .. import brute_force
from ..chains import D1, D2, drawn

LIMITS = Limits(time_s=60)


@pytest.mark.parametrize("seed", range(25))
def test_the_plan_of_the_least_bound_keeps_its_ratio(seed):
    instance = drawn(seed, duplex="half")
    if instance.options.max_in_flight is not None:
        return
    found = least_bound(instance, LIMITS)
    optimum = brute_force.optimum(instance)
    assert found.claimed_objective <= rounds_ratio(instance, {}) * optimum


def test_the_latency_does_not_rank_plans():
    planned = dapple(D2, LIMITS).claimed_objective
    assert float(planned / 49) == pytest.approx(56.2 / 49)  # claimed: 1


def test_the_latency_is_not_attained():
    for instance, latency, optimum in ((D1, 36.2, 37.2), (D2, 48.0, 49.0)):
        claimed = latency_ratio(instance, {})
        assert claimed == pytest.approx(latency / optimum)
        assert claimed < 1  # no schedule of any plan can keep that
