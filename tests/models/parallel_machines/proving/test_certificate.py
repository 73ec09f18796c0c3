"""Certificates prove true bounds only, and dual feasible functions are dual feasible."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines import counting
from gadgetopt.models.parallel_machines.proving.certificate import (
    DualFeasible,
    MeanLoad,
    ParallelMachinesCertificate,
    Pigeonhole,
    Prices,
    TableTooLarge,
    check_bound,
    dual_feasible_values,
    next_attainable,
)

from ..brute_force import instance_of, optimum, small_instances

FUNCTIONS = ("martello_toth", "fekete_schepers", "carlier_clautiaux_moukrim")


def proved(instance, proof, attainable=False):
    return check_bound(instance, ParallelMachinesCertificate(proof=proof, attainable=attainable))


def test_bounds_by_hand():
    # Seven jobs of 6, 6, 6, 5, 5, 5, 5 on three machines: 38 / 3 is 13, the longest takes 6, of the
    # four longest two share a machine, 6 + 5, and of all seven three do, 5 + 5 + 5.
    instance = instance_of(3, 6, 5, 6, 5, 6, 5, 5)
    assert proved(instance, MeanLoad()) == 13
    assert [proved(instance, Pigeonhole(jobs=k)) for k in range(3)] == [6, 11, 15]


def test_a_bound_is_raised_to_a_sum_of_jobs():
    # Three jobs of 4 on two machines: the mean load is 6, but loads are 4, 8 and 12.
    instance = instance_of(2, 4, 4, 4)
    assert proved(instance, MeanLoad()) == 6
    assert proved(instance, MeanLoad(), attainable=True) == 8


def test_prices_refute_a_capacity_that_counting_does_not():
    # Jobs of 7, 7, 7, 3, 3, 3 and 3 on three machines, 33 s in all, so 11 s each. Let a 7 be worth
    # 2 and a 3 be worth 1. A machine of 11 collects at most 3, from 7 + 3 or 3 + 3 + 3; all jobs
    # are worth 10 > 3 * 3.
    instance = instance_of(3, 7, 7, 7, 3, 3, 3, 3)
    assert proved(instance, MeanLoad()) == 11
    assert proved(instance, Prices(prices=(2, 1), capacity_s=11)) == 12
    # A machine of 12 holds four jobs of 3, worth 4. If a 7 is worth 3 it collects 4 again, from
    # 7 + 3 too, and all jobs are worth 13 > 3 * 4.
    assert proved(instance, Prices(prices=(2, 1), capacity_s=12)) is None
    assert proved(instance, Prices(prices=(3, 1), capacity_s=12)) == 13
    assert optimum(instance) == 13


@given(
    instance=small_instances(),
    function=st.sampled_from(FUNCTIONS),
    parameter=st.integers(1, 30),
    capacity_s=st.integers(1, 60),
)
def test_what_a_dual_feasible_function_proves_is_true(instance, function, parameter, capacity_s):
    proof = DualFeasible(function=function, parameter=parameter, capacity_s=capacity_s)
    try:
        bound = proved(instance, proof, attainable=True)
    except ValueError:
        assert 2 * parameter > capacity_s
        return
    assert bound is None or bound <= optimum(instance)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_dual_feasible(function):
    # f(x_1) + ... + f(x_k) <= f(C) wherever x_1 + ... + x_k <= C; all multisets of up to C.
    def fit(capacity, most):
        yield ()
        for x in range(1, min(capacity, most) + 1):
            for rest in fit(capacity - x, x):
                yield (x, *rest)

    for capacity, parameter in itertools.product(range(2, 13), range(1, 7)):
        if function != "fekete_schepers" and 2 * parameter > capacity:
            continue
        values, whole = dual_feasible_values(function, parameter, capacity, range(1, capacity + 1))
        for xs in fit(capacity, capacity):
            assert sum(values[x - 1] for x in xs) <= whole


@given(
    instance=small_instances(),
    prices=st.lists(st.integers(0, 20), min_size=6, max_size=6),
    capacity_s=st.integers(0, 250),
)
def test_what_prices_prove_is_true(instance, prices, capacity_s):
    proof = Prices(prices=tuple(prices[: len(instance.demand)]), capacity_s=capacity_s)
    bound = proved(instance, proof, attainable=True)
    assert bound is None or bound <= optimum(instance)


@given(instance=small_instances(), bound=st.integers(0, 300))
def test_the_next_attainable_sum_is_the_least(instance, bound):
    sums = {
        sum(jobs)
        for k in range(len(instance.processing_s) + 1)
        for jobs in itertools.combinations(instance.processing_s, k)
    }
    above = [s for s in sums if s >= bound]
    if above:
        assert next_attainable(instance, bound) == min(above)
        assert counting.next_attainable(instance, bound) == min(above)  # the search's own


def test_certificates_that_do_not_fit_the_instance_are_answered():
    instance = instance_of(2, 4, 4, 4)
    with pytest.raises(ValueError, match="jobs: 2 a machine and one more are 5, but there are 3"):
        proved(instance, Pigeonhole(jobs=2))
    with pytest.raises(ValueError, match="prices: 2 for 1 distinct processing times"):
        proved(instance, Prices(prices=(1, 1), capacity_s=5))
    with pytest.raises(ValueError, match="parameter: 4 is more than half the capacity 5"):
        proved(instance, DualFeasible(function="martello_toth", parameter=4, capacity_s=5))
    huge = instance_of(2, 10**12, 10**12)
    with pytest.raises(TableTooLarge):
        proved(huge, Prices(prices=(1,), capacity_s=10**12))
    with pytest.raises(TableTooLarge):
        proved(huge, MeanLoad(), attainable=True)
