"""The planner of the least pivot latency: hand-checked plans, and enumeration of its candidates."""

import numpy as np
import pytest

from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import Layer, PipelineInstance, PipelineOptions
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.pivot_latency import latency_s, pivot_of
from gadgetopt.pieces.pipeline.placement import choices, devices
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

CLUSTER = TwoLevelCluster(gpus_per_machine=(2, 2), intra_bytes_per_s=20.0, inter_bytes_per_s=2.0)


def instance_of(fwd, bwd, params, act, microbatches=4, cluster=CLUSTER, **more):
    rows = zip(fwd, bwd, params, act, strict=True)
    layers = tuple(
        Layer(fwd_time_s=float(f), bwd_time_s=float(b), param_bytes=float(p), act_bytes=float(d))
        for f, b, p, d in rows
    )
    given = {"layers": layers, "num_microbatches": microbatches, "cluster": cluster}
    return PipelineInstance(**given | {"comm_model": "planner_code"} | more)


D1 = instance_of([3, 3, 3, 1], [6, 6, 6, 2], [2, 2, 2, 60], [8, 4, 2, 0])
D2 = instance_of([4, 2, 2, 4], [8, 4, 4, 8], [20] * 4, [2, 2, 2, 0])


def test_it_returns_the_plan_whose_latency_is_below_the_optimum():
    found = plan_by_latency(D1, Clock())
    assert found.plan.stage_layers == ((0, 2), (2, 4))
    assert found.plan.stage_devices == ((0, 1), (2, 3))
    assert found.latency_s == pytest.approx(36.2)
    assert found.candidates == 33


def test_the_pivot_rule_misleads_it():
    found = plan_by_latency(D2, Clock())
    assert found.plan.stage_layers == ((0, 1), (1, 2), (2, 4))
    assert found.plan.stage_devices == ((0,), (1,), (2, 3))
    assert found.latency_s == pytest.approx(48.0)
    best = plan_by_latency(D2, Clock(), pivot="max")
    assert best.plan.stage_layers == ((0, 2), (2, 4))
    assert best.latency_s == pytest.approx(49.0)


def candidates(instance, variant):
    """All complete plans that the recursion visits."""
    sizes, layers = instance.cluster.gpus_per_machine, instance.num_layers

    def visit(done, used, ranges, gpus):
        left = [s - u for s, u in zip(sizes, used, strict=True)]
        yield Plan(
            stage_layers=(*ranges, (done, layers)),
            stage_devices=(*gpus, devices(sizes, used, left)),
        )
        for end in range(done + 1, layers):
            for need in range(1, sum(left)):
                for counts in choices(sizes, used, need, variant):
                    more = tuple(u + c for u, c in zip(used, counts, strict=True))
                    taken = devices(sizes, used, counts)
                    yield from visit(end, more, (*ranges, (done, end)), (*gpus, taken))

    yield from visit(0, (0,) * len(sizes), (), ())


def latency_of(instance, plan):
    f, b, a = (row.tolist() for row in shop_of(instance, plan).in_seconds())
    m = instance.num_microbatches
    return latency_s(f, b, a, m, pivot_of(f, b, a, m))


OPTIONS = [
    {},
    {"recompute": True, "transfer_latency_s": 0.5, "nvlink_rings": True},
    {"overlap_allreduce": True},
    {"memory_bytes": 40.0, "weights_factor": 1.0},
    {"memory_bytes": 40.0, "weights_factor": 1.0, "recompute": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_candidates_is_found(seed, options):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 12, 4) for _ in range(4)]
    sizes = ((2, 2), (3, 1))[seed % 2]
    cluster = TwoLevelCluster(
        gpus_per_machine=sizes, intra_bytes_per_s=8.0, inter_bytes_per_s=2.0, speeds=(1.0, 0.5)
    )
    instance = instance_of(*columns, 3, cluster, options=PipelineOptions(**options))
    for variant in ("fallback", "code"):
        plans = list(candidates(instance, variant))
        allowed = [plan for plan in plans if not plan_violations(instance, plan)]
        found = plan_by_latency(instance, Clock(), variant=variant)
        if not allowed:
            assert found.plan is None
            continue
        least = min(latency_of(instance, plan) for plan in allowed)
        assert found.latency_s == pytest.approx(least)
        assert latency_of(instance, found.plan) == pytest.approx(least)
        if not options:
            assert found.candidates == len(plans)


def test_a_memo_and_a_limit_of_stages_only_leave_plans_out():
    everything = plan_by_latency(D2, Clock())
    assert plan_by_latency(D2, Clock(), memo="best_prefix").latency_s >= everything.latency_s
    two = plan_by_latency(D2, Clock(), max_stages=2)
    assert two.plan.num_stages <= 2
    assert two.latency_s >= everything.latency_s


def test_a_matrix_of_bandwidths_is_one_machine():
    matrix = tuple(tuple(0.0 if u == v else 2.0 for v in range(3)) for u in range(3))
    cluster = MatrixCluster(bandwidth_bytes_per_s=matrix)
    instance = instance_of([1, 1], [1, 1], [0, 0], [0, 0], 4, cluster, comm_model="pair_slice")
    found = plan_by_latency(instance, Clock())
    assert not plan_violations(instance, found.plan)


def test_without_time_it_returns_data_parallelism():
    found = plan_by_latency(D2, Clock(Limits(time_s=0)))
    assert found.plan.num_stages == 1
    assert not found.complete
