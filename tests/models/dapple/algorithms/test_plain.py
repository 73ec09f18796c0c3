"""The fast planner is the printed one."""

import numpy as np
import pytest

from gadgetopt.models.dapple.algorithms import plain
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.heuristics.readings import dapple_all_prefixes
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.system.result import Limits

from ..chains import D1, D2, D2_PLANNED, instance_of

RNG = np.random.default_rng(0)


def drawn(seed):
    """Four layers on four GPUs; options that the paper has."""
    rng = np.random.default_rng([38, seed])
    sizes = ((2, 2), (1, 3), (1, 1, 2), (4,))[int(rng.integers(4))]
    cluster = TwoLevelCluster(
        gpus_per_machine=sizes,
        intra_bytes_per_s=float(rng.integers(4, 12)),
        inter_bytes_per_s=float(rng.integers(1, 5)),
        allreduce_intra_bytes_per_s=float(rng.integers(8, 20)),
        allreduce_inter_bytes_per_s=float(rng.integers(2, 9)),
        multi_inter_bytes_per_s=float(rng.integers(1, 5)),
    )
    columns = [rng.integers(1, high, 4) for high in (9, 15, 60, 12)]
    options = PipelineOptions(max_in_flight=(None, None, 1, 2)[int(rng.integers(4))])
    return instance_of(*columns, int(rng.integers(1, 7)), cluster, options=options)


@pytest.mark.parametrize("block", range(10))
def test_the_fast_planner_finds_the_least_latency_of_the_printed_one(block):
    """The same plan too, unless plans tie: the fast planner then prefers fewer stages."""
    for seed in range(12 * block, 12 * (block + 1)):
        instance = drawn(seed)
        lat, printed = plain.dapple(instance)
        fast = dapple_all_prefixes(instance, Limits())
        assert fast.notes["latency_paper_s"] == pytest.approx(float(lat), rel=1e-12)
        tied = [
            stages
            for stages in plain.plan(instance, 0, frozenset(), [])
            if plain.latency(instance, stages) == lat
        ]
        stages = list(zip(fast.solution.stage_layers, fast.solution.stage_devices, strict=True))
        assert stages in tied
        if len(tied) == 1:
            assert fast.solution == printed
        by_policy = (plain.with_warmup(instance, stages, policy) for policy in "AB")
        assert fast.claimed_objective == min(plain.length(instance, x) for x in by_policy)


def test_the_printed_planner_by_hand():
    _, planned = plain.dapple(D2)
    assert planned.plan == D2_PLANNED
    assert evaluate(D1, plain.dapple(D1)[1]).feasible


@pytest.mark.parametrize(
    ("occupied", "need", "sets"),
    [
        ({0, 1, 4}, 3, [(8, 9, 10), (2, 3, 5), (2, 3, 5)]),
        (set(), 6, [tuple(range(6)), tuple(range(6)), (0, 1, 4, 5, 8, 9)]),
        (set(range(5)), 4, [(8, 9, 10, 11), (5, 6, 7, 8), (5, 6, 7, 8)]),
    ],
)
def test_policies_by_hand_on_three_machines_of_four(occupied, need, sets):
    cluster = TwoLevelCluster(
        gpus_per_machine=(4, 4, 4), intra_bytes_per_s=1.0, inter_bytes_per_s=1.0
    )
    instance = D1.model_copy(update={"cluster": cluster})
    policies = (plain.fresh_first, plain.append_first, plain.scatter_first)
    assert [policy(instance, frozenset(occupied), need) for policy in policies] == sets
