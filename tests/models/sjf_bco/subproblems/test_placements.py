"""All placements of a gang are listed once, or refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.subproblems.placements import placements_of

from ..hand_checked import instance, job


@pytest.mark.parametrize("seed", range(20))
def test_they_are_all_ways_to_share_out_a_gang(seed):
    rng = np.random.default_rng(seed)
    capacities = rng.integers(1, 5, rng.integers(1, 6)).tolist()
    gangs = rng.integers(1, sum(capacities) + 1, 2).tolist()
    found = placements_of(instance(capacities, [job(g, 1) for g in gangs]))
    for k, g in enumerate(gangs):
        rows = found.gpus[found.first[k] : found.first[k + 1]].tolist()
        every = product(*(range(min(c, g), -1, -1) for c in capacities))
        assert rows == [list(row) for row in every if sum(row) == g]


def test_many_servers_and_huge_gangs_are_listed_or_refused_at_once():
    many = placements_of(instance([1] * 1500, [job(1, 1)]))
    assert many.gpus.sum() == len(many.gpus) == 1500
    assert len(placements_of(instance([10**12, 1], [job(10**12, 1)])).gpus) == 2
    with pytest.raises(ModelRefused, match="placements to list"):
        placements_of(instance([10**12, 10**12], [job(10**12, 1)]))
    with pytest.raises(ModelRefused, match="servers of the placements"):
        placements_of(instance([1] * 1500, [job(2, 1)]))
