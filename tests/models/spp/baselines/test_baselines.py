"""Baselines by their formulas, and as feasible solutions everywhere."""

import itertools

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.spp.baselines.planners import dapple, pipedream
from gadgetopt.models.spp.baselines.straight import data_parallel, even_blocks, gpipe, hetpipe
from gadgetopt.models.spp.data.generate.presets import (
    large_parameters,
    paper,
)
from gadgetopt.models.spp.evaluate import evaluate
from gadgetopt.system.result import Limits

from ..brute_force import e1, e2, instance_of, small_instance, varied

ALL = (data_parallel, gpipe, pipedream, dapple, hetpipe)


def run(method, instance, **parameters):
    return called(method, instance, Limits(), np.random.default_rng(0), **parameters)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("method", ALL)
def test_every_baseline_is_feasible_or_says_why_not(method, seed):
    rng = np.random.default_rng(seed)
    instance = varied(small_instance(rng, most_layers=7, most_gpus=4, most_m=6), rng)
    try:
        found = run(method, instance)
    except ModelRefused:
        return
    judged = evaluate(instance, found.solution)
    assert judged.feasible
    assert judged.objective == found.claimed_objective


def test_data_parallelism_is_its_formula():
    # 4 * (9 + 18) / 4 + 2 * 3/4 * 80 / 2.
    assert run(data_parallel, e2()).claimed_objective == 27 + 60


@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_gpipe_are_as_even_as_any(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, most_layers=8)
    L = instance.num_layers
    stages = int(rng.integers(1, L + 1))
    times = [x.fwd_time_s + x.bwd_time_s for x in instance.layers]

    def longest(cuts):
        return max(sum(times[a:b]) for a, b in itertools.pairwise((0, *cuts, L)))

    best = min(longest(cuts) for cuts in itertools.combinations(range(1, L), stages - 1))
    blocks = even_blocks(instance, stages)
    assert longest([end for _, end in blocks[:-1]]) == best


def test_gpipe_runs_all_forwards_first():
    found = run(gpipe, e1())
    assert found.solution.orders[0] == (1, 2, -1, -2)
    assert found.solution.plan.replicas == (1, 1)


def test_pipedream_alternates_after_the_warm_up():
    instance = instance_of([1, 1], [1, 1], [1e3, 1e3], [0], 4, [[0, 1], [1, 0]])
    found = run(pipedream, instance)
    assert found.solution.orders[0] == (1, 2, -1, 3, -2, 4, -3, -4)
    assert found.solution.orders[2] == (1, -1, 2, -2, 3, -3, 4, -4)


def test_pipedream_in_a_hierarchy_uses_whole_machines():
    instance = large_parameters(np.random.default_rng(0))
    found = run(pipedream, instance, network="hierarchical")
    devices = [v for gpus in found.solution.stage_devices for v in gpus]
    assert sorted(devices) == list(range(8))
    with pytest.raises(ModelRefused, match="hierarchical"):
        run(pipedream, e2(), network="hierarchical")


def test_dapple_warms_up_twice_as_long_for_transfers():
    instance = paper(np.random.default_rng(1), machines=2)
    starts = {}
    for policy in ("A", "B"):
        order = run(dapple, instance, warm_up=policy).solution.orders[0]
        starts[policy] = next(k for k, code in enumerate(order) if code < 0)
    assert (starts["A"], starts["B"]) == (2, 3)


def test_hetpipe_makes_every_machine_a_pipeline():
    instance = paper(np.random.default_rng(0), machines=2, gpus_per_machine=3, microbatches=5)
    found = run(hetpipe, instance)
    assert found.solution.stage_devices == ((0, 3), (1, 4), (2, 5))
    assert found.notes["own_makespan_s"] > 0
    assert run(hetpipe, instance, groups=3).solution.stage_devices == ((0, 2, 4), (1, 3, 5))
    with pytest.raises(ModelRefused, match="6 GPUs do not divide into 4"):
        run(hetpipe, instance, groups=4)
