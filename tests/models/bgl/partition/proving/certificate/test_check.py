"""Certificates prove true bounds only, whoever wrote them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.proving.certificate.check import (
    BglPartitionCertificate,
    Elimination,
    IsolatingCuts,
    Stars,
    check_bound,
)
from gadgetopt.models.bgl.partition.proving.terms import terms_of

from ...brute_force import instance_of, optimum, small_instance

SEEDS = st.integers(0, 10**6)


def proved(instance, proof):
    return check_bound(instance, BglPartitionCertificate(proof=proof))


def test_stars_by_hand():
    # Three neighbours of weight 1, and room for two of them.
    edges = ((0, 1), (0, 2), (0, 3), (4, 5))
    assert proved(instance_of(6, edges, (0, 4), fanouts=(3, 3)), Stars()) == 1
    # Both ends of the bridge are training nodes, and a part has room for one: 4/3.
    assert proved(instance_of(train=(2, 3)), Stars()) == Fraction(4, 3)


def test_isolating_cuts_by_hand():
    # At a price of 4/3, which is 4 of the scaled weights, every side of 2 costs at least 4/3.
    instance = instance_of(train=(2, 3))
    assert proved(instance, IsolatingCuts(prices=(4, 4))) == Fraction(4, 3)
    assert proved(instance, IsolatingCuts(prices=(1, 1))) == Fraction(1, 3)


@settings(max_examples=50)
@given(SEEDS, st.integers(0, 40))
def test_what_isolating_cuts_prove_is_true(seed, price):
    instance = small_instance(np.random.default_rng(seed))
    prices = (np.random.default_rng(price).integers(0, 30, len(instance.train_nodes))).tolist()
    assert proved(instance, IsolatingCuts(prices=tuple(prices))) <= optimum(instance)
    assert proved(instance, Stars()) <= optimum(instance)


@settings(max_examples=50)
@given(SEEDS, st.data())
def test_what_eliminations_prove_is_true(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    every = data.draw(st.booleans())
    order = data.draw(st.permutations(sorted(terms_of(instance, every_node=every).pairs)))
    forgotten = [data.draw(st.sets(st.sampled_from(order))) if order else () for _ in order]
    proof = Elimination(
        every_node=every,
        order=tuple(order),
        forgotten=tuple(tuple(sorted(f)) for f in forgotten),
        at_least=data.draw(st.none() | st.fractions(0, 20)),
        placed=data.draw(st.booleans()),
    )
    try:
        bound = proved(instance, proof)
    except ValueError:
        return
    assert bound <= max(optimum(instance), proof.at_least or 0)
    assert proof.at_least is not None or bound <= optimum(instance)
    assert bound <= optimum(instance)


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (Elimination(order=(2, 2)), "order: expected each of the 2 branched nodes once"),
        (Elimination(order=(2, 5), forgotten=((0,),)), r"forgotten\[0\]: 0 is not in the frontier"),
        (Elimination(order=(2, 5), forgotten=((), (), ())), "forgotten: 3 for 2 steps"),
        (IsolatingCuts(prices=(1,)), "prices: 1 for 2 training nodes"),
    ],
)
def test_certificates_that_do_not_fit_are_answered(proof, message):
    with pytest.raises(ValueError, match=message):
        proved(instance_of(), proof)
