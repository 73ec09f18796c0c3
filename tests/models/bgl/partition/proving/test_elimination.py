"""The elimination against brute force, merged, forgotten, left out and placed."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.bgl.partition.proving.elimination import Elimination
from gadgetopt.models.bgl.partition.proving.terms import terms_of

from ..brute_force import INSTANCES, instance_of, optimum


def run(instance, at_least=2**50, most_states=10**6, every_node=False, **more):
    terms = terms_of(instance, every_node=every_node)
    order = np.random.default_rng(1).permutation(sorted(terms.pairs)).tolist()
    forget = ((),) * len(order) if more.get("placed") else None
    found = Elimination(terms, order, at_least, **more).run(most_states, forget)
    return found.bound / instance.pair_weights.scale, found


@pytest.mark.parametrize("every_node", [False, True])
def test_any_order_finds_the_optimum_without_the_node_cap(every_node):
    for number, instance in enumerate(INSTANCES[:100]):
        bound, found = run(instance, every_node=every_node)
        assert bound <= float(optimum(instance)) + 1e-9
        if number >= 40:  # with more freedom brute force takes longer
            continue
        free = instance.model_copy(update={"node_imbalance": 9})
        alike = instance.train_cap <= instance.node_cap
        if alike and not every_node and not terms_of(instance).counts_nodes:
            assert bound == pytest.approx(float(optimum(free)))
            assert found.part is not None


def test_forgetting_keeps_a_bound():
    weaker = 0
    for instance in INSTANCES[:100]:
        bound, found = run(instance, most_states=2)
        assert bound <= float(optimum(instance)) + 1e-9
        weaker += any(found.forgotten)
    assert weaker > 20


def test_the_bound_is_at_most_what_was_left_out():
    instance = instance_of(train=(2, 3))
    assert run(instance, at_least=4)[1].bound == 4
    assert run(instance, at_least=3)[1].bound == 3
    assert run(instance, at_least=5)[1].part is not None


def test_with_two_parts_the_node_cap_is_charged_exactly():
    tight = 0
    for instance in INSTANCES:
        terms = terms_of(instance)
        if instance.num_parts == 2 and not terms.counts_nodes:
            bound, _ = run(instance, placed=True)
            best = float(optimum(instance))
            assert bound <= best + 1e-9
            # Training nodes without weight are not placed, so it is the optimum if there are none.
            if len(terms.pairs) == len(instance.train_nodes):
                assert bound == pytest.approx(best)
                tight += bound > run(instance)[0]
    assert tight >= 3


def test_the_cap_is_not_charged_with_three_parts():
    with pytest.raises(ModelRefused, match="only with two parts"):
        run(instance_of(parts=3), placed=True)


def test_codes_that_are_too_long_are_refused():
    edges = tuple((0, v) for v in range(1, 40))
    star = instance_of(40, edges, tuple(range(40)), parts=20, fanouts=(2, 2))
    bound, _ = run(star)  # the loads leave room for few frontier nodes
    assert bound <= 39
    with pytest.raises(ModelRefused, match="the loads of 35 parts take more than 62 bits"):
        run(star.model_copy(update={"num_parts": 35}))


def test_a_frontier_that_is_too_wide_for_a_code_is_forgotten_in_part():
    edges = tuple((u, v) for u in range(16) for v in range(u + 1, 16) if (u + v) % 3)
    dense = instance_of(16, edges, tuple(range(16)), parts=8, fanouts=(2, 2))
    bound, found = run(dense, most_states=500)
    assert any(found.forgotten)
    assert bound > 0
