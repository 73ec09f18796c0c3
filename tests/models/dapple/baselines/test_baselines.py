"""Baselines: formulas, balance by enumeration, and flattened hierarchies."""

import itertools

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.dapple.baselines.blocks import balanced_ends
from gadgetopt.models.dapple.baselines.parallel import data_parallel, gpipe, straight
from gadgetopt.models.dapple.baselines.pipedream import pipedream
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.system.result import Limits

from ..chains import D1

RNG = np.random.default_rng(0)


def test_data_parallelism_is_its_formula():
    # M (F + B) + AR = 4 * 30/4 + 2 * 3/4 * 66/2
    assert data_parallel(D1).claimed_objective == 30 + 49.5


@pytest.mark.parametrize("seed", range(10))
def test_blocks_are_balanced(seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 9, 6).tolist()
    replicas = rng.integers(1, 4, int(rng.integers(1, 5))).tolist()

    def slowest(ends):
        blocks = itertools.pairwise((0, *ends))
        return max(sum(times[a:b]) / r for (a, b), r in zip(blocks, replicas, strict=True))

    every = itertools.combinations(range(1, 6), len(replicas) - 1)
    best = min(slowest((*cuts, 6)) for cuts in every)
    ends = balanced_ends(times, replicas)
    assert slowest(ends) == pytest.approx(best)
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", [data_parallel, gpipe, straight, pipedream])
def test_every_baseline_is_feasible_and_claims_its_length(method, seed):
    instance = random_chain(
        np.random.default_rng(seed), layers=9, machines=3, gpus_per_machine=2, microbatches=7
    )
    found = called(method, instance, Limits(), RNG)
    evaluation = evaluate(instance, found.solution)
    assert evaluation.feasible
    assert evaluation.objective == found.claimed_objective


def test_gpus_are_shared_out_where_there_are_fewer_stages():
    assert [len(d) for d in gpipe(D1, stages=3).solution.stage_devices] == [2, 1, 1]
    with pytest.raises(ModelRefused, match="stages: 5, expected 0 to 4"):
        straight(D1, stages=5)


def test_gpipe_needs_memory_for_all_microbatches():
    capped = D1.model_copy(update={"options": PipelineOptions(max_in_flight=2)})
    with pytest.raises(ModelRefused, match="all microbatches in flight"):
        gpipe(capped)


def test_a_hierarchical_plan_repeats_stages_in_all_its_machines():
    instance = random_chain(
        np.random.default_rng(0), layers=8, machines=4, gpus_per_machine=3, inter_gbyte_per_s=0.1
    )
    found = pipedream(instance, network="hierarchical")
    evaluation = evaluate(instance, found.solution)
    assert evaluation.feasible
    machine_of = instance.cluster.machine_of
    for devices in found.solution.stage_devices:
        counts = {k: sum(machine_of[v] == k for v in devices) for k in range(4)}
        assert len({c for c in counts.values() if c}) == 1
    uneven = TwoLevelCluster(gpus_per_machine=(3, 1), intra_bytes_per_s=20.0, inter_bytes_per_s=2.0)
    with pytest.raises(ModelRefused, match="expected machines of one size"):
        pipedream(D1.model_copy(update={"cluster": uneven}), network="hierarchical")


def test_a_plan_that_breaks_a_limit_is_refused():
    two = D1.model_copy(update={"options": PipelineOptions(memory_bytes=50.0)})
    with pytest.raises(ModelRefused, match="the plan breaks a limit of the instance"):
        data_parallel(two)
