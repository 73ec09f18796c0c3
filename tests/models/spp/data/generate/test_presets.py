"""Presets draw what they say, in round numbers."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.spp.data.generate import presets


@pytest.mark.parametrize(
    "preset", ["quickstart", "paper", "arbitrary", "fat_tree", "large_parameters"]
)
def test_presets_are_reproducible(preset):
    draw = getattr(presets, preset)
    assert draw(np.random.default_rng(3)) == draw(np.random.default_rng(3))
    assert draw(np.random.default_rng(3)) != draw(np.random.default_rng(4))


def test_chains_are_in_their_ranges():
    instance = presets.paper(np.random.default_rng(0), layers=200)
    for layer in instance.layers[:-1]:
        assert 1e-3 <= layer.fwd_time_s <= 10e-3
        assert 1.79 <= layer.bwd_time_s / layer.fwd_time_s <= 2.21
        assert layer.param_bytes == 0 or 1e6 <= layer.param_bytes <= 400e6
        assert 1e6 <= layer.act_bytes <= 200e6
    with_parameters = sum(layer.param_bytes > 0 for layer in instance.layers)
    assert 70 < with_parameters < 130


def test_a_fat_tree_has_three_levels():
    instance = presets.fat_tree(np.random.default_rng(0))
    b = np.array(instance.cluster.bandwidth_bytes_per_s) / 1e9
    assert (b[0, 1], b[0, 2], b[0, 4]) == (12, 3, 1.25)


def test_a_chain_has_layers():
    with pytest.raises(InputError, match="layers: 0"):
        presets.paper(np.random.default_rng(0), layers=0)
