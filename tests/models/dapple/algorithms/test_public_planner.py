"""The public planner: its score on a published profile, and limits."""

from pathlib import Path

import numpy as np
import pytest

from gadgetopt.models.dapple.algorithms.public_planner import dapple_code, score_s
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.data.importers.profiles import dapple_profile
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.heuristics.readings import dapple_code_repaired
from gadgetopt.system.result import Limits

from ..chains import D1, D1_PLAN

RNG = np.random.default_rng(0)
PROFILE = Path(__file__).parents[5] / "shared" / "data" / "dapple" / "vgg-19-pbs-32.txt"


def test_the_score_of_a_plan_by_hand():
    # t = max(9, 6, 2) = 9: 3 * 9 + 30 + 2 + max(0.2, 3.1 - 9)
    assert score_s(D1, D1_PLAN, index_slip=False) == pytest.approx(59.2)
    # With the slip stage 0 counts three layers: 6/20.
    assert score_s(D1, D1_PLAN) == pytest.approx(59.3)


@pytest.mark.parametrize(
    ("cluster", "total", "speedup", "replicas"),
    [
        ("8,8", 1024, 9.8039, [14, 2]),
        (",".join(["1"] * 16), 2048, 10.3058, [14, 2]),
        ("2,2", 256, 2.5418, [3, 1]),
    ],
)
def test_published_plans_and_scores_of_vgg_19_come_out(cluster, total, speedup, replicas):
    if not PROFILE.exists():
        pytest.skip("the profiles are not beside the checkout")
    options = {"global_batch": total, "microbatch": 32, "profile_batch": 32, "cluster": cluster}
    ((_, instance),) = dapple_profile(
        [PROFILE], RNG, allreduce_intra_gbyte_per_s=25, **options
    ).instances
    rings = instance.options.model_copy(update={"nvlink_rings": True})
    instance = instance.model_copy(update={"options": rings})
    one_gpu = instance.num_microbatches * sum(x.fwd_time_s + x.bwd_time_s for x in instance.layers)
    found = dapple_code(instance, Limits())
    assert one_gpu / found.notes["score_s"] == pytest.approx(speedup, abs=6e-5)
    assert [len(gpus) for gpus in found.solution.stage_devices] == replicas


@pytest.mark.parametrize("seed", range(5))
def test_its_plan_is_feasible_and_of_its_claimed_length(seed):
    instance = random_chain(np.random.default_rng(seed), layers=6, gpus_per_machine=2)
    planner = dapple_code if seed % 2 else dapple_code_repaired
    found = planner(instance, Limits(), warmup="best")
    evaluation = evaluate(instance, found.solution)
    assert evaluation.feasible
    assert evaluation.objective == found.claimed_objective


def test_without_time_it_is_data_parallelism():
    found = dapple_code(D1, Limits(time_s=0))
    assert found.limit_hit == "time_s"
    assert len(found.solution.stage_layers) == 1
