"""The search in order of time: what it keeps by depth is what a state is worth."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.proving.bounds.mode_lp import ModeLp
from gadgetopt.models.sjf_bco.proving.certificate.mode_prices import (
    Modes,
    price_tables,
)
from gadgetopt.models.sjf_bco.proving.exact.chronological import Chronological
from gadgetopt.models.sjf_bco.proving.exact.chronological_loops import (
    DEPTH,
    LEFT,
    USED,
)
from gadgetopt.system.result import Limits


@pytest.mark.parametrize("seed", range(3))
def test_values_by_depth_are_those_of_the_states(seed):
    instance = contended_small(np.random.default_rng(seed), jobs=5, servers=3)
    modes = Modes(instance)
    work = instance.rates.iterations
    prices = ModeLp(modes).prices(work, [0] * len(work), Limits())
    search = Chronological(instance, instance.horizon_slots, price_tables(modes, [prices]))
    data, path = search._data, search._path
    for _ in range(20):
        search.step(1)
        for depth in range(int(path.counts[DEPTH])):
            used = path.jobs[USED, depth]
            servers = [data.options[o - 1, -1] if o else 0 for o in used]
            jobs = range(len(work))
            worth = data.worth[jobs, servers, path.jobs[LEFT, depth]].sum(axis=0)
            assert path.value[depth].tolist() == worth.tolist()
