"""Bounds are below the optimum, in order, and each is re-proved from its certificate."""

import numpy as np
import pytest
from hypothesis import given

from gadgetopt.models.parallel_machines.data.generate.presets import uniform
from gadgetopt.models.parallel_machines.proving.bounds.patterns import (
    Demand,
    best_pattern,
    pack_fractionally,
)
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...brute_force import instance_of, optimum, run, small_instances


@given(instance=small_instances())
def test_bounds_are_in_order_and_verified(instance):
    best = optimum(instance)
    below = 0
    for method in ("combinatorial", "dual_feasible", "pattern_bound"):
        found = run(instance, method)
        assert found.bound_voucher == "verified", found.reason
        assert below <= found.bound <= best
        below = found.bound


def test_functions_see_what_counting_does_not():
    # 33 s in all are 11 s a machine, and the next sum of jobs is 12 = 4 * 3. Into 12 goes one 7
    # with one 3, so that three machines with a 7 leave one 3 over.
    instance = instance_of(3, 7, 7, 7, 3, 3, 3, 3)
    assert run(instance, "combinatorial").bound == 12
    assert run(instance, "dual_feasible").bound == 13


def test_prices_see_what_functions_do_not():
    # With 7, 5, 3 and 2 worth 3, 2, 1 and 1 a machine of 11 collects 4 at most, and all are worth
    # 13 > 3 * 4: no 11, although 32 s in all are less than 33.
    instance = instance_of(3, 7, 7, 5, 5, 3, 3, 2)
    assert run(instance, "dual_feasible").bound == 11
    found = run(instance, "pattern_bound")
    assert found.bound == 12 == optimum(instance)
    assert found.certificate.proof.prices == (60, 40, 20, 20)


def test_column_generation_finds_the_best_pattern_and_says_what_fits():
    demand = Demand((7, 3), (3, 4), 3)
    assert best_pattern(demand, np.array([2.0, 1.0]), 12) == ((0, 4), 4.0)
    assert best_pattern(demand, np.array([2.0, 1.0]), 13) == ((1, 2), 4.0)
    for capacity, fits in ((12, False), (13, True)):
        found = pack_fractionally(demand, capacity, {}, Clock())
        assert found.fits is fits
    assert pack_fractionally(demand, 13, {}, Clock(Limits(time_s=0.0))).fits is None


@pytest.mark.parametrize("method", ["combinatorial", "dual_feasible", "pattern_bound"])
def test_bounds_of_large_instances_are_verified(method):
    instance = uniform(np.random.default_rng(1), jobs=60, machines=25, longest_s=1000)
    found = run(instance, method)
    assert found.bound_voucher == "verified"
    assert found.bound <= run(instance, "local_search").objective


def test_numbers_too_large_for_patterns_are_refused():
    instance = uniform(np.random.default_rng(0), jobs=30, machines=10, longest_s=10**9)
    assert run(instance, "combinatorial").bound_voucher == "verified"
    assert run(instance, "pattern_bound").refused
