"""No stream exceeds a theorem, and the worst streams meet theirs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.models.adversarial_online.run.data.generate.presets import (
    adversarial_chain,
    worst_for_finite_k,
)
from gadgetopt.models.adversarial_online.run.guarantees import ratios
from gadgetopt.models.adversarial_online.subproblems import curves

from ..brute_force import run, small_instances

RNG = np.random.default_rng(0)
PROMISES = {
    "greedy": ratios.greedy,
    "exponential": ratios.exponential_table,
    "exp_plain": ratios.plain_table,
    "finite_k": ratios.finite_k,
    "one_seed": ratios.exponential,
}


@given(instance=small_instances(units_only=True))
@settings(max_examples=60)
def test_no_stream_exceeds_a_theorem(instance):
    for method, promise in {**PROMISES, "random_static": ratios.exponential}.items():
        found = run(instance, method).evaluation.components["ratio"]
        assert float(found) <= float(promise(instance, {})) * (1 + 1e-7), method


@given(instance=small_instances(units_only=True, grid=True))
@settings(max_examples=60)
def test_no_stream_of_the_grid_exceeds_the_shares(instance):
    for method in ("share", "random_static"):
        found = run(instance, method).evaluation.components["ratio"]
        assert found <= ratios.shares(instance, {})


@pytest.mark.parametrize(
    ("k", "ratio"),
    [
        (1, 4),
        (2, 3.123106),
        (3, 3),
        (4, 2.782483),
        (8, 2.597744),
        (16, 2.488783),
        (64, 2.412084),
        (256, 2.392763),
    ],
)
def test_the_optimal_table_of_k_units_is_as_bad_as_its_theorem(k, ratio):
    # Numbers checked by hand for theta = 4; the worst stream sells all units at their prices.
    assert curves.finite_ratio(k, Fraction(4)) == pytest.approx(ratio, abs=5e-7)
    assert curves.table_ratio(
        curves.finite_table(k, Fraction(1), Fraction(4)), Fraction(1), Fraction(4)
    ) == pytest.approx(Fraction(ratio), abs=5e-7)
    found = run(worst_for_finite_k(RNG, units=k), "finite_k").evaluation.components["ratio"]
    assert float(found) == pytest.approx(ratio, abs=5e-7)


def test_finite_ratios_fall_to_their_limit():
    found = [curves.finite_ratio(k, Fraction(4)) for k in (1, 2, 4, 8, 16, 64, 256, 10**6)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(1 + math.log(4), abs=1e-5)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_chain_is_tight_for_the_shares_of_its_grid(k):
    # On k copies of each level, the shares earn the optimum over alpha* at every end of a level.
    chain = adversarial_chain(RNG, units=k, spread=4.0, levels=3)
    found = run(chain, "share").evaluation.components["ratio"]
    assert found == curves.grid_ratio(chain.levels) == 2


def test_the_grid_of_the_notes():
    levels = [Fraction(x) for x in ("1", "1.414213562", "2", "2.828427125", "4")]
    assert float(curves.grid_ratio(levels)) == pytest.approx(2.171573, abs=5e-7)
    assert curves.grid_limits([Fraction(1), Fraction(2), Fraction(4)]) == (
        Fraction(1, 2),
        Fraction(3, 4),
        1,
    )


def test_a_fixed_price_above_the_least_value_has_no_ratio():
    assert curves.table_ratio([Fraction(2)], Fraction(1), Fraction(4)) is None
    assert curves.table_ratio([Fraction(1)], Fraction(1), Fraction(4)) == 4
