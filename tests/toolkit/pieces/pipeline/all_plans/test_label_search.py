"""The label search against brute force over all plans; its least bounds on profiles."""

from __future__ import annotations

import itertools
from fractions import Fraction
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans import label_search
from gadgetopt.pieces.pipeline.all_plans.device_states import DeviceStates
from gadgetopt.pieces.pipeline.all_plans.label_search import NEVER, PlanSpace, plan_bound_s
from gadgetopt.pieces.pipeline.all_plans.machine_rules import (
    across_machines,
    merges_to,
)
from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.plan import plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..examples import GNMT, VGG16, all_plans, d1, d2, e1, e2, instances, least_bound_s, profiled

ROUNDING = Fraction(1, 10**9)


#: Layers times GPUs up to which plans are labels: for all, and for none, which are walked through.
LABELS, WALKS = 10**6, 0


def space_of(instance, few_stages: int, *, onward: bool = False) -> PlanSpace:
    with patch.object(label_search, "FEW_STAGES", few_stages):
        return PlanSpace(instance, onward=onward)


@pytest.mark.parametrize("few_stages", [LABELS, WALKS])
@settings(max_examples=60)
@given(instances())
def test_the_least_bound_is_that_of_brute_force(few_stages, instance):
    space = space_of(instance, few_stages)
    outcome = space.least_bound(Clock())
    assert outcome.complete
    if not outcome.plans:
        assert not list(all_plans(instance))
        assert outcome.ticks >= NEVER or space.root_ticks >= NEVER
        return
    least = least_bound_s(instance)
    found = outcome.plans[0].plan
    assert not plan_violations(instance, found)
    assert least * (1 - ROUNDING) <= outcome.ticks * space.tick_s <= least
    assert least <= plan_bound_s(instance, found) <= least * (1 + ROUNDING)


@pytest.mark.parametrize("few_stages", [LABELS, WALKS])
@settings(max_examples=30)
@given(instances(), st.sampled_from([1.0, 1.1, 1.5]))
def test_enumeration_finds_the_times_of_every_plan_that_none_is_better_than(
    few_stages, instance, factor
):
    """Up to plans all of whose times are at least those of another plan."""
    space = space_of(instance, few_stages)
    cutoff = int(space.root_ticks * factor) + 1
    if cutoff >= NEVER:
        return
    outcome = space.search(cutoff, Clock(), dominance=False)
    listed = [shop_of(instance, found.plan) for found in outcome.plans]
    times = {(shop.in_seconds()[0].tobytes(), str(shop)) for shop in listed}
    for plan in all_plans(instance):
        shop = shop_of(instance, plan)
        if plan_bound_s(instance, plan) >= (cutoff - 1) * space.tick_s:
            continue
        known = (shop.in_seconds()[0].tobytes(), str(shop)) in times
        assert known or any(no_worse(other, shop) for other in listed)


@settings(max_examples=40)
@given(instances(), st.sampled_from([1.0, 1.1, 1.5]))
def test_plans_of_a_walk_have_the_bound_of_one_machine(instance, factor):
    space = space_of(instance, WALKS)
    cutoff = int(space.root_ticks * factor) + 1
    few = instance.most_stages < min(instance.num_layers, instance.num_gpus)
    if cutoff >= NEVER or instance.duplex == "full" or few:  # these are labels
        return
    for found in space.search(cutoff, Clock(), dominance=False).plans:
        shop = shop_of(instance, found.plan)
        exact = one_machine_bound(shop) * shop.unit
        assert found.ticks <= found.least
        assert found.least * space.tick_s <= exact
        if not shop.memory_limited:
            assert found.least * space.tick_s >= exact * (1 - ROUNDING)


