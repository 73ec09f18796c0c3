"""PRM against its recurrence, computed literally."""

import math

import numpy as np
import pytest

from gadgetopt.models.spp.algorithms.block_costs import BlockCosts
from gadgetopt.models.spp.algorithms.prm import Prm
from gadgetopt.models.spp.algorithms.spp import plan_of
from gadgetopt.models.spp.evaluate import machines, max_load_s
from gadgetopt.models.spp.instance import SppSolution

from ..brute_force import instance_of, small_instance, varied


def literal(costs, most_stages, *, use_all_gpus=True):
    """(S7) as it stands: of equal values the smallest l', then the smallest r'."""
    L, V = costs.num_layers, costs.num_gpus
    W = {
        (ell, 1, i, i): float(costs.stage_s(i, i, 0, ell))
        for ell in range(1, L + 1)
        for i in range(1, V + 1)
    }
    before = {}
    for xi in range(2, most_stages + 1):
        for i in range(1, V + 1):
            for r in range(1, i):
                channel = costs.channel_s(i, r, i - r, slice(None))
                for ell in range(xi, L + 1):
                    best = math.inf
                    for start in range(xi - 1, ell):
                        stage = float(costs.stage_s(i, r, start, ell))
                        for r2 in range(1, i - r + 1):
                            known = W.get((start, xi - 1, r2, i - r), math.inf)
                            value = max(known, channel[r2 - 1, start], stage)
                            if value < best:
                                best, before[ell, xi, r, i] = value, (start, r2)
                    W[ell, xi, r, i] = best
    return [
        _best(W, before, xi, L, [V] if use_all_gpus else range(V, 0, -1))
        for xi in range(1, most_stages + 1)
    ]


def _best(W, before, xi, L, ends):
    finals = [(W.get((L, xi, r, i), math.inf), -i, r) for i in ends for r in range(1, i + 1)]
    load, i, r = min(finals, default=(math.inf, 0, 0))
    if math.isinf(load):
        return None
    ell, i, cuts, replicas = L, -i, [L], [r]
    for stage in range(xi, 1, -1):
        (ell, after), i = before[ell, stage, r, i], i - r
        r = after
        cuts.append(ell)
        replicas.append(r)
    return tuple(cuts[::-1]), tuple(replicas[::-1]), load


def random_instance(seed):
    """More layers and GPUs than brute force takes, with many equal loads."""
    rng = np.random.default_rng(seed)
    return small_instance(rng, most_layers=8, most_gpus=5, most_m=4), rng


def found_by(prm, stages):
    plan = prm.best(stages)
    return None if plan is None else (plan.ends, plan.replicas, plan.load_s)


@pytest.mark.parametrize("seed", range(60))
def test_values_and_ties_are_those_of_the_recurrence(seed):
    instance, rng = random_instance(seed)
    everywhere = instance.options.use_all_gpus
    costs = BlockCosts(instance, rng.permutation(instance.num_gpus).tolist())
    most = min(instance.num_layers, instance.num_gpus)
    prm = Prm(costs, use_all_gpus=everywhere)
    for xi, expected in enumerate(literal(costs, most, use_all_gpus=everywhere), start=1):
        if xi > 1:
            prm.extend()
        assert found_by(prm, xi) == expected


@pytest.mark.parametrize("seed", range(60, 100))
def test_states_left_out_for_a_known_makespan_change_no_plan_below_it(seed):
    instance, rng = random_instance(seed)
    costs = BlockCosts(instance, range(instance.num_gpus))
    most = min(instance.num_layers, instance.num_gpus)
    prm, known = Prm(costs), math.inf
    for xi, expected in enumerate(literal(costs, most), start=1):
        if xi > 1:
            prm.extend(known)
        if expected is None or expected[2] >= known:
            assert prm.best(xi) is None
        else:
            assert found_by(prm, xi) == expected
            known = min(known, expected[2] * float(rng.uniform(1, 1.3)))


@pytest.mark.parametrize("seed", range(30))
def test_variants_have_the_values_of_the_recurrence(seed):
    # Speeds, recomputation, latency, overlapped AllReduce, and memory for some stages only: with
    # recomputation the memory of a stage is not monotone in its first layer.
    instance, rng = random_instance(seed)
    instance = varied(instance, rng)
    if seed % 2:
        options = instance.options.model_copy(update={"memory_bytes": float(rng.integers(20, 120))})
        instance = instance.model_copy(update={"options": options})
    costs = BlockCosts(instance, range(instance.num_gpus))
    most = min(instance.num_layers, instance.num_gpus)
    prm = Prm(costs)
    for xi, expected in enumerate(literal(costs, most), start=1):
        if xi > 1:
            prm.extend()
        found = found_by(prm, xi)
        assert (found is None) == (expected is None)
        if found is not None:
            assert found[2] == pytest.approx(expected[2], rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_load_of_a_plan_is_that_of_the_evaluator(seed):
    instance, rng = random_instance(seed)
    instance = varied(instance, rng)
    gpus = rng.permutation(instance.num_gpus).tolist()
    prm = Prm(BlockCosts(instance, gpus), use_all_gpus=instance.options.use_all_gpus)
    for xi in range(1, min(instance.num_layers, instance.num_gpus) + 1):
        if xi > 1:
            prm.extend()
        found = prm.best(xi)
        if found is not None:
            plan = plan_of(found, gpus)
            whole = SppSolution.of(plan, ())
            load = max_load_s(instance, machines(instance, whole))
            assert float(load) == pytest.approx(found.load_s, rel=1e-12)


def test_plans_of_equal_load_are_listed():
    # e1 with two stages: both cuts have W = 36.
    instance = instance_of([2, 4, 2], [4, 8, 4], [0, 0, 120], [6, 6], 2, [[0, 6], [6, 0]])
    prm = Prm(BlockCosts(instance, [0, 1]))
    prm.extend()
    found = prm.best(2)
    assert found.load_s == 36
    assert found.ends == (1, 3)
    assert [plan.ends for plan in prm.tied(found)] == [(1, 3), (2, 3)]
