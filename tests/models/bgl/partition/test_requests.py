"""Pair weights by hand, and their scaling."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.bgl.partition import requests
from gadgetopt.models.bgl.partition.requests import PairWeights

from .brute_force import instance_of


def table(instance):
    weights = instance.pair_weights
    pairs = zip(weights.first.tolist(), weights.second.tolist(), strict=True)
    return dict(zip(pairs, weights.weight, strict=True))


def test_weights_of_the_triangles():
    third = Fraction(2, 3)
    assert table(instance_of(train=(0, 5))) == {(0, 1): 1, (0, 2): 1, (3, 5): 1, (4, 5): 1}
    assert table(instance_of(train=(2, 5))) == {
        (0, 2): third, (1, 2): third, (2, 3): third, (3, 5): 1, (4, 5): 1,
    }  # fmt: skip
    assert table(instance_of(train=(2, 3)))[2, 3] == 2 * third


def test_weights_are_scaled_exactly_where_that_is_possible():
    weights = instance_of(train=(2, 3)).pair_weights
    assert (weights.scale, weights.exact) == (3, True)
    assert weights.scaled.tolist() == [2, 2, 4, 2, 2]
    odd = PairWeights(np.array([0]), np.array([1]), (Fraction(10**20, 10**20 + 39),))
    assert not odd.exact
    assert 0 <= odd.weight[0] - Fraction(int(odd.scaled[0]), odd.scale) < Fraction(1, 2**50)


def test_too_many_terms_are_refused(monkeypatch):
    monkeypatch.setattr(requests, "MOST_TERMS", 3)
    with pytest.raises(ModelRefused, match="more than 3 terms"):
        _ = instance_of(train=(0, 5)).pair_weights
