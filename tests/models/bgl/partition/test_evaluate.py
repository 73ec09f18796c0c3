"""The evaluator by hand, and what it rejects."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.partition.data.generate.presets import powerlaw_cluster
from gadgetopt.models.bgl.partition.evaluate import evaluate
from gadgetopt.models.bgl.partition.instance import BglPartitionSolution

from .brute_force import instance_of, run, small_instance


def cost(instance, *part):
    found = evaluate(instance, BglPartitionSolution(part=part))
    assert found.feasible, found.violations
    return found.objective


def broken(instance, *part):
    return {v.constraint for v in evaluate(instance, BglPartitionSolution(part=part)).violations}


def test_two_triangles_by_hand():
    # Nodes 0, 1, 4 and 5 sample both of their two neighbours, 2 and 3 two of three: 2/3 each.
    apart = (0, 0, 0, 1, 1, 1)
    assert cost(instance_of(train=(0, 5)), *apart) == 0
    assert cost(instance_of(train=(2, 5)), *apart) == Fraction(2, 3)
    assert cost(instance_of(train=(2, 3)), *apart) == Fraction(4, 3)


def test_two_hops_multiply():
    # The path 0 - 1 - 2 from 0 with fan-outs 1, 1, 1: 1 is reached with 1, then 0 and 2 with 1/2.
    instance = instance_of(3, ((0, 1), (1, 2)), (0,), fanouts=(1, 1, 1), node_imbalance=1)
    assert cost(instance, 0, 1, 1) == Fraction(3, 2)
    assert cost(instance, 0, 0, 1) == Fraction(1, 2)


def test_neither_the_training_node_nor_the_last_hop_is_a_request():
    # Trap 7: one fan-out is one hop, the last; a loop back to the start costs nothing either.
    assert cost(instance_of(train=(2, 3), fanouts=(3,)), 0, 1, 0, 1, 0, 1) == 0
    back = instance_of(2, ((0, 1),), (0,), fanouts=(1, 1, 1))
    assert cost(back, 0, 1) == 1


def test_directed_edges_are_sampled_one_way():
    # Trap 8: on the path 0 -> 1 -> 2 -> 3 node 3 samples nobody.
    street = {"edges": ((0, 1), (1, 2), (2, 3)), "nodes": 4, "train": (0, 3)}
    assert cost(instance_of(**street, directed=True), 0, 1, 0, 1) == 1
    assert cost(instance_of(**street), 0, 1, 0, 1) == 2


def test_a_pair_with_edges_both_ways_is_cut_once():
    both = instance_of(
        4, ((0, 1), (1, 0), (2, 3)), (0,), directed=True, weights="edge", train_imbalance=0
    )
    assert cost(both, 0, 1, 0, 1) == 2


def test_caps_round_up_where_parts_do_not_divide_the_nodes():
    # Trap 9: five nodes for two parts, no imbalance: three and two.
    instance = instance_of(5, ((0, 1), (0, 2), (3, 4)), (0, 3))
    assert (instance.node_cap, instance.train_cap) == (3, 1)
    assert cost(instance, 0, 0, 0, 1, 1) == 0


def test_violations_are_named():
    instance = instance_of()
    assert broken(instance, 0, 0, 0, 0, 1, 1) == {"node_cap"}
    assert broken(instance, 0, 1, 0, 1, 1, 0) == {"train_cap"}
    assert broken(instance, 0, 0, 0) == {"unassigned_node"}
    assert broken(instance, 0, 0, 0, 1, 1, 1, 1) == {"unknown_node"}
    assert broken(instance, 0, 0, 0, 1, 1, 2) == {"unknown_part"}


@given(st.integers(0, 10**6), st.data())
def test_an_overloaded_part_is_rejected(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    part = data.draw(
        st.lists(
            st.integers(0, instance.num_parts - 1),
            min_size=instance.num_nodes,
            max_size=instance.num_nodes,
        )
    )
    most = max(part.count(i) for i in part)
    trained = [part[t] for t in instance.train_nodes]
    most_trained = max(trained.count(i) for i in trained)
    found = evaluate(instance, BglPartitionSolution(part=tuple(part)))
    assert found.feasible == (most <= instance.node_cap and most_trained <= instance.train_cap)


@given(st.integers(0, 10**6), st.data())
def test_the_table_of_weights_gives_the_same_cost(seed, data):
    instance = small_instance(np.random.default_rng(seed))
    part = tuple(
        data.draw(st.integers(0, instance.num_parts - 1)) for _ in range(instance.num_nodes)
    )
    assert evaluate(instance, BglPartitionSolution(part=part)).objective == (
        instance.pair_weights.cut(part)
    )


def requests_in_fractions(instance, part):
    """Remote requests of all training nodes by the recursion of the page, in rationals."""
    neighbours = list(instance.sampled_from())
    total = Fraction(0)
    for t in instance.train_nodes:
        reached = {t: Fraction(1)}
        for fanout in instance.fanouts[:-1]:
            sent = {}
            for u, m in reached.items():
                for v in neighbours[u]:
                    one = m * min(Fraction(1), Fraction(fanout, len(neighbours[u])))
                    sent[v] = sent.get(v, 0) + one
            reached = sent
            total += sum(m for u, m in reached.items() if part[u] != part[t])
    return total


@pytest.mark.parametrize("seed", range(20))
def test_whole_numbers_give_the_rationals_that_fractions_give(seed):
    rng = np.random.default_rng(seed)
    hops = tuple(int(f) for f in rng.integers(1, 8, size=rng.integers(1, 5)))
    instance = powerlaw_cluster(rng, nodes=60).model_copy(
        update={"fanouts": hops, "weights": "requests"}
    )
    part = [int(i) for i in rng.integers(0, instance.num_parts, size=instance.num_nodes)]
    found = evaluate(instance, BglPartitionSolution(part=tuple(part)))
    assert found.objective == requests_in_fractions(instance, part)


def test_edges_both_ways_are_one_pair_of_neighbours():
    # 0 and 1 sample each other: q = 1 for the pair, as with one edge or without directions.
    both = instance_of(4, ((0, 1), (1, 0), (0, 2), (1, 3)), (0, 1), weights="edge", directed=True)
    once = instance_of(4, ((0, 1), (0, 2), (1, 3)), (0, 1), weights="edge")
    for instance in (both, once):
        assert cost(instance, 0, 1, 0, 1) == 1
        assert cost(instance, 0, 1, 1, 0) == 3
        assert instance.pair_weights.cut([0, 1, 0, 1]) == 1
        result = run(instance, "elimination")
        assert (result.status, result.objective, result.bound) == ("optimal", 1, 1)
