"""PipeDream's recurrence against enumeration."""

import itertools
import math

import numpy as np
import pytest

from gadgetopt.pieces.pipeline.slowest_stage import Level, plan_slowest_stage


def enumerated(c, w, a, machines, bandwidth, transfers, straight):
    """The least slowest stage over all cuts and machines, from the recurrence's own costs."""
    layers, best = len(c), math.inf
    for stages in range(1, min(layers, machines) + 1):
        for cuts in itertools.combinations(range(1, layers), stages - 1):
            ends = [0, *cuts, layers]
            for r in itertools.product(range(1, machines + 1), repeat=stages):
                if sum(r) != machines or (straight and max(r) > 1):
                    continue
                value = 0.0
                for n, (first, end) in enumerate(itertools.pairwise(ends)):
                    reduce_s = 4 * (r[n] - 1) * sum(w[first:end]) / (bandwidth * r[n])
                    value = max(value, (sum(c[first:end]) + reduce_s) / r[n])
                    if transfers and n > 0:
                        value = max(value, 2 * a[first - 1] / (bandwidth * r[n]))
                        if end < layers:
                            value = max(value, 2 * a[end - 1] / (bandwidth * r[n]))
                best = min(best, value)
    return best


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("transfers", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_recurrence_finds_the_least_slowest_stage(seed, transfers, straight):
    rng = np.random.default_rng(seed)
    layers, machines = int(rng.integers(4, 6)), int(rng.integers(1, 5))
    c, w, a = (rng.integers(0, 20, layers).astype(float) for _ in range(3))
    levels = [Level(machines, 3.0)]
    plan = plan_slowest_stage(c, w, a, levels, transfers=transfers, straight=straight)
    expected = enumerated(c, w, a, machines, 3.0, transfers, straight)
    assert plan.slowest_s == pytest.approx(expected)
    assert plan.stages[0][0] == 0
    assert plan.stages[-1][1] == layers
    assert sum(units for _, _, units in plan.stages) == machines


def test_more_straight_stages_than_layers_are_no_plan():
    assert plan_slowest_stage([1.0], [0.0], [0.0], [Level(2, 1.0)], straight=True) is None


def test_in_a_hierarchy_an_interval_on_one_machine_costs_its_best_inside():
    # Without weights and transfers, two GPUs in each of two machines do what four GPUs do if the
    # cuts fit: layers of 4 on 4 GPUs in pairs.
    flat = plan_slowest_stage([4.0] * 4, [0.0] * 4, [0.0] * 4, [Level(4, 1.0)])
    nested = plan_slowest_stage([4.0] * 4, [0.0] * 4, [0.0] * 4, [Level(2, 1.0), Level(2, 1.0)])
    assert flat.slowest_s == nested.slowest_s == 4.0
    assert [plan.slowest_s for plan in nested.inner] == [
        plan_slowest_stage(
            [4.0] * (b - a), [0.0] * (b - a), [0.0] * (b - a), [Level(2, 1.0)]
        ).slowest_s
        for a, b, _ in nested.stages
    ]
