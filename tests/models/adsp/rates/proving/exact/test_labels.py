"""Labels: the momentum cap is closed with a certificate, beyond the Lagrangian bound."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.models.adsp.rates.proving.exact.exact_rates import shortened
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.result import Status, Voucher

from ...brute_force import run


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