@settings(max_examples=80)
@given(instances(), st.sampled_from([1.01, 1.1, 1.5, 3.0]))
def test_ways_onward_leave_out_only_plans_whose_bound_of_one_machine_is_enough(instance, factor):
    plain, onward = (space_of(instance, WALKS, onward=ways) for ways in (False, True))
    cutoff = int(plain.root_ticks * factor) + 1
    if cutoff >= NEVER:
        return
    found, fewer = (
        space.search(cutoff, Clock(), dominance=False, enough=cutoff) for space in (plain, onward)
    )
    below = {x.plan for x in found.plans if x.least < cutoff}
    assert {x.plan for x in fewer.plans if x.least < cutoff} == below
    assert all(x.ticks <= x.least for x in fewer.plans)


@settings(max_examples=60)
@given(instances())
def test_the_least_bound_with_ways_onward_is_no_larger_than_any_of_one_machine(instance):
    space = space_of(instance, WALKS, onward=True)
    outcome = space.least_bound(Clock())
    shops = [shop_of(instance, plan) for plan in all_plans(instance)]
    assert bool(outcome.plans) == bool(shops)
    if shops:
        least = min(one_machine_bound(shop) * shop.unit for shop in shops)
        assert space.root_ticks <= outcome.ticks
        assert outcome.ticks * space.tick_s <= least


def test_ways_onward_raise_the_least_bound_of_forwards():
    """The last of M forwards on the first stage still passes all others: no load holds its way."""
    # Parameters make AllReduce on two GPUs long, so each layer has its own. Blocks take 4, 2, 2 and
    # 2 ms. The last stage begins after 8 ms and has two blocks: 12 ms. The first has two blocks,
    # and the second of them 6 ms to go: 14 ms.
    instance = profiled("/".join(["8 0 1e9 0", *["4 0 1e9 0"] * 3]), 2, 1, 4)
    plain, onward = (space_of(instance, WALKS, onward=ways) for ways in (False, True))
    least = [float(space.least_bound(Clock()).ticks * space.tick_s) for space in (plain, onward)]
    assert least == pytest.approx([0.012, 0.014])


