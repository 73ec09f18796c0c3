"""Presets: ranges, totals and hardware."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.dapple.data.generate.networks import (
    NETWORKS,
    paper,
)
from gadgetopt.models.dapple.data.generate.presets import (
    misled,
    quickstart,
    random_chain,
)

from ...chains import D2


@pytest.mark.parametrize("model", NETWORKS)
def test_a_network_has_its_totals(model):
    network = NETWORKS[model]
    for hardware, machines in (("A", 2), ("B", 16), ("C", 16)):
        instance = paper(np.random.default_rng(1), model=model, hardware=hardware)
        layers = instance.layers
        assert len(layers) == network.layers
        assert sum(x.fwd_time_s + x.bwd_time_s for x in layers) == pytest.approx(
            network.compute_s, rel=1e-4
        )
        assert sum(x.param_bytes for x in layers) == pytest.approx(network.param_bytes, rel=1e-6)
        assert instance.num_gpus == 16
        assert len(instance.cluster.gpus_per_machine) == machines
        assert instance.num_microbatches == network.microbatches


def test_unknown_names_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="model: 'bert', expected one of"):
        paper(rng, model="bert")
    with pytest.raises(InputError, match="hardware: 'D', expected one of A, B, C"):
        paper(rng, hardware="D")
    with pytest.raises(InputError, match="layers: 0, expected at least 1"):
        random_chain(rng, layers=0)
    with pytest.raises(InputError, match="stretch: 0, expected a positive number"):
        misled(rng, stretch=0)


def test_misled_is_d2():
    assert misled(np.random.default_rng(0)) == D2


def test_a_seed_decides_everything():
    assert quickstart(np.random.default_rng(5)) == quickstart(np.random.default_rng(5))
    assert quickstart(np.random.default_rng(5)) != quickstart(np.random.default_rng(6))
