"""Plans of DAPPLE for PyTorch, torchtitan, Megatron and DeepSpeed are worth what was written."""

import numpy as np
import pytest

import gadgetopt
from gadgetopt.models.dapple.instance import DappleSolution
from gadgetopt.pieces.exporting import written
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.plan import Plan

from ..chains import instance_of

PROBLEM = gadgetopt.problem("dapple")


def random_case(seed):
    """A random chain on machines with a uniform plan, by warm-up numbers or with orders."""
    rng = np.random.default_rng([8, seed])
    r, S = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    L, M = int(rng.integers(max(S, 3), 9)), int(rng.integers(1, 6))
    cluster = TwoLevelCluster(
        gpus_per_machine=(r, r * (S - 1)) if S > 1 else (r,),
        intra_bytes_per_s=12.0,
        inter_bytes_per_s=3.0,
    )
    columns = [rng.integers(0, 9, size=L) for _ in range(4)]
    model = ("simple", "planner_code")[seed % 2]
    options = PipelineOptions(uniform_replicas=True)
    instance = instance_of(*columns, M, cluster, comm_model=model, options=options)
    ends = [*sorted(rng.choice(range(1, L), S - 1, replace=False).tolist()), L]
    gpus = rng.permutation(r * S).tolist()
    plan = Plan(
        stage_layers=tuple(zip([0, *ends[:-1]], ends, strict=True)),
        stage_devices=tuple(tuple(gpus[n * r : n * r + r]) for n in range(S)),
    )
    warmup = sorted(rng.integers(1, M + 1, size=S).tolist(), reverse=True)
    if seed % 3:
        return instance, DappleSolution.of(plan, warmup=warmup)
    turn = [code for m in range(1, M + 1) for code in (m, -m)]
    return instance, DappleSolution.of(plan, orders=[turn] * (2 * S - 1))


@pytest.mark.parametrize("exporter", PROBLEM.exporters, ids=lambda e: e.format)
def test_a_hundred_random_plans_are_read_with_their_objectives(exporter):
    for seed in range(100):
        instance, solution = random_case(seed)
        judged = written(PROBLEM, exporter, instance, solution, exporter.parameters)
        again = exporter.read_back(instance, judged.exported)
        if exporter.format == "chakra":  # GPUs of a stage come as a set
            assert again.plan.stage_layers == solution.plan.stage_layers
            groups = zip(again.plan.stage_devices, solution.plan.stage_devices, strict=True)
            assert all(sorted(a) == sorted(b) for a, b in groups)
        else:
            assert again.plan == solution.plan
        assert PROBLEM.evaluate(instance, again).objective == judged.kept
        if exporter.format == "torch-csv" and solution.warmup is not None:
            assert judged.kept == judged.objective  # links serve what comes first, as there
