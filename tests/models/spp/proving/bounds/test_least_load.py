"""The least load against every plan."""

import numpy as np
import pytest

from gadgetopt.models.spp.evaluate import machines, max_load_s
from gadgetopt.models.spp.instance import SppSolution

from ...brute_force import (
    e2,
    plans,
    run,
    small_instance,
    two_level_instance,
    varied,
)


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_least_largest_load_of_all_plans(seed):
    rng = np.random.default_rng(seed)
    instance = two_level_instance(rng) if seed % 2 else small_instance(rng)
    if seed % 3 == 0:
        instance = varied(instance, rng)
    least = min(
        max_load_s(
            instance, machines(instance, SppSolution(stage_layers=a, stage_devices=b, orders=()))
        )
        for a, b in plans(instance)
    )
    assert float(run(instance, "least_load").bound) == pytest.approx(float(least), rel=1e-9)


def test_the_bounds_of_e2_by_hand():
    # Stage 0: 4 * 15 / 2 + 2 * 1/2 * 8 / 12. All work on four GPUs: 4 * 27 / 4.
    assert float(run(e2(), "least_load").bound) == pytest.approx(30 + 2 / 3, rel=1e-9)
    assert run(e2(), "even_work").bound == 27
