from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.pipeline_schedules.baselines.one_f_one_b import gpipe, one_f_one_b
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate, memory_levels
from gadgetopt.models.pipeline_schedules.instance import (
    Overlap,
    PipelineSchedulesSolution,
    Stage,
)
from gadgetopt.models.pipeline_schedules.timing import period_of, timing_of

from .conftest import changed
from .random_cases import random_instance, random_orders


def schedule(*orders, links=None):
    """Return the solution with these orders, each a text of cells."""
    split = tuple(tuple(order.split()) for order in orders)
    return PipelineSchedulesSolution(
        orders=split, link_orders=links and tuple(tuple(order.split()) for order in links)
    )


def violations(instance, solution):
    evaluation = evaluate(instance, solution)
    return evaluation.objective, [(v.constraint, v.where, v.amount) for v in evaluation.violations]


def test_the_optimum_of_two_devices_by_hand(two_devices, zero_bubble_of_two):
    # F0 0-1 | 1-2, I0 on device 1 2-3, on device 0 3-4, and so on: both end at 7.
    found = evaluate(two_devices, zero_bubble_of_two)
    assert found.feasible
    assert found.objective == 7
    assert found.components["peak_bytes"] == 2
    assert found.components["bubble_share"] == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("devices", "microbatches", "makespan_s"),
    [(2, 2, 8), (2, 3, 11), (2, 4, 14), (3, 3, 13), (3, 4, 16), (3, 6, 22), (4, 4, 18), (4, 6, 24)],
)
@pytest.mark.parametrize("baseline", [gpipe, one_f_one_b])
def test_gpipe_and_1f1b_have_three_m_and_two_of_each_device_but_one(
    baseline, devices, microbatches, makespan_s
):
    # All times are 1: 3 M on the last device, P - 1 forwards before them, I of the way back, W.
    instance = equal(None, devices=devices, microbatches=microbatches, in_flight=microbatches)
    found = evaluate(instance, baseline(instance).solution)
    assert found.objective == makespan_s
    assert found.feasible
    assert makespan_s == 3 * microbatches + 2 * (devices - 1)


def test_a_backward_that_is_one_operation_sends_its_gradient_at_its_end(two_devices):
    # The classical value, (M + P - 1) (F + B): 3 rounds of 3 s.
    orders = one_f_one_b(two_devices).solution
    assert evaluate(two_devices, orders).objective == 8
    fused = changed(changed(two_devices, 0, fused_saving_s=0), 1, fused_saving_s=0)
    assert evaluate(fused, orders).objective == 9
    faster = changed(fused, 1, fused_saving_s="1/2")
    assert evaluate(faster, orders).objective == 8  # both backwards of device 1 take 3/2


def test_zero_bubble_is_a_period_and_no_makespan():
    # ZB-H2, two devices, three microbatches: device 0 works from 0 to 9, device 1 from 1 to 10.
    instance = equal(None, devices=2, microbatches=3, in_flight=3)
    orders = schedule("0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2", "1F0 1I0 1F1 1I1 1F2 1I2 1W0 1W1 1W2")
    assert evaluate(instance, orders).objective == 10
    found = evaluate(instance.model_copy(update={"objective": "period"}), orders)
    assert found.objective == 9
    assert found.components["bubble_share"] == 0
    assert found.components["makespan_s"] == 10


def bellman_ford_fits(timing, period):
    """Return True if starts exist with which every machine begins and ends within the period."""
    arcs = [
        (other, s, timing.program.durations[other] + lag)
        for s, waits in enumerate(timing.waits)
        for other, lag in waits
    ]
    for steps, ends in timing.machines:
        arcs += [(end, steps[0], timing.program.durations[end] - period) for end in ends]
    start = [Fraction(0)] * len(timing.waits)
    for _ in range(len(start) + 1):
        changes = False
        for a, b, length in arcs:
            if start[a] + length > start[b]:
                start[b], changes = start[a] + length, True
        if not changes:
            return True
    return False


def test_the_period_is_the_least_for_which_starts_exist():
    rng = np.random.default_rng(0)
    for _ in range(30):
        instance = random_instance(rng)
        timing = timing_of(instance, random_orders(instance, rng))
        if timing.stuck:
            continue
        period = period_of(timing)
        assert bellman_ford_fits(timing, period)
        assert not bellman_ford_fits(timing, period - Fraction(1, 100))


