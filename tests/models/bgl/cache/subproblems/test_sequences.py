"""Proximity-aware orders: permutations, and fewer misses with fewer sequences."""

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.data.generate.presets import geometric, paper, power_law
from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.subproblems.replay import replay
from gadgetopt.models.bgl.cache.subproblems.sequences import Proximity, fewest_sequences


def caves():
    return paper(np.random.default_rng(0), caves=60)


def replayed(instance, order, policy="fifo"):
    found = evaluate(instance, replay(instance, order, policy))
    assert found.feasible
    return found.components


@pytest.mark.parametrize("sequences", [1, 3, 10])
def test_an_order_has_every_training_node_once(sequences):
    instance = geometric(np.random.default_rng(1), nodes=400)  # in many components
    order = Proximity(instance.graph, 10).order(sequences, np.random.default_rng(2))
    assert sorted(order) == list(range(len(instance.requests)))


def test_hit_ratios_mislead():
    # Trap 1: one sequence asks for fewer features, so that it loads fewer at a lower hit ratio.
    instance, rng = caves(), np.random.default_rng(0)
    proximity = Proximity(instance.graph, instance.batch_size)
    one = replayed(instance, proximity.order(1, rng))
    ten = replayed(instance, proximity.order(10, rng))
    assert one["misses"] < ten["misses"]
    assert one["device_hits"] / one["requested"] < ten["device_hits"] / ten["requested"]


def test_order_helps_where_there_is_locality_only():
    # Trap 2: a geometric graph gains, a power-law graph hardly does.
    gains = []
    for draw in (geometric, power_law):
        instance = draw(np.random.default_rng(0), nodes=1500)
        rng = np.random.default_rng(1)
        order = Proximity(instance.graph, instance.batch_size).order(1, rng)
        shuffled = rng.permutation(len(order)).tolist()
        before, after = replayed(instance, shuffled), replayed(instance, order)
        gains.append(before["misses"] / after["misses"])
    assert gains[0] > 1.5 > gains[1]


def test_more_sequences_shuffle_better():
    instance, rng = caves(), np.random.default_rng(0)
    proximity = Proximity(instance.graph, instance.batch_size)
    error = [
        np.mean([proximity.shuffling_error(proximity.order(r, rng), rng) for _ in range(5)])
        for r in (1, 12)
    ]
    assert error[0] > error[1]


def test_the_fewest_sequences_within_the_tolerance_are_taken():
    instance = caves()
    proximity = Proximity(instance.graph, instance.batch_size)
    _, one, _ = fewest_sequences(proximity, 8, 1.0, np.random.default_rng(0))
    _, some, error = fewest_sequences(proximity, 8, 0.05, np.random.default_rng(0))
    assert one == 1
    assert some > 1
    assert error <= 0.05 or some <= 8


def test_without_labels_every_order_is_shuffled():
    graph = caves().graph.model_copy(update={"labels": None})
    proximity = Proximity(graph, 30)
    rng = np.random.default_rng(0)
    assert proximity.shuffling_error(proximity.order(1, rng), rng) == 0
