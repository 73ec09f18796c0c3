"""The bound on a sum of uniform numbers is above the exact probability, and not far."""

import itertools
import math

import pytest

from gadgetopt.pieces.uniform_sums import log10_probability


@pytest.mark.parametrize(("low", "high", "least"), [(1, 6, 20), (1, 6, 24), (0, 3, 11)])
def test_the_bound_is_above_the_exact_probability(low, high, least):
    draws = list(itertools.product(range(low, high + 1), repeat=4))
    exact = sum(sum(draw) >= least for draw in draws) / len(draws)
    bound = 10 ** log10_probability(4, low, high, least)
    assert exact <= bound * (1 + 1e-9)
    assert bound <= 10 * exact


def test_what_cannot_be_has_no_probability():
    assert log10_probability(3, 1, 6, 19) == -math.inf
    assert log10_probability(3, 1, 6, 3) == 0
