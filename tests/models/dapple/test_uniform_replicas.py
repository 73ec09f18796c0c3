"""`options.uniform_replicas`: all stages have equally many GPUs, by every route.

GADGETOPT_UNIFORM=300 in the environment tries more random instances (default 10).
"""

import os

import numpy as np
import pytest

from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.instance import DappleInstance, DappleSolution
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .brute_force import least_bound, optimum
from .chains import drawn as three_gpus
from .chains import instance_of

TRIES = int(os.environ.get("GADGETOPT_UNIFORM", "10"))
EXACT = ("exact_plans", "cp_joint", "joint@highs")
PLANNERS = (
    *("dapple", "dapple_code", "dapple_reading", "dapple_all_prefixes", "dapple_code_repaired"),
    *("data_parallel", "gpipe", "straight", "pipedream", "least_bound"),
)


def uniform(instance: DappleInstance) -> DappleInstance:
    options = instance.options.model_copy(update={"uniform_replicas": True})
    return instance.model_copy(update={"options": options})


def drawn(seed: int) -> DappleInstance:
    """Return a random instance of three layers on three or four GPUs."""
    if seed % 2:
        return uniform(three_gpus(seed))
    rng = np.random.default_rng([42, seed])
    cluster = TwoLevelCluster(
        gpus_per_machine=((2, 2), (4,), (3, 1))[seed // 2 % 3],
        intra_bytes_per_s=float(rng.integers(4, 12)),
        inter_bytes_per_s=float(rng.integers(1, 5)),
    )
    columns = [rng.integers(0, high, 3) for high in (9, 15, 20, 12)]
    model = ("planner_code", "simple")[seed // 2 % 2]
    return uniform(instance_of(*columns, 2, cluster, comm_model=model))


def run(instance: DappleInstance, method: str):
    document = Document(problem("dapple"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=60))


@pytest.mark.parametrize("seed", range(TRIES))
def test_all_routes_agree_with_all_uniform_plans(seed):
    instance = drawn(seed)
    best = optimum(instance)
    for method in (*EXACT, "bound@highs", *PLANNERS):
        result = run(instance, method)
        if result.status is Status.NOT_APPLICABLE:  # this model is not made for the instance
            assert method not in ("exact_plans", "least_bound")
            continue
        assert result.status is not Status.ERROR, (method, result.reason)
        if method in EXACT:
            wanted = Status.INFEASIBLE if best is None else Status.OPTIMAL
            assert result.status is wanted, method
        if result.objective is not None:
            assert len(set(map(len, result.solution.stage_devices))) == 1
            assert float(result.objective) >= float(best) * (1 - 1e-9), method
        if method in EXACT and best is not None:
            assert float(result.objective) == pytest.approx(float(best), rel=1e-6), method
        if best is not None and result.bound is not None:
            assert float(result.bound) <= float(best) * (1 + 1e-6), method


@pytest.mark.parametrize("seed", range(6))
def test_the_least_bound_is_that_of_all_uniform_plans(seed):
    instance = drawn(seed)
    result = run(instance, "least_bound")
    assert float(result.bound) == pytest.approx(float(least_bound(instance)), rel=1e-9)
    assert result.bound_voucher.value == "verified"


def test_the_evaluator_rejects_uneven_plans():
    instance = instance_of(
        [2, 1],
        [4, 2],
        [0, 0],
        [1, 0],
        2,
        TwoLevelCluster(gpus_per_machine=(3,), intra_bytes_per_s=1.0, inter_bytes_per_s=1.0),
    )
    solution = DappleSolution(
        stage_layers=((0, 1), (1, 2)), stage_devices=((0, 1), (2,)), warmup=(2, 1)
    )
    assert evaluate(instance, solution).feasible
    (violation,) = evaluate(uniform(instance), solution).violations
    assert (violation.constraint, violation.amount) == ("uneven_replicas", 1)


def test_fingerprints_are_those_from_before_the_option():
    found = read_instance(library() / "quickstart" / "dapple.json")
    assert found.fingerprint.startswith("97c36fa07bd8a308")
