"""Bounds beyond tiny instances: certified, below the optimum, and better than the LP."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import (
    planted,
    quickstart,
)

from ...brute_force import run

BOUNDS = ("isolating_cuts", "elimination_bound")


@pytest.mark.parametrize("seed", range(2))
def test_bounds_beat_the_linear_program_on_two_communities(seed):
    instance = planted(np.random.default_rng(seed), nodes=60)
    best = run(instance, "elimination")
    weak = run(instance, "difference_lp@highs").bound
    for method in BOUNDS:
        found = run(instance, method)
        assert found.bound_voucher == "verified"
        assert weak < found.bound <= best.bound
    assert run(instance, "elimination_bound").bound == best.bound


def test_fewer_partial_partitions_prove_less():
    instance = quickstart(np.random.default_rng(0))
    bounds = [run(instance, f"elimination_bound:most_states={m}").bound for m in (10, 1000, 10**6)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