def test_a_period_may_be_a_half(two_devices):
    # From the begin of device 0 to the end of device 1: 1 + 100 + 3 and an AllReduce of 151; from
    # that of device 1 to the end of device 0 one of 150; from each to its own end at most 205.
    (route,) = changed(two_devices, 0, transfer_s=100).routes
    route = route.model_copy(update={"num_microbatches": 1})
    routes = []
    for allreduce_s, devices in ((151, (0, 1)), (150, (1, 0))):
        first, last = route.stages
        last = last.model_copy(update={"allreduce_s": Fraction(allreduce_s), "device": devices[1]})
        first = first.model_copy(update={"device": devices[0]})
        routes.append(route.model_copy(update={"stages": (first, last)}))
    instance = two_devices.model_copy(update={"routes": tuple(routes), "objective": "period"})
    orders = schedule("0F0 3F0 3I0 3W0 0I0 0W0", "2F0 1F0 1I0 1W0 2I0 2W0")
    assert evaluate(instance, orders).objective == Fraction(
        1 + 100 + 3 + 151 + 1 + 100 + 3 + 150, 2
    )


def test_orders_that_wait_for_each_other_are_named(two_devices, zero_bubble_of_two):
    first, second = zero_bubble_of_two.orders
    swapped = PipelineSchedulesSolution(orders=(first, ("1I0", "1F0", *second[2:])))
    assert violations(two_devices, swapped) == (
        None,
        [
            ("operations_wait_for_each_other", "device 0, 0I0", 4),
            ("operations_wait_for_each_other", "device 1, 1I0", 6),
        ],
    )


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("0F0 0F1 0I0 0W0 0I1", ("operation_not_listed_once", "orders[0], 0W1", 1)),
        ("0F0 0F1 0B0 0W0 0B1", ("operation_not_listed_once", "orders[0], 0W0", 1)),
        ("0F0 0F1 0B0 0B1 0R0", ("recomputation_not_possible", "orders[0][4], 0R0", 1)),
        ("0F0 0F1 0O0 0L0 0B0 0B1", ("offload_not_possible", "orders[0][2], 0O0", 1)),
        ("2F0", ("unknown_stage", "orders[0][0], 2F0", 1)),
        ("1F0", ("stage_of_another_device", "orders[0][0], 1F0", 1)),
        ("0F2", ("unknown_microbatch", "orders[0][0], 0F2", 1)),
        (
            "0F0 (0F1;0B0)OVERLAP_F_B 0B1",
            ("overlap_not_possible", "orders[0][1], (0F1;0B0)OVERLAP_F_B", 1),
        ),
    ],
)
def test_orders_that_are_no_schedule_are_named(two_devices, first, expected):
    objective, found = violations(two_devices, schedule(first, "1F0 1B0 1F1 1B1"))
    assert objective is None
    assert expected in found


def test_a_missing_device_and_orders_of_links_that_are_not_there_are_named(two_devices):
    assert violations(two_devices, schedule("0F0 0F1 0B0 0B1"))[1] == [
        ("device_without_order", "orders of 2 devices", 1)
    ]
    orders = "0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"
    found = violations(two_devices, schedule(*orders, links=("0F0",)))[1]
    assert found == [("channel_without_order", "link_orders of 0 channels", 1)]
    full = two_devices.model_copy(update={"links": "full"})
    found = violations(full, schedule(*orders, links=("0F0 0F1", "1I0")))[1]
    assert found == [("transfer_not_listed_once", "link_orders[1], from 1 to 0", 1)]


def test_memory_is_held_until_w_and_freed_in_part_at_the_end_of_i(two_devices, zero_bubble_of_two):
    part = changed(two_devices, 1, act_bytes=3, weight_act_bytes=1)
    assert memory_levels(part, zero_bubble_of_two) == [[1, 2, 2, 2, 1, 1], [3, 3, 4, 4, 2, 1]]
    assert violations(part, zero_bubble_of_two) == (
        7,
        [("memory_exceeded", "device 1, orders[1][2], bytes", 2)],
    )


def one_device(microbatches=1, count=1, **fields):
    """Return one device with stages of 1 s an operation that hold 2 bytes."""
    instance = equal(None, devices=1, chunks=count, microbatches=microbatches)
    for s in range(count):
        instance = changed(instance, s, **{"act_bytes": 2, "weight_act_bytes": 2, **fields})
    return instance


def test_a_pair_takes_its_own_time():
    pair = Overlap(forward_stage=0, backward_stage=0, duration_s=Fraction(2))
    instance = one_device(2).model_copy(update={"overlaps": (pair,), "memory_bytes": None})
    found = evaluate(instance, schedule("0F0 (0F1;0B0)OVERLAP_F_B 0B1"))
    assert found.objective == 1 + 2 + 2
    assert found.components["peak_bytes"] == 4


