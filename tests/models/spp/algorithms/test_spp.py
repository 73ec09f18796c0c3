"""SPP on instances computed by hand; PE against its rounds; nothing is lost by pruning."""

import math
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.spp.algorithms.block_costs import BlockCosts
from gadgetopt.models.spp.algorithms.device_order import rdo
from gadgetopt.models.spp.algorithms.prm import Prm
from gadgetopt.models.spp.algorithms.spp import pe, plan_of, spp
from gadgetopt.models.spp.data.generate.presets import paper
from gadgetopt.models.spp.evaluate import evaluate
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.system.result import Limits

from ..brute_force import e1, e2, small_instance, varied


def run(instance):
    return spp(instance, Limits())


def test_least_load_is_not_least_time():
    assert run(e1()).claimed_objective == 44


def test_the_gpus_are_ordered_by_rdo():
    assert run(e2()).claimed_objective == 35 + Fraction(1, 6)


def test_loads_and_makespans_of_e2_by_number_of_stages():
    loads = {"rdo": [87, 30 + Fraction(2, 3), 36, 48], "natural": [87, 42 + Fraction(2, 3), 48, 96]}
    times = [87, 35 + Fraction(1, 6), 50 + Fraction(1, 6), 76]
    for order, gpus in (("rdo", (0, 2, 1, 3)), ("natural", (0, 1, 2, 3))):
        prm = Prm(BlockCosts(e2(), gpus))
        for xi in range(1, 5):
            if xi > 1:
                prm.extend()
            found = prm.best(xi)
            assert found.load_s == pytest.approx(float(loads[order][xi - 1]), rel=1e-12)
            if order == "rdo":
                assert pe(e2(), plan_of(found, gpus)).makespan_s == times[xi - 1]


@pytest.mark.parametrize("S", [1, 2, 3, 5])
@pytest.mark.parametrize("M", [1, 2, 5, 20])
def test_pe_serves_blocks_round_by_round(S, M):
    # Block j takes microbatch t - j + 1 in round t, later blocks first.
    lists = [[] for _ in range(2 * S - 1)]
    J = 4 * S - 3
    for t in range(1, M + J):
        for j in range(J, 0, -1):
            m = t - j + 1
            if not 1 <= m <= M:
                continue
            q = j - 1 if j <= 2 * S - 1 else J - j
            if j == 2 * S - 1:
                lists[q] += [m, -m]
            else:
                lists[q].append(m if j < 2 * S - 1 else -m)
    instance = small_instance(np.random.default_rng(0))
    layers = [instance.layers[0]] * S
    b = [[0.0 if u == v else 1.0 for v in range(S)] for u in range(S)]
    cluster = {"type": "matrix", "bandwidth_bytes_per_s": tuple(map(tuple, b))}
    many = type(instance)(layers=tuple(layers), num_microbatches=M, cluster=cluster)
    plan = Plan(
        stage_layers=tuple((n, n + 1) for n in range(S)),
        stage_devices=tuple((n,) for n in range(S)),
    )
    assert pe(many, plan).orders == lists


@pytest.mark.parametrize("seed", range(60))
def test_spp_is_the_best_of_all_numbers_of_stages(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, most_layers=8, most_gpus=6, most_m=5)
    if seed % 3 == 0:
        instance = varied(instance, rng)
    found = run(instance)
    gpus = rdo(np.array(instance.cluster.bandwidth_bytes_per_s))
    prm = Prm(BlockCosts(instance, gpus), use_all_gpus=instance.options.use_all_gpus)
    best, stages = math.inf, 0
    for xi in range(1, instance.most_stages + 1):
        if xi > 1:
            prm.extend()
        plan = prm.best(xi)
        if plan is not None:
            time_s = pe(instance, plan_of(plan, gpus)).makespan_s
            if time_s < best:
                best, stages = time_s, xi
    judged = evaluate(instance, found.solution)
    assert judged.feasible
    assert judged.objective == found.claimed_objective == best
    assert found.notes["stages"] == stages


def test_time_that_is_up_leaves_the_best_so_far():
    instance = small_instance(np.random.default_rng(5), most_layers=8, most_gpus=6)
    found = spp(instance, Limits(time_s=0.0))
    assert found.limit_hit == "time_s"
    assert found.solution is not None


@pytest.mark.parametrize("time_s", [0.0, 0.2])
def test_a_limit_leaves_the_best_plan_so_far(time_s):
    # The tables of plans on 128 GPUs take many times as long.
    instance = paper(np.random.default_rng(0), layers=96, machines=32)
    outcome = spp(instance, Limits(time_s=time_s))
    assert outcome.limit_hit == "time_s"
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    assert found.objective == outcome.claimed_objective
