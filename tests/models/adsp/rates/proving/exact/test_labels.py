"""Labels: the momentum cap is closed with a certificate, beyond the Lagrangian bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.models.adsp.rates.proving.bounds.momentum_multipliers import multipliers
from gadgetopt.models.adsp.rates.proving.certificate.check import check_bound
from gadgetopt.models.adsp.rates.proving.certificate.momentum_labels import (
    none_cheaper,
    whole_window,
    window_starts,
)
from gadgetopt.models.adsp.rates.proving.exact.exact_rates import shortened
from gadgetopt.models.adsp.rates.proving.exact.label_search import cheapest
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.result import Status, Voucher

from ...brute_force import random_instance, run


@pytest.mark.parametrize("seed", range(40))
def test_the_check_goes_through_labels_by_itself_and_agrees_with_the_search(seed):
    instance = random_instance(seed, "momentum_cap")
    for start in window_starts(instance):
        known = multipliers(instance, start)
        window = whole_window(instance, start, *(known.both if known else (1.0, 0.0)))
        best = cheapest(window, Fraction(2**100))
        if best is None:
            assert none_cheaper(window, Fraction(2**100))
            continue
        cost = sum(int(window.cost[i, n - start]) for i, n in enumerate(best))
        least = Fraction(cost) / window.unit
        assert none_cheaper(window, least)
        assert not none_cheaper(window, least + 1 / window.unit)


def test_a_certificate_has_multipliers_for_every_window_or_none():
    instance = uniform(np.random.default_rng(2), workers=6, model="momentum_cap")
    made = run(instance, "exact_rates").certificate
    assert check_bound(instance, made) == made.proof.bound
    bare = made.proof.model_copy(update={"windows": ()})
    assert check_bound(instance, made.model_copy(update={"proof": bare})) == made.proof.bound
    fewer = made.proof.model_copy(update={"windows": made.proof.windows[1:]})
    with pytest.raises(ValueError, match=r"proof\.windows: \d+, expected one for each of \d+"):
        check_bound(instance, made.model_copy(update={"proof": fewer}))


def test_labels_close_the_gap_of_the_lagrangian_bound():
    instance = uniform(np.random.default_rng(2), workers=18, model="momentum_cap")
    exact, bound = run(instance, "exact_rates"), run(instance, "lagrangian")
    assert exact.status is Status.OPTIMAL
    assert exact.bound_voucher is Voucher.VERIFIED
    assert bound.bound < exact.objective
    assert agrees(exact.objective, run(instance, "momentum_knapsack@highs").objective)


def test_a_cap_on_commits_binds_labels_too():
    instance = uniform(
        np.random.default_rng(4), workers=10, model="momentum_cap", cap_per_worker=6.2
    )
    exact, other = run(instance, "exact_rates"), run(instance, "momentum_knapsack@highs")
    assert exact.status is other.status is Status.OPTIMAL
    assert agrees(exact.objective, other.objective)


@given(st.fractions(Fraction(1, 10**20), 10**20))
def test_a_shortened_number_is_just_below(value):
    short = shortened(value)
    assert short < value
    assert value - short <= value / 2**31
    assert short.numerator.bit_length() <= 42 or short.denominator == 1