def test_recomputation_takes_a_forward_and_holds_less_until_then():
    instance = one_device(act_bytes=4, weight_act_bytes=2, recompute_act_bytes=1)
    orders = schedule("0F0 0R0 0I0 0W0")
    assert evaluate(instance, orders).objective == 4
    assert memory_levels(instance, orders) == [[1, 4, 4, 2]]
    assert evaluate(instance, schedule("0R0 0F0 0I0 0W0")).objective is None  # R waits for F


def test_offloading_frees_memory_between_the_copies():
    # F0 0-1, copied 1-3/2; F1 3/2-5/2, B1 until 9/2, copied back until 5, B0 until 7.
    instance = one_device(2, offload_s="1/2").model_copy(update={"memory_bytes": (Fraction(2),)})
    orders = schedule("0F0 0O0 0F1 0B1 0L0 0B0")
    assert evaluate(instance, orders).objective == 7
    assert evaluate(instance, orders).feasible
    early = schedule("0F0 0F1 0O0 0B1 0L0 0B0")  # the copy overlaps F1, which needs more memory
    assert violations(instance, early)[1] == [
        ("memory_exceeded", "device 0, orders[0][1], bytes", 2)
    ]
    assert evaluate(instance, schedule("0O0 0F0 0F1 0B1 0L0 0B0")).objective is None


def test_allreduces_of_a_device_overlap_or_not():
    # W of stage 1 ends at 5, of stage 0 at 6.
    instance = one_device(count=2, allreduce_s=2)
    orders = schedule("0F0 1F0 1I0 0I0 1W0 0W0")
    assert evaluate(instance, orders).objective == 8
    alone = instance.model_copy(update={"allreduce_overlap": False})
    assert evaluate(alone, orders).objective == 9


def test_stages_of_one_weight_group_reduce_after_the_last_w_of_all(two_devices, zero_bubble_of_two):
    # Device 1 ends at 5 if its W takes no time, device 0 at 7.
    apart = changed(two_devices, 1, weight_grad_s=0, allreduce_s=3)
    assert evaluate(apart, zero_bubble_of_two).objective == 8
    shared = changed(changed(apart, 1, weight_group=4), 0, weight_group=4)
    assert evaluate(shared, zero_bubble_of_two).objective == 10


@pytest.mark.parametrize(("links", "makespan_s"), [("lag", 13), ("full", 13), ("half", 15)])
def test_transfers_of_a_link_go_one_after_another(links, makespan_s):
    # Forwards arrive at 3, 5, 7 on a link. With half duplex the first gradient, ready at 5, waits
    # for the third forward, until 7; the others follow until 11 and 13.
    instance = equal(None, devices=2, microbatches=3, in_flight=3, transfer_us=2_000_000)
    instance = instance.model_copy(update={"links": links})
    orders = "0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2", "1F0 1I0 1F1 1I1 1F2 1I2 1W0 1W1 1W2"
    assert evaluate(instance, schedule(*orders)).objective == makespan_s
    if links == "half":
        stated = schedule(*orders, links=("0F0 0F1 0F2 1I0 1I1 1I2",))
        assert evaluate(instance, stated).objective == makespan_s
        stuck = schedule(*orders, links=("1I0 0F0 0F1 0F2 1I1 1I2",))
        assert evaluate(instance, stuck).objective is None


def test_two_routes_of_opposite_directions_share_the_devices(two_devices):
    # Both devices begin with a forward of their own route; F, F, B, B of 6 s fill 6 s.
    (route,) = two_devices.routes
    one = route.model_copy(update={"num_microbatches": 1})
    back = one.model_copy(
        update={"stages": tuple(s.model_copy(update={"device": 1 - s.device}) for s in one.stages)}
    )
    instance = two_devices.model_copy(update={"routes": (one, back)})
    orders = schedule("0F0 3F0 3I0 0I0 3W0 0W0", "2F0 1F0 1I0 2I0 1W0 2W0")
    found = evaluate(instance, orders)
    assert found.objective == 6
    assert found.components["bubble_share"] == 0


def test_decimals_of_a_file_are_exact():
    stage = Stage.model_validate(
        {"device": 0, "fwd_s": 0.1, "input_grad_s": 0.2, "weight_grad_s": "1/3"}
    )
    instance = one_device().model_copy(update={"memory_bytes": None})
    route = instance.routes[0].model_copy(update={"stages": (stage,), "num_microbatches": 3})
    instance = instance.model_copy(update={"routes": (route,)})
    orders = schedule("0F0 0B0 0F1 0B1 0F2 0B2")
    assert evaluate(instance, orders).objective == Fraction(19, 10)
