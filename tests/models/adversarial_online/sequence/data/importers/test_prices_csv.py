"""A table of prices in, the worst stream out: of the values that matter, and of all values."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.adversarial_online.sequence.data.importers.prices_csv import (
    candidates,
    prices_csv,
)
from gadgetopt.models.adversarial_online.subproblems.offline import largest
from gadgetopt.models.adversarial_online.subproblems.replay import replay
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.trust.run import solve

RNG = np.random.default_rng(0)


def worst(prices, values, horizon):
    """The largest ratio of all sequences of these values."""
    k, ratio = len(prices), Fraction(0)
    for n in range(1, horizon + 1):
        for sequence in itertools.product(values, repeat=n):
            earned = replay([prices], sequence, [(1,)] * n).welfare
            ratio = max(ratio, largest(sequence, k) / earned if earned else math.inf)
    return ratio


@pytest.mark.parametrize(
    "prices", [(1, 2), (1, Fraction(5, 2)), (Fraction(3, 2), 1), (1, 1), (1, 3)]
)
def test_few_values_are_as_bad_as_all_ticks(prices):
    prices = [Fraction(p) for p in prices]
    few = candidates(prices, Fraction(1), Fraction(3), Fraction(1, 2))
    ticks = [Fraction(n, 2) for n in range(2, 7)]
    assert set(few) <= set(ticks)
    assert worst(prices, few, 4) == worst(prices, ticks, 4)


def test_a_csv_of_prices_gives_its_certified_ratio(tmp_path):
    # The optimal table of two units for values from 1 to 4, to two decimals: just below 1.56 come
    # 1.55 and then 4, 4: the worst of 2 x 1.55 / 1 and 2 x 4 / (1 + 1.56) = 3.125.
    path = tmp_path / "mine.csv"
    path.write_text("price\n1\n1.56\n")
    name, instance = prices_csv([path], RNG, value_max=4.0).instances[0]
    assert (name, instance.horizon) == ("mine_2", 4)
    document = Document(
        problem=problem("adversarial_online_sequence"), kind="instance", name=name, data=instance
    )
    found = solve(document, "dynamic_program")
    assert (found.status, found.objective, found.bound_voucher) == (
        "optimal",
        Fraction(25, 8),
        "verified",
    )


def test_what_is_no_price_is_named(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("price\n1\nfree\n")
    with pytest.raises(InputError, match="line 3: price: 'free', expected a positive number"):
        prices_csv([path], RNG)
