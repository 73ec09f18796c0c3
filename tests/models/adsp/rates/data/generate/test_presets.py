"""Presets: the degree of heterogeneity that was asked for, reproducible, feasible."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.adsp.rates.data.generate import presets
from gadgetopt.models.adsp.rates.features import features


@pytest.mark.parametrize("wanted", [1.0, 1.45, 2.0, 2.6, 3.2])
@pytest.mark.parametrize("workers", [18, 36])
def test_the_testbed_has_the_heterogeneity_asked_for(wanted, workers):
    instance = presets.paper(np.random.default_rng(0), heterogeneity=wanted, workers=workers)
    assert features(instance)["heterogeneity"] == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("preset", [presets.quickstart, presets.paper, presets.one_straggler])
def test_presets_are_reproducible_and_feasible(preset):
    drawn = [preset(np.random.default_rng(3)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert drawn[0].last_window_start >= 1


def test_wrong_parameters_are_one_line():
    with pytest.raises(InputError, match=r"heterogeneity: 0\.5, expected at least 1"):
        presets.paper(np.random.default_rng(0), heterogeneity=0.5)
    with pytest.raises(InputError, match="model: 'b2', expected"):
        presets.uniform(np.random.default_rng(0), model="b2")
