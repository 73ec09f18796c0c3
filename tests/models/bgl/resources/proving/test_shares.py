"""Parametric search, and shadow prices."""

from fractions import Fraction

import numpy as np
from hypothesis import given

from gadgetopt.models.bgl.resources.data.generate.presets import copy_heavy, paper
from gadgetopt.models.bgl.resources.evaluate import evaluate
from gadgetopt.models.bgl.resources.proving.shares import allocation, least_time, shadow_prices

from ..brute_force import optimum, run, small_instances
from ..test_evaluate import H3


@given(small_instances())
def test_the_least_time_is_that_of_all_allocations(instance):
    best = least_time(instance)
    assert best == optimum(instance)
    if best is not None:
        assert evaluate(instance, allocation(instance, best)).objective == best
        assert allocation(instance, best - Fraction(1, 10**20)) is None


def test_instances_of_the_papers_size_agree_with_enumeration():
    for draw in (paper, copy_heavy):
        for seed in range(5):
            instance = draw(np.random.default_rng(seed))
            assert least_time(instance) == run(instance, "brute_force").objective


def test_a_shadow_price_is_what_one_more_share_saves():
    # A ninth core of the worker goes to the cache: 6/4 and 4/5 + 0.2 + 3/4 = 1.75. A seventh unit
    # goes to features: 1.2 + 3/5 = 1.8. More cores of the store change nothing.
    assert shadow_prices(H3) == {
        "store_cores": 0,
        "worker_cores": Fraction("0.2"),
        "pcie_units": Fraction("0.15"),
    }
