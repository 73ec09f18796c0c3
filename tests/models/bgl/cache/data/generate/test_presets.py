"""Presets draw what they say."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.cache.data.generate.presets import batches, geometric, paper, power_law


@pytest.mark.parametrize("draw", [geometric, power_law])
def test_a_request_holds_its_training_node_and_a_sampled_neighbourhood(draw):
    instance = draw(np.random.default_rng(0), nodes=300, fanouts="2,2")
    for node, needed in zip(instance.graph.train_nodes, instance.requests, strict=True):
        assert node in needed
        assert len(needed) <= 1 + 2 + 4


def test_caves_are_classes():
    instance = paper(np.random.default_rng(0), caves=20, cave_nodes=5)
    assert set(instance.graph.labels) <= set(range(10))


def test_weights_and_sizes_are_drawn_on_request():
    instance = batches(np.random.default_rng(0), most_weight=5, most_size=3, order="given")
    assert max(instance.weights) <= 5
    assert max(instance.sizes) <= 3


@pytest.mark.parametrize("wrong", ["", "5,x", "0,2"])
def test_fanouts_are_positive_integers(wrong):
    with pytest.raises(InputError, match="fanouts: "):
        paper(np.random.default_rng(0), caves=4, fanouts=wrong)
