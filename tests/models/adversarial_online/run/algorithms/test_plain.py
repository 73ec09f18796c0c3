"""The fast posted prices are the printed ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.models.adversarial_online.run.algorithms import plain, tables
from gadgetopt.system.result import Limits

from ..brute_force import small_instance


@pytest.mark.parametrize("method", ["exponential", "finite_k"])
def test_the_fast_prices_serve_the_same_requests_as_the_printed_ones(method):
    for seed in range(120):
        rng = np.random.default_rng(seed)
        instance = small_instance(rng)
        fast = called(getattr(tables, method), instance, Limits(), rng).solution
        assert list(fast.plays[0].accepted) == getattr(plain, method)(instance), seed


@pytest.mark.parametrize(("k", "ratio"), [(1, 4), (2, 3.123106), (3, 3), (4, 2.782483)])
def test_the_printed_table_has_the_least_ratio(k, ratio):
    # theta = 4: alpha/k times the sum of the table is U.
    table = plain.best_table(k, Fraction(1), Fraction(4))
    assert k * 4 / float(sum(table)) == pytest.approx(ratio, abs=1e-6)
    assert math.isclose(table[0], 1)
