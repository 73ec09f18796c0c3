"""Cuts hold for every partition, and trees of cases prove true bounds only, whoever wrote them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.evaluate import evaluate
from gadgetopt.models.bgl.partition.instance import BglPartitionSolution
from gadgetopt.models.bgl.partition.proving.certificate.check import (
    BglPartitionCertificate,
    check_bound,
)
from gadgetopt.models.bgl.partition.proving.certificate.cuts import (
    Branch,
    Caps,
    Clique,
    Cuts,
    Cycle,
    Leaf,
    Star,
    Tree,
)

from ...brute_force import instance_of, optimum, partitions, small_instance
from ...random_cuts import drawn_cut

SEEDS = st.integers(0, 10**6)


def proved(instance, proof):
    return check_bound(instance, BglPartitionCertificate(proof=proof))


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.data())
def test_every_partition_satisfies_every_cut(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    cut = data.draw(drawn_cut(list(range(instance.num_nodes))))
    try:
        found = Caps.of(instance).inequality(cut)
    except ValueError:
        return
    for part in partitions(instance.num_nodes, instance.num_parts):
        apart = sum(a for (u, v), a in found.of_pair.items() if part[u] != part[v])
        if apart < found.least:
            assert not evaluate(instance, BglPartitionSolution(part=part)).feasible


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.data())
def test_what_trees_of_cases_prove_is_true(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    nodes = list(range(instance.num_nodes))
    cuts = tuple(data.draw(st.lists(drawn_cut(nodes), max_size=5)))
    unit = data.draw(st.integers(1, 5))

    def leaf():
        priced = data.draw(st.lists(st.integers(0, 5), max_size=5))
        prices = tuple(data.draw(st.integers(0, 200)) for _ in priced)
        empty = data.draw(st.integers(0, 5)) == 0
        return Leaf(cuts=tuple(priced), prices=prices, empty=empty)

    tree = [leaf()]
    if data.draw(st.booleans()):
        pairs = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))
        later = st.integers(1, 5)
        tree = [
            Branch(pair=data.draw(pairs), together=data.draw(later), apart=data.draw(later)),
            leaf(),
            Branch(pair=data.draw(pairs), together=3, apart=4),
            leaf(),
            leaf(),
        ]
    try:
        bound = proved(instance, Cuts(cuts=cuts, tree=tuple(tree), unit=unit))
    except ValueError:
        return
    assert bound is None or bound <= optimum(instance)


def test_a_bridge_by_hand():
    # Nodes 2 and 5 are the training nodes and have to part, d(2, 5) >= 1. The way from 2 over 3 to
    # 5 is cut, at 2/3 at least; weights are scaled by 3.
    instance = instance_of(train=(2, 5))
    part = Tree(nodes=(2, 5), parents=(0,))
    way = Cycle(nodes=(2, 5, 3), far=(0,))
    proof = Cuts(cuts=(part, way), tree=(Leaf(cuts=(0, 1), prices=(2, 2)),))
    assert proved(instance, proof) == Fraction(2, 3)
    dearer = Cuts(cuts=(part, way), tree=(Leaf(cuts=(0, 1), prices=(9, 9)),))
    assert proved(instance, dearer) <= Fraction(2, 3)


def test_cases_by_hand():
    # Apart from each other they pay for the way; together they break their cap.
    instance = instance_of(train=(2, 5))
    cuts = (Cycle(nodes=(2, 5, 3), far=(0,)), Clique(nodes=(2, 5)))
    tree = (
        Branch(pair=(5, 2), together=1, apart=2),
        Leaf(cuts=(1,), prices=(1,), empty=True),
        Leaf(cuts=(0,), prices=(2,)),
    )
    assert proved(instance, Cuts(cuts=cuts, tree=tree)) == Fraction(2, 3)
    unproved = (tree[0], Leaf(cuts=(0,), prices=(1,), empty=True), tree[2])
    assert proved(instance, Cuts(cuts=cuts, tree=unproved)) is None


TRIANGLE = (0, 1, 2)


@pytest.mark.parametrize(
    ("cut", "reason"),
    [
        (Cycle(nodes=TRIANGLE, far=(0, 1)), "cycle of 0: 2 far steps, expected an odd number"),
        (Cycle(nodes=TRIANGLE, far=(3,)), "cycle of 0: expected different steps in far"),
        (Cycle(nodes=(0, 1, 1), far=(0,)), "cycle of 0: expected different nodes of the graph"),
        (Star(nodes=(0, 9)), "star of 0: expected different nodes of the graph"),
        (Tree(nodes=TRIANGLE, parents=(0, 2)), "tree of 0: expected a parent before every other"),
        (Clique(nodes=TRIANGLE), "clique of 0: expected training nodes only"),
    ],
)
def test_wrong_cuts_are_named(cut, reason):
    with pytest.raises(ValueError, match=reason):
        proved(instance_of(), Cuts(cuts=(cut,), tree=(Leaf(),)))


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ((Branch(pair=(0, 1), together=1, apart=1), Leaf()), "two different later cases"),
        ((Branch(pair=(0, 1), together=1, apart=2), Leaf()), "expected cases of the tree"),
        ((Branch(pair=(1, 1), together=1, apart=2), Leaf(), Leaf()), "a pair that is not decided"),
        ((Leaf(cuts=(0,), prices=(1,)),), "a price for each of its cuts"),
    ],
)
def test_wrong_trees_are_named(tree, reason):
    with pytest.raises(ValueError, match=reason):
        proved(instance_of(), Cuts(cuts=(), tree=tree))


def test_odd_cycles_hold_only_with_two_parts():
    caps = Caps.of(instance_of(parts=3))
    with pytest.raises(ValueError, match="expected 1 with more than two parts"):
        caps.inequality(Cycle(nodes=TRIANGLE, far=(0, 1, 2)))


def test_a_group_of_training_nodes_needs_as_many_cut_pairs_as_its_cap_leaves():
    instance = instance_of(train=(0, 1, 2, 3, 4, 5))
    found = Caps.of(instance).inequality(Clique(nodes=(0, 1, 2, 3, 4)))
    most_together = max(
        sum(part[u] == part[v] for u, v in combinations(range(5), 2))
        for part in partitions(6, 2)
        if evaluate(instance, BglPartitionSolution(part=part)).feasible
    )
    assert found.least == 10 - most_together
