"""G1 to G5 on random instances, and by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.spp.algorithms.spp import pe, spp
from gadgetopt.models.spp.guarantees.ratios import (
    bandwidth_ratio,
    spp_ratio,
)
from gadgetopt.models.spp.proving.bounds.least_load import least_load_ticks
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..brute_force import e1, e2, optimum, plans, run, small_instance, two_level_instance


def schedule_bound(shop: Shop) -> Fraction:
    """Return G1, the seconds that PE needs at most."""
    rounds = shop.num_microbatches + 4 * shop.num_stages - 4
    ends = [(rounds - 2 * n) * shop.period + shop.allreduce[2 * n] for n in range(shop.num_stages)]
    return shop.seconds(max(ends))


def schedule_ratio(shop: Shop, makespan_s: Fraction) -> Fraction:
    """Return G2, at most how many times the optimum of its plan a makespan is; 1 for no time."""
    bound = head_load_tail(shop).value_s
    return makespan_s / bound if bound else Fraction(1)


def schedule_ratio_beforehand(shop: Shop) -> Fraction:
    """Return G3, at most how many times the optimum of its plan PE needs."""
    replicated = any(shop.allreduce)
    return 1 + int(replicated) + Fraction(4 * shop.num_stages - 4, shop.num_microbatches)


def half_duplex(seed, **more):
    instance = small_instance(np.random.default_rng(seed), **more)
    return instance.model_copy(update={"duplex": "half"})


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_pe_keeps_its_bounds_on_every_plan(seed, data):
    instance = half_duplex(seed, most_layers=5, most_gpus=4, most_m=6)
    layers, gpus = data.draw(st.sampled_from(list(plans(instance))[:300]))
    plan = Plan(stage_layers=layers, stage_devices=gpus)
    shop, makespan_s = shop_of(instance, plan), pe(instance, plan).makespan_s
    assert makespan_s <= schedule_bound(shop)  # G1
    bound_s = head_load_tail(shop).value_s
    assert makespan_s <= schedule_ratio_beforehand(shop) * max(
        bound_s, shop.seconds(max(shop.loads))
    )
    assert makespan_s == schedule_ratio(shop, makespan_s) * bound_s or bound_s == 0  # G2


@pytest.mark.parametrize("seed", range(15))
def test_the_schedule_ratios_hold_against_the_optimum_of_the_plan(seed):
    instance = half_duplex(seed, most_gpus=4, most_m=5)
    found = spp(instance, Limits())
    shop = shop_of(instance, found.solution.plan)
    schedule = pe(instance, found.solution.plan)
    best = cp_schedule(shop, Limits(time_s=20), start=schedule)
    assert best.closed
    optimum_s = best.schedule.makespan_s
    assert schedule.makespan_s <= schedule_ratio(shop, schedule.makespan_s) * optimum_s
    assert schedule.makespan_s <= schedule_ratio_beforehand(shop) * optimum_s


@pytest.mark.parametrize("seed", range(25))
def test_prm_is_within_the_ratio_of_the_bandwidths_and_exact_if_they_are_equal(seed):
    rng = np.random.default_rng(seed)
    instance = two_level_instance(rng) if seed % 2 else half_duplex(seed, most_gpus=4)
    if seed % 3 == 0:
        V = instance.num_gpus
        b = tuple(tuple(0.0 if u == v else 3.0 for v in range(V)) for u in range(V))
        cluster = {"type": "matrix", "bandwidth_bytes_per_s": b}
        instance = type(instance)(**{**dict(instance), "cluster": cluster})
    ticks, tick_s = least_load_ticks(instance, Clock())
    from gadgetopt.models.spp.algorithms.block_costs import BlockCosts
    from gadgetopt.models.spp.algorithms.prm import Prm

    prm = Prm(
        BlockCosts(instance, range(instance.num_gpus)), use_all_gpus=instance.options.use_all_gpus
    )
    loads = [prm.best(1).load_s]
    for _ in range(2, instance.most_stages + 1):
        prm.extend()
        found = prm.best(prm.stages)
        loads += [] if found is None else [found.load_s]
    least = float(ticks * tick_s)
    assert least <= min(loads) * (1 + 1e-9)
    assert min(loads) <= float(bandwidth_ratio(instance)) * least * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(15))
def test_spp_keeps_its_ratio(seed):
    instance = half_duplex(seed)
    assert run(instance, "spp").objective <= spp_ratio(instance, {}) * optimum(instance)


def test_ratios_by_hand():
    # e1: two stages, M = 2, one bandwidth: 2 + 4 / 2. e2: four stages, M = 4, 12 against 2.
    assert spp_ratio(e1(), {}) == 4
    assert spp_ratio(e2(), {}) == (2 + Fraction(12, 4)) * 6
    # Plan of e1 cut after layer 1: C = 18, no AllReduce: (2 + 8 - 4) * 18.
    plan = Plan(stage_layers=((0, 2), (2, 3)), stage_devices=((0,), (1,)))
    shop = shop_of(e1(), plan)
    assert schedule_bound(shop) == 108
    assert schedule_ratio_beforehand(shop) == 1 + Fraction(4, 2)
    assert schedule_ratio(shop, Fraction(44)) == Fraction(44, 36)
