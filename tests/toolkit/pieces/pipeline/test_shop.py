"""Times of plans: the hand-checked instances to the digit, and what every plan obeys."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import (
    gpipe_orders,
    one_forward_one_backward,
    round_orders,
)
from gadgetopt.pieces.pipeline.plan import most_in_flight, stage_memory
from gadgetopt.pieces.pipeline.shop import shop_of, shop_of_times, stage_times
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.system.result import Limits

from .examples import all_plans, d1, d2, e1, e2, instances, plan


def two_level_of_seps(seps: Iterable[int], **bandwidths: float) -> TwoLevelCluster:
    """Return the cluster whose machine k holds GPUs `seps[k-1]..seps[k]-1`."""
    ends = [0, *seps]
    sizes = tuple(b - a for a, b in itertools.pairwise(ends))
    return TwoLevelCluster(gpus_per_machine=sizes, **bandwidths)  # type: ignore[arg-type]


def warmed_up(shop, numbers):
    orders = [one_forward_one_backward(shop.num_microbatches, k) for k in numbers]
    return float(dispatch(shop, channels_first_come(orders)).makespan_s)


def policy_a(shop):
    return warmed_up(shop, [shop.num_stages - n for n in range(shop.num_stages)])


def policy_b(shop):
    return warmed_up(shop, [2 * (shop.num_stages - n) - 1 for n in range(shop.num_stages)])


def by_rounds(shop):
    return float(simulate(shop, round_orders(shop)).makespan_s)


def optimum(shop):
    return float(cp_schedule(shop, Limits()).schedule.makespan_s)


def bound(shop):
    return float(head_load_tail(shop).value_s)


def test_e1_all_gpus_in_one_stage():
    """F + B = 24/2; AllReduce 2 * 1/2 * 120 / 6 = 20."""
    shop = shop_of(e1(), plan(((0, 3), (0, 1))))
    assert (bound(shop), by_rounds(shop), max(shop.loads) * shop.unit) == (44, 44, 44)


def test_e1_cut_after_layer_0():
    """2 + 1 + 2 * 18 + (1 + 4)."""
    shop = shop_of(e1(), plan(((0, 1), (0,)), ((1, 3), (1,))))
    assert (bound(shop), by_rounds(shop), max(shop.loads) * shop.unit) == (44, 44, 36)


def test_e1_cut_after_layer_1():
    shop = shop_of(e1(), plan(((0, 2), (0,)), ((2, 3), (1,))))
    schedule = simulate(shop, round_orders(shop))
    assert (bound(shop), schedule.makespan_s, optimum(shop)) == (36, 38, 38)
    # f1 0-6, f2 6-12; on stage 1 f1 7-9, b1 9-13; back 13-14; b1 14-26, b2 26-38.
    starts = [[start * shop.unit for start in row] for row in schedule.fwd_start]
    assert starts[0] == [0, 6]
    assert starts[2][0] == 7
    assert [start * shop.unit for start in schedule.bwd_start[0]] == [14, 26]


def test_e2_on_the_fast_pairs():
    """Stage 0: 4 * 15 / 2 + 2 * 1/2 * 8 / 12; channel 4 * 2 * 12 / (4 * 2)."""
    shop = shop_of(e2(), plan(((0, 2), (0, 2)), ((2, 4), (1, 3))))
    assert max(shop.loads) * shop.unit == Fraction(92, 3)
    assert bound(shop) == by_rounds(shop) == optimum(shop) == pytest.approx(35.1667, abs=1e-4)


def test_d1():
    """F = (3, 2), B = (6, 4), link 4/2 * 2/2 = 2 each way, AllReduce (0.2, 3.1)."""
    shop = shop_of(d1(), plan(((0, 2), (0, 1)), ((2, 4), (2, 3))))
    f, b, a = shop.in_seconds()
    np.testing.assert_allclose([f, b, a], [[3, 2, 2], [6, 2, 4], [0.2, 0, 3.1]])
    assert (policy_a(shop), policy_b(shop)) == (48.2, 40.2)
    assert float(simulate(shop, gpipe_orders(shop)).makespan_s) == 46.2
    assert bound(shop) == by_rounds(shop) == optimum(shop) == 37.2


def test_d2_the_planners_choice_and_the_best_plan():
    shop = shop_of(d2(), plan(((0, 1), (0,)), ((1, 2), (1,)), ((2, 4), (2, 3))))
    f, b, a = shop.in_seconds()
    np.testing.assert_allclose(f, [4, 0.1, 2, 1, 3])
    np.testing.assert_allclose([b, a], [[8, 0.1, 4, 1, 6], [0, 0, 0, 0, 2]])
    # 4 + 0.1 + 2 + 1 + 4 * 9 + (8 + 0.1 + 4 + 1)
    assert bound(shop) == policy_b(shop) == optimum(shop) == 56.2
    assert policy_a(shop) == 58.4
    best = shop_of(d2(), plan(((0, 2), (0, 1)), ((2, 4), (2, 3))))
    assert bound(best) == policy_b(best) == optimum(best) == 49.0
    assert policy_a(best) == 51.0


D3 = ([3.177143, 0, 1.765], [6.354286, 0, 3.62])


@pytest.mark.parametrize(
    ("link", "reduce", "full", "expected"),
    [
        (6.857143, (30.569, 4.987), False, (478.958, 478.958, 478.958, 478.958)),
        (6.857143, (30.569, 4.987), True, (None, None, 345.179, None)),
        (4.0, (30.569, 166.222), False, (345.719, 345.719, 459.049, 471.196)),
        (4.0, (30.569, 166.222), True, (345.719, 345.719, None, None)),
    ],
)
def test_d3(link, reduce, full, expected):
    """VGG-19 in two stages of 14 and 2 GPUs, times in ms: bound, optimum, rounds, policy B."""
    f, b = ([Fraction(str(x)) for x in row] for row in D3)
    f[1] = b[1] = Fraction(str(link))
    shop = shop_of_times(
        f, b, [Fraction(str(reduce[0])), 0, Fraction(str(reduce[1]))], 32, full_duplex=full
    )
    for measure, wanted in zip((bound, optimum, by_rounds, policy_b), expected, strict=True):
        assert wanted is None or measure(shop) == pytest.approx(wanted, rel=5e-5)


def test_seps_are_ends_of_machines():
    cluster = two_level_of_seps([4, 8, 12], intra_bytes_per_s=2.0, inter_bytes_per_s=1.0)
    assert cluster.gpus_per_machine == (4, 4, 4)
    assert cluster.machine_of[3:5] == (0, 1)


@settings(max_examples=20)
@given(instances())
def test_what_memory_allows_fits_and_one_more_does_not(instance):
    room = instance.options.memory_bytes
    for end in range(1, instance.num_layers + 1):
        most = most_in_flight(instance, 0, end, 1)
        fixed, each = stage_memory(instance, 0, end, 1)
        if room is not None and most:
            assert fixed + most * each <= room
        caps = (instance.num_microbatches, instance.options.max_in_flight or most + 1)
        if room is not None and most < min(caps):
            assert fixed + (most + 1) * each > room


@settings(max_examples=20)
@given(instances())
def test_overlapped_allreduce_is_shorter_and_recomputation_adds_the_forward(instance):
    options = instance.options
    plain = instance.model_copy(
        update={
            "options": options.model_copy(update={"overlap_allreduce": False, "recompute": False})
        }
    )
    both = instance.model_copy(
        update={
            "options": options.model_copy(update={"overlap_allreduce": True, "recompute": True})
        }
    )
    gpus = tuple(range(instance.num_gpus))
    f, b, a = stage_times(plain, 0, instance.num_layers, gpus)
    f2, b2, a2 = stage_times(both, 0, instance.num_layers, gpus)
    assert (f2, b2) == (f, b + f)
    assert max(0, a - b) <= a2 <= a


@settings(max_examples=10)
@given(instances(3, 3, 3))
def test_every_plan_has_a_schedule_by_rounds_above_its_bound(instance):
    for found in all_plans(instance):
        shop = shop_of(instance, found)
        assert simulate(shop, round_orders(shop)).makespan >= head_load_tail(shop).value
