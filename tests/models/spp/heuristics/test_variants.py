"""SPP with one step changed, and what former spellings are called now."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.data.generate.presets import arbitrary
from gadgetopt.models.spp.evaluate import evaluate
from gadgetopt.models.spp.heuristics.other_orders import device_orders, spp_order
from gadgetopt.models.spp.heuristics.other_ties import spp_by_bound
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..brute_force import e1, e2, small_instance


def test_the_least_bound_of_plans_of_one_load_finds_the_shorter_iteration():
    assert spp(e1(), Limits()).claimed_objective == 44
    assert spp_by_bound(e1(), Limits()).claimed_objective == 38


def test_the_order_of_the_gpus_matters():
    def run(**parameters):
        return spp_order(e2(), Limits(), **parameters).claimed_objective

    assert run() == run(order="natural") == 42 + Fraction(2, 3)
    assert run(order="list", gpu_order="0,2,1,3") == 35 + Fraction(1, 6)
    assert run(order="best_of_all") == 35 + Fraction(1, 6)


@pytest.mark.parametrize("seed", range(15))
def test_what_is_claimed_is_what_the_evaluator_finds(seed):
    instance = small_instance(np.random.default_rng(seed))
    for found in (spp_by_bound(instance, Limits()), spp_order(instance, Limits())):
        if found.solution is not None:
            evaluation = evaluate(instance, found.solution)
            assert evaluation.feasible
            assert evaluation.objective == found.claimed_objective


def test_an_order_can_be_given():
    assert list(device_orders(e2(), "natural")) == [(0, 1, 2, 3)]
    assert list(device_orders(e2(), "list", "3, 1,0,2")) == [(3, 1, 0, 2)]
    for text in ("", "0,1,2", "0,1,2,2", "0,1,2,x"):
        with pytest.raises(ModelRefused, match="gpu_order"):
            list(device_orders(e2(), "list", text))


def test_all_orders_are_tried_once_for_each_sort_of_links():
    assert list(device_orders(e1(), "best_of_all")) == [(0, 1)]
    # Two pairs of fast links: 3 of the 24 orders differ in where the pairs are.
    assert len(list(device_orders(e2(), "best_of_all"))) == 3
    large = arbitrary(np.random.default_rng(0), gpus=9)
    with pytest.raises(ModelRefused, match="9 GPUs, expected at most 8"):
        list(device_orders(large, "best_of_all"))


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("spp:tie_break=bound", "spp_by_bound"),
        ("spp:order=best_of_all", "spp_order"),
        ("spp:order=rdo", "spp"),
    ],
)
def test_a_former_spelling_says_what_it_is_called_now(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("spp"), former)