def test_a_walk_leaves_out_plans_whose_bound_is_enough():
    space = space_of(profiled(GNMT, 8, 2, 4), WALKS)
    least = space.least_bound(Clock()).ticks
    cutoff = int(1.1 * least)
    listed = space.search(cutoff, Clock(), dominance=False).plans
    enough = listed[len(listed) // 2].least
    fewer = space.search(cutoff, Clock(), dominance=False, enough=enough).plans
    assert {found.plan for found in fewer} == {x.plan for x in listed if x.least < enough}
    assert [found.least for found in listed] == sorted(found.least for found in listed)


def no_worse(a, b) -> bool:
    if a.num_machines != b.num_machines:
        return False
    rows = itertools.chain(
        zip(a.fwd, b.fwd, strict=True),
        zip(a.bwd, b.bwd, strict=True),
        zip(a.allreduce, b.allreduce, strict=True),
    )
    return all(x * a.unit <= y * b.unit for x, y in rows)


@pytest.mark.parametrize(
    ("instance", "least"), [(e1(), 36), (e2(), "35.16666666"), (d1(), "37.2"), (d2(), 49)]
)
def test_hand_checked_least_bounds(instance, least):
    space = PlanSpace(instance)
    ticks = space.least_bound(Clock()).ticks
    assert float(ticks * space.tick_s) == pytest.approx(float(least), rel=1e-8)


@pytest.mark.parametrize(
    ("profile", "machines", "gpus", "count", "least"),
    [
        (VGG16, 2, 2, 4, 0.214856),
        (VGG16, 2, 4, 8, 0.095396),
        (VGG16, 4, 4, 16, 0.048465),
        (GNMT, 2, 2, 4, 0.037383),
        (GNMT, 2, 4, 8, 0.021096),
    ],
)
def test_least_bounds_of_profiles(profile, machines, gpus, count, least):
    space = PlanSpace(profiled(profile, count, machines, gpus))
    ticks = space.least_bound(Clock()).ticks
    assert float(ticks * space.tick_s) == pytest.approx(least, abs=6e-7)


def test_without_time_the_bound_is_that_of_the_root():
    space = PlanSpace(profiled(VGG16, 4, 2, 2))
    outcome = space.least_bound(Clock(Limits(time_s=0.0)))
    assert not outcome.complete
    assert 0 < outcome.ticks <= space.least_bound(Clock()).ticks


def test_a_walk_that_time_ends_before_it_finds_a_plan_is_not_complete():
    """The tables are there by then, and with them the least bound."""
    space = space_of(profiled(GNMT, 8, 2, 4), WALKS)
    least = space.least_bound(Clock())
    assert least.plans
    outcome = space.search(least.ticks + 1, Clock(Limits(time_s=0.0)), dominance=True)
    assert (outcome.plans, outcome.ticks, outcome.complete) == ([], least.ticks, False)


@pytest.mark.parametrize("few_stages", [LABELS, WALKS])
def test_plans_are_found_that_no_table_tells_from_nothing(few_stages):
    """Only AllReduce takes time, and the root does not know that one stage has two GPUs.

    The first layer's 2 bytes, between two GPUs of 2 B/s, take a second.
    """
    instance = profiled("0 0 2e9 0/0 0 3e9 0/0 0 3e9 0", 2, 1, 3).model_copy(
        update={
            "options": PipelineOptions(max_stages=2),
            "cluster": TwoLevelCluster(
                gpus_per_machine=(3,), intra_bytes_per_s=2e9, inter_bytes_per_s=1e9
            ),
        }
    )
    space = space_of(instance, few_stages)
    assert space.root_ticks == 0
    for cutoff in (NEVER, space.ticks_above(Fraction(2))):
        outcome = space.least_bound(Clock(), cutoff)
        assert outcome.complete
        assert outcome.ticks * space.tick_s == plan_bound_s(instance, outcome.plans[0].plan) == 1


def test_nothing_is_below_the_least_bound():
    space = PlanSpace(e2())
    least = space.least_bound(Clock()).ticks
    assert not space.search(least, Clock(), dominance=False).plans
    assert space.search(least + 1, Clock(), dominance=False).plans


def test_large_matrices_are_refused():
    rows = tuple(tuple(0.0 if u == v else 1.0 for v in range(11)) for u in range(11))
    large = e1().model_copy(update={"cluster": MatrixCluster(bandwidth_bytes_per_s=rows)})
    with pytest.raises(ModelRefused, match="11 GPUs of arbitrary bandwidths"):
        DeviceStates(large)


def test_merged_machines():
    assert merges_to((2, 2), (4, 0))
    assert merges_to((3, 2, 2, 1), (4, 4, 0, 0))
    assert not merges_to((3, 3, 0), (4, 2, 0))


def test_sets_across_machines_leave_few_machines_broken():
    # 4 GPUs of four machines of 4. (2, 2, 0, 0) and (3, 1, 0, 0) leave what an emptied machine also
    # leaves, with two machines merged; only three or four stages of 3 need the others.
    of_four = [counts for counts in across_machines((4, 4, 4, 4)) if sum(counts) == 4]
    assert of_four == [(2, 1, 1, 0), (1, 1, 1, 1)]


def test_large_chains_on_many_gpus_are_refused():
    large = profiled(GNMT, 4, 8, 8)
    many = large.model_copy(update={"layers": large.layers * 40})
    with pytest.raises(ModelRefused, match="680 on 64 GPUs are too many"):
        PlanSpace(many)


def test_few_labels_leave_a_bound_and_perhaps_a_plan():
    space = space_of(profiled(GNMT, 8, 2, 4), LABELS)
    least = space.least_bound(Clock()).ticks
    outcome = space.search(2 * least, Clock(), dominance=True, most_labels=2000)
    assert not outcome.complete
    assert 0 < outcome.ticks <= least
    assert len(outcome.plans) <= 1
