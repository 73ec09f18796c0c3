"""Whatever a price proves is true, whoever named it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt.skeleton.system.instance import (
    SkeletonInstance,
)
from gadgetopt.skeleton.system.proving.bounds.price import best_price
from gadgetopt.skeleton.system.proving.certificate import (
    SkeletonCertificate,
    check_bound,
)

Optimum = Callable[[SkeletonInstance], int]
Run = Callable[[SkeletonInstance, str], gadgetopt.Result]

PRICES = [Fraction(n, d) for n in range(12) for d in (1, 2, 3, 7)]


def test_no_price_proves_too_much(
    drawn: list[SkeletonInstance],
    optimum: Optimum,
) -> None:
    for instance in drawn:
        best = optimum(instance)
        least = check_bound(instance, best_price(instance))
        for price in PRICES:
            bound = check_bound(instance, SkeletonCertificate(price=price))
            assert best <= least <= bound, (instance, price)


def test_a_bound_by_hand() -> None:
    # At 2 a kilogram: 4 kg cost 8, and item 2 is worth 4 - 2 beyond its weight, item 0 1.
    three = SkeletonInstance(capacity_kg=4, weight_kg=(2, 2, 1), value=(5, 3, 4))
    assert check_bound(three, SkeletonCertificate(price=Fraction(2))) == 8 + 1 + 2


def test_a_negative_price_is_refused() -> None:
    three = SkeletonInstance(capacity_kg=4, weight_kg=(2, 2, 1), value=(5, 3, 4))
    with pytest.raises(ValueError, match="price: -1/2, expected at least 0"):
        check_bound(three, SkeletonCertificate(price=Fraction(-1, 2)))


def test_the_toolkit_checks_the_price_before_it_says_verified(
    drawn: list[SkeletonInstance], run: Run
) -> None:
    for instance in drawn[:20]:
        assert run(instance, "price").bound_voucher == "verified"
