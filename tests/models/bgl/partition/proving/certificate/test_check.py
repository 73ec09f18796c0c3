"""Certificates prove true bounds only, whoever wrote them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.proving.certificate.check import (
    BglPartitionCertificate,
    Eigenvalue,
    Elimination,
    IsolatingCuts,
    Stars,
    check_bound,
    is_positive_semidefinite,
    largest_square_sum,
)
from gadgetopt.models.bgl.partition.proving.terms import terms_of

from ...brute_force import instance_of, optimum, small_instance
from ...random_cuts import drawn_cut

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


def test_an_eigenvalue_by_hand():
    # One edge, both ends training nodes: L = [[1, -1], [-1, 1]], d = -2 + 1/50 and sigma = 1 make
    # M = I / 50, and the bound is -(1/2)(-4 + 2/50) / 2 = 99/100.
    pair = instance_of(2, ((0, 1),), (0, 1), fanouts=(1, 1))
    assert pair.pair_weights.scaled.tolist() == [2]
    proof = Eigenvalue(nodes=(0, 1), diagonal=(-198, -198), train_price=100, unit=50)
    assert proved(pair, proof) == 2 * Fraction(99, 100)
    assert proved(pair, proof.model_copy(update={"diagonal": (-201, -201)})) is None


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


@settings(max_examples=50)
@given(SEEDS, st.data())
def test_what_eigenvalues_prove_is_true(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    nodes = data.draw(st.lists(st.integers(0, instance.num_nodes - 1), unique=True, min_size=1))
    proof = Eigenvalue(
        nodes=tuple(nodes),
        diagonal=tuple(data.draw(st.integers(-60, 5)) for _ in nodes),
        train_price=data.draw(st.integers(0, 60)),
        node_price=data.draw(st.integers(0, 60)),
        unit=data.draw(st.integers(1, 20)),
    )
    bound = proved(instance, proof)
    assert bound is None or bound <= optimum(instance)
    cuts = tuple(data.draw(st.lists(drawn_cut(list(range(instance.num_nodes))), max_size=4)))
    prices = tuple(data.draw(st.integers(0, 100)) for _ in cuts)
    generous = tuple(60 + x for x in proof.diagonal)
    for diagonal in (proof.diagonal, generous):
        cut = proof.model_copy(update={"cuts": cuts, "prices": prices, "diagonal": diagonal})
        try:
            bound = proved(instance, cut)
        except ValueError:
            return
        assert bound is None or bound <= optimum(instance)


@given(st.integers(1, 9), SEEDS, st.booleans())
def test_matrices_are_judged_as_numpy_does(n, seed, large):
    rng = np.random.default_rng(seed)
    half = rng.integers(-9, 10, size=(n, n))
    matrix = half @ half.T - int(rng.integers(0, 30)) * np.eye(n, dtype=np.int64)
    least = np.linalg.eigvalsh(matrix.astype(float))[0]
    proved_so = is_positive_semidefinite(matrix.astype(object) * (10**25 if large else 1))
    if least < -1e-9:
        assert not proved_so
    if least > 1e-3:
        assert proved_so


@pytest.mark.parametrize(("count", "most", "squares"), [(7, 3, 19), (6, 3, 18), (0, 2, 0)])
def test_loads_are_most_unequal_where_parts_are_full(count, most, squares):
    assert largest_square_sum(count, most) == squares


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (Elimination(order=(2, 2)), "order: expected each of the 2 branched nodes once"),
        (Elimination(order=(2, 5), forgotten=((0,),)), r"forgotten\[0\]: 0 is not in the frontier"),
        (Elimination(order=(2, 5), forgotten=((), (), ())), "forgotten: 3 for 2 steps"),
        (IsolatingCuts(prices=(1,)), "prices: 1 for 2 training nodes"),
        (Eigenvalue(nodes=(0, 9), diagonal=(1, 1)), "nodes: expected different nodes"),
        (Eigenvalue(nodes=(0, 1), diagonal=(1,)), "diagonal: 1 for 2 nodes"),
    ],
)
def test_certificates_that_do_not_fit_are_answered(proof, message):
    with pytest.raises(ValueError, match=message):
        proved(instance_of(), proof)
