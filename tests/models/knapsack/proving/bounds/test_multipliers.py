"""Certified bounds: none is below the optimum, and good multipliers prove the known bounds."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.knapsack.multipliers import KnapsackCertificate, lagrangian_bound
from gadgetopt.models.knapsack.proving.bounds.multipliers import lagrangian, surrogate
from gadgetopt.models.knapsack.proving.certificate import check_bound, surrogate_bound
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve
from gadgetopt.trust.verification import verify_bound

from ...brute_force import optimum, single, small_instances

TINY = library() / "knapsack" / "tiny"
MULTIPLIERS = st.lists(st.fractions(0, 5, max_denominator=3), min_size=3, max_size=3)


@given(instance=small_instances(), drawn=MULTIPLIERS)
def test_no_multipliers_prove_less_than_the_optimum(instance, drawn):
    multipliers = tuple(drawn[: len(instance.capacities)])
    best = optimum(instance)
    for kind in ("lagrangian", "surrogate"):
        bound = check_bound(instance, KnapsackCertificate(multipliers=multipliers, bound=kind))
        assert bound is not None or best is None
        if best is not None:
            assert bound >= best
            assert (bound / instance.whole.unit).denominator == 1


@given(instance=small_instances(), drawn=MULTIPLIERS)
def test_a_surrogate_row_of_whole_numbers_is_no_worse_than_the_lagrangian_bound(instance, drawn):
    multipliers = tuple(drawn[: len(instance.capacities)])
    # Denominators of multipliers go up to 3, those of weights are 1, 3 or 10.
    bound = surrogate_bound(instance, tuple(6 * 30 * y for y in multipliers))
    assert bound is None or bound <= lagrangian_bound(instance, multipliers)


@given(instance=small_instances())
def test_a_surrogate_row_of_one_row_alone_is_the_knapsack_of_that_row(instance):
    one = instance.model_copy(
        update={
            "capacities": instance.capacities[:1],
            "groups": tuple(
                tuple(i.model_copy(update={"weights": i.weights[:1]}) for i in items)
                for items in instance.groups
            ),
        }
    )
    assert surrogate_bound(one, (Fraction(30),)) == optimum(one)


@given(instance=small_instances())
def test_the_bounds_of_the_methods_are_verified_and_no_less_than_the_optimum(instance):
    best = optimum(instance)
    for method in (lagrangian, surrogate):
        outcome = called(method, instance, Limits(), np.random.default_rng(0))
        if outcome.certificate is not None and best is not None:
            assert check_bound(instance, outcome.certificate) >= best
        if outcome.certificate is None:
            assert outcome.proved is Status.INFEASIBLE
            assert best is None


@pytest.mark.parametrize(
    ("name", "lp"),
    [
        ("e6_two_rows", 31),  # 534/17 = 31.41, and profits are whole
        ("e7_petersen1", 4100),  # 4134.074, and profits are hundreds
        ("e8_khan_i01", 182),  # 182.71
        ("collinear", 9),
    ],
)
def test_the_lagrangian_bound_is_the_linear_relaxation_rounded_down(name, lp):
    document = read_instance(TINY / f"{name}.json")
    result = solve(document, "lagrangian")
    assert result.bound == lp
    assert result.bound_voucher == "verified"


def test_the_relaxation_of_petersen_1_is_certified_before_it_is_rounded():
    result = solve(read_instance(TINY / "e7_petersen1.json"), "lp_relaxation@highs")
    assert float(result.bound) == pytest.approx(4134.074, abs=5e-4)
    assert result.bound_voucher == "verified"


def test_certificates_can_be_verified_from_files(tmp_path):
    from gadgetopt.system.files import Document, read_certificate, write

    document = read_instance(TINY / "e6_two_rows.json")
    certificate = solve(document, "surrogate").certificate
    path = tmp_path / "bound.json"
    write(Document(document.problem, "certificate", "e6", certificate), path)
    assert verify_bound(document, read_certificate(path)) >= 27


def test_a_certificate_of_another_size_or_sign_is_refused():
    instance = single([1], [[1], [1]], [1, 1])
    with pytest.raises(ValueError, match="multipliers: 1 for 2 capacities"):
        check_bound(instance, KnapsackCertificate(multipliers=(1,)))
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        KnapsackCertificate(multipliers=(-1, 0))
    with pytest.raises(ValueError, match="the surrogate knapsack takes"):
        surrogate_bound(single([1, 1], [[10**8, 10**8]], [10**8]), (Fraction(1),))


def test_scaling_keeps_decimals_and_gives_the_unit_of_profits():
    document = read_instance(TINY / "decimals_exact_fit.json")
    whole = scaled(document.data)
    assert whole.unit == Fraction(1, 10)
    assert whole.knapsack.profit.tolist() == [42, 25, 31, 12, 4]
    assert whole.knapsack.weight[:, 0].tolist() == [6, 2, 4, 3, 1]
    assert whole.knapsack.capacity.tolist() == [6]
    assert whole.bound(55.99999999) == Fraction(56, 10)
    assert whole.bound(55.9) == Fraction(55, 10)


def test_items_without_profit_are_left_out_and_found_back():
    instance = single([0, 3, 0, 2], [[1, 1, 1, 1]], [2])
    whole = scaled(instance)
    assert whole.knapsack.owner.tolist() == [0, 1]
    assert whole.solution(instance, [1, 0]).chosen == (None, 0, None, 0)


def test_numbers_beyond_doubles_are_refused():
    with pytest.raises(ModelRefused, match="when scaled to whole numbers"):
        scaled(single([2**53, 1], [[1, 1]], [1]))
