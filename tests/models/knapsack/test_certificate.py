"""Row duals of the model prove bounds only if doubles hold its numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from gadgetopt.models.knapsack.certificate import KnapsackCertificate
from gadgetopt.models.knapsack.instance import Item, KnapsackInstance

from gadgetopt.system.data import LpDuals
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Status
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.run import solve

SYSTEM = problem("knapsack")
DUALS = LpDuals(formulation="direct", row_duals=(Fraction(0),))


def one_item(profit):
    item = Item(profit=Fraction(profit), weights=(Fraction(1),))
    return KnapsackInstance(capacities=(Fraction(2),), groups=((item,),))


@pytest.mark.parametrize(
    "profit", [2**53 + 1, Fraction(10**20 + 3, 3 * 10**20), Fraction(123456789123, 10**6 + 3)]
)
def test_duals_of_rounded_numbers_are_refused(profit):
    with pytest.raises(ValueError, match=r"groups\[0\]\[0\]\.profit: .* does not survive"):
        certified_bound(SYSTEM, one_item(profit), DUALS)


@pytest.mark.parametrize("profit", [7, Fraction(1, 3), Fraction(1, 10)])
def test_duals_of_numbers_that_doubles_hold_prove_the_bound(profit):
    assert certified_bound(SYSTEM, one_item(profit), DUALS) == profit


def test_the_systems_own_certificates_take_any_exact_number():
    certificate = KnapsackCertificate(multipliers=(Fraction(0),))
    for profit in (2**53 + 1, Fraction(10**20 + 3, 3 * 10**20)):
        assert certified_bound(SYSTEM, one_item(profit), certificate) == profit


def test_a_method_whose_duals_prove_nothing_is_no_error():
    instance = one_item(Fraction(10**20 + 3, 3 * 10**20))
    result = solve(Document(SYSTEM, "instance", "x", instance), "lp_relaxation@highs")
    assert result.status is not Status.ERROR
    assert result.bound_voucher != "verified"
