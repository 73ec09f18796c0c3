"""What the check of all plans proves, against brute force."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.proofs import plans, steps
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import EqualStates, MergingMachines
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import proved_makespan_s
from gadgetopt.pieces.pipeline.all_plans.proofs.layers import Closed
from gadgetopt.pieces.pipeline.all_plans.proofs.plans import Plans
from gadgetopt.pieces.pipeline.all_plans.proofs.ticks import in_flight, most_ends
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.shop import shop_of

from ...examples import (
    GNMT,
    VGG16,
    all_plans,
    e1,
    instances,
    least_bound_s,
    least_makespan,
    profiled,
)

#: What rounding to ticks costs at most.
ALMOST = 1 - Fraction(1, 10**12)


def brute_force_s(instance):
    shops = {shop_of(instance, plan) for plan in all_plans(instance)}
    return min((least_makespan(shop) * shop.unit for shop in shops), default=None)


@settings(max_examples=40)
@given(
    instances(3, 2, 3),
    st.sampled_from([0, Fraction(1, 2), Fraction(999, 1000), 1, Fraction(1001, 1000), 2, 10**12]),
)
def test_what_is_proved_is_true_whatever_is_claimed(instance, factor):
    least = brute_force_s(instance)
    claim = Fraction(factor) * (least if least is not None else 1)
    proved = proved_makespan_s(instance, claim)
    assert proved <= claim
    if least is None:
        assert proved == claim
    else:
        assert proved <= least


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("stage", ["1 1", "2 1", "1 3", "0 2"])
@pytest.mark.parametrize("transfer_bytes", [0.0, 12e6, 60e6])
def test_claims_a_little_too_large_are_not_proved(count, stage, transfer_bytes):
    """AllReduce is long, so each GPU is a stage, and no other plan hides a bound too large."""
    row = f"{stage} 1e9 {transfer_bytes}"
    instance = profiled(f"{row}/{row}", count, 1, 2)
    least = brute_force_s(instance)
    for percent in (*range(1, 10), *range(10, 60, 5)):
        assert proved_makespan_s(instance, least * Fraction(100 + percent, 100)) <= least


def least_head_load_tail(instance, claim_s):
    """The least bound of a plan that the check comes to, and its plans."""
    found = []

    def bound_of(times, bound_s):
        found.append(times)
        return Fraction(0)

    return Plans(instance, claim_s, bound_of).proved_s(), found


@settings(max_examples=60)
@given(
    instances(4, 3, 4),
    st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(8)]),
    st.sampled_from([0, 1, 20_000]),
)
def test_no_plan_is_left_out_and_none_is_bounded_by_more_than_it_takes(instance, factor, first):
    """Whether or not partial plans are first looked at layer by layer."""
    try:
        least = least_bound_s(instance)
    except ValueError:  # there is no plan
        return
    if least:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plans, "FIRST_PARTIAL_PLANS", first)
            proved, _ = least_head_load_tail(instance, factor * least)
        assert least * ALMOST <= proved <= least


@settings(max_examples=25)
@given(instances(4, 2, 3))
def test_times_of_plans_are_those_of_their_shops(instance):
    """And limits of microbatches in flight, and where stages end because of memory."""
    shops = [shop_of(instance, plan) for plan in all_plans(instance)]
    exact = {
        (tuple(f * s.unit for f in s.fwd), tuple(b * s.unit for b in s.bwd), s.max_in_flight)
        for s in shops
    }
    longest = max((least_makespan(s) * s.unit for s in shops), default=None)
    if longest:
        _, found = least_head_load_tail(instance, 2 * longest)
        assert {(x.fwd, x.bwd, x.in_flight) for x in found} <= exact
    for r in range(1, instance.num_gpus + 1):
        for first, end in enumerate(most_ends(instance)[r]):
            fits = [
                e
                for e in range(first + 1, instance.num_layers + 1)
                if in_flight(instance, first, e, r)
            ]
            assert fits == list(range(first + 1, end + 1))


@settings(max_examples=15)
@given(instances(4, 3, 3), st.sampled_from([1, 20_000]))
def test_compiled_loops_say_the_same(instance, first):
    claim = Fraction(instance.num_microbatches * 7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "FIRST_PARTIAL_PLANS", first)
        plain = proved_makespan_s(instance, claim)
        patch.setattr(steps, "MOST_PLAIN", 0)
        assert proved_makespan_s(instance, claim) == plain


@settings(max_examples=40)
@given(instances(4, 2, 4), st.sampled_from([Fraction(1), Fraction(3, 2)]))
def test_what_is_closed_layer_by_layer_has_no_continuation(instance, factor):
    """Of all partial plans in all states, one by one, with loops compiled and plain."""
    below_s = factor * instance.num_microbatches * 6
    stepping = steps.Steps(instance, below_s)
    below = math.ceil(below_s / stepping.ticks.unit_s)
    plain = Closed(stepping, below, 10**6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "MOST_PLAIN", 0)
        compiled = Closed(stepping, below, 10**6)

    def ends_below(layer, row):
        found = False
        for _, end, *longer in stepping.after(layer, row, below).tolist():
            found |= end == instance.num_layers or ends_below(end, tuple(longer))
        assert ((layer, row) in plain) <= (not found)
        assert ((layer, row) in compiled) == ((layer, row) in plain)
        return found

    anything = ends_below(0, stepping.start)
    assert ((0, stepping.start) in plain) == (not anything)


def test_states_that_replace_others_save_partial_plans(monkeypatch):
    """Of this bound 43 are continued, and 57 if states only replace their equals."""
    instance, least = profiled(GNMT, 16, 3, 4), Fraction("0.014813")
    stepping = steps.Steps(instance, least)
    below = math.ceil(least / stepping.ticks.unit_s)
    assert (0, stepping.start) in Closed(stepping, below, 50)
    monkeypatch.setattr(MergingMachines, "may_replace", EqualStates.may_replace)
    assert (0, stepping.start) not in Closed(stepping, below, 50)
    assert (0, stepping.start) in Closed(stepping, below, 60)


def test_a_check_that_gives_up_proves_what_no_plan_undercuts_at_once(monkeypatch):
    instance = profiled(VGG16, 8, 2, 4)
    least = Fraction("0.0974")
    assert proved_makespan_s(instance, least) >= least * ALMOST
    monkeypatch.setattr(plans, "MOST_PARTIAL_PLANS", 3)
    monkeypatch.setattr(plans, "FIRST_PARTIAL_PLANS", 3)
    assert 0 < proved_makespan_s(instance, least) < least


def test_a_claim_far_too_large_costs_little(monkeypatch):
    """What is proved shrinks with the first plans that are found."""
    monkeypatch.setattr(plans, "MOST_PARTIAL_PLANS", 10_000)
    monkeypatch.setattr(plans, "FIRST_PARTIAL_PLANS", 10_000)
    for profile in (VGG16, GNMT):
        instance = profiled(profile, 4, 2, 2)
        at_least = proved_makespan_s(instance, Fraction("0.03"))
        assert at_least >= Fraction("0.03") * ALMOST
        proved = proved_makespan_s(instance, Fraction(10) ** 15)
        assert Fraction("0.03") <= proved <= Fraction("0.2162")


def test_plans_of_the_least_bound_are_not_looked_at_one_by_one():
    """Layers that cost nothing may be in any stage: many plans attain the least bound."""
    instance = e1().model_copy(update={"layers": (*e1().layers[:1], *e1().layers[:1] * 7)})
    least = least_bound_s(instance)
    proved, found = least_head_load_tail(instance, least)
    assert proved >= least * ALMOST
    assert found == []


def test_too_many_plans_are_refused(monkeypatch):
    monkeypatch.setattr(plans, "MOST_NUMBERS", 10)
    with pytest.raises(ModelRefused, match="3 on 2 GPUs are too many to go through all plans"):
        proved_makespan_s(e1(), Fraction(1))


def test_without_a_plan_anything_is_proved():
    instance = e1().model_copy(update={"options": PipelineOptions(memory_bytes=1.0)})
    assert proved_makespan_s(instance, Fraction(10) ** 9) == 10**9
