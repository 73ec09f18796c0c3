"""The evaluator against iterations computed by hand, against the simulator, against wrong plans."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.spp.evaluate import evaluate, machines, max_load_s
from gadgetopt.models.spp.instance import SppSolution
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import DeadlockError, simulate

from .brute_force import e1, e2, instance_of, interleavings, plans, varied_instances

TURN = (1, -1, 2, -2)
LATE = (1, 2, -1, -2)


def solution(layers, gpus, *orders):
    return SppSolution(stage_layers=layers, stage_devices=gpus, orders=orders)


def test_one_stage_takes_its_work_and_its_allreduce():
    # 2 * (8 + 16) / 2 = 24, AllReduce 2 * 1/2 * 120 / 6 = 20.
    found = evaluate(e1(), solution(((0, 3),), ((0, 1),), TURN))
    assert found.feasible
    assert found.objective == 44
    assert found.components["max_load_s"] == 44
    assert found.components["most_in_flight"] == 1


def test_the_two_cuts_of_e1_have_equal_loads_and_different_times():
    # Stage 0 of the second: f1 0-6, f2 6-12; f1 crosses 6-7; stage 1 f1 7-9, b1 9-13; b1 back
    # 13-14; stage 0 b1 14-26, b2 26-38.
    for cut, time in ((1, 44), (2, 38)):
        plan = solution(((0, cut), (cut, 3)), ((0,), (1,)), LATE, LATE, TURN)
        found = evaluate(e1(), plan)
        assert found.objective == time
        assert found.components["max_load_s"] == 36


def test_the_times_of_e2_by_hand():
    # Stage 0: (2 + 3) / 2, (4 + 6) / 2, 2 * 1/2 * 8 / 12. Channel 12 / (2 * 2 * 2) each way.
    plan = solution(((0, 2), (2, 4)), ((0, 2), (1, 3)))
    found = machines(e2(), plan)
    assert found.forward == [Fraction(5, 2), Fraction(3, 2), 2]
    assert found.backward == [5, Fraction(3, 2), 4]
    assert found.allreduce == [Fraction(2, 3), 0, 6]
    assert max_load_s(e2(), found) == 30 + Fraction(2, 3)


def test_what_recomputation_latency_overlap_and_speeds_do():
    times = [[0, 2], [2, 0]]
    # Layer 0 on GPU 0 and 1: F = 6 / 3, B = 9 / 3 + F; AllReduce 2 * 1/2 * 4 / 2 = 2.
    fast = instance_of(
        [2, 4], [3, 6], [2, 2], [4], 1,
        {"type": "matrix", "bandwidth_bytes_per_s": times, "speeds": [1.0, 2.0]},
        {"recompute": True, "transfer_latency_s": 0.5},
    )  # fmt: skip
    whole = machines(fast, solution(((0, 2),), ((0, 1),)))
    assert (whole.forward, whole.backward, whole.allreduce) == ([2], [5], [2])
    halves = machines(fast, solution(((0, 1), (1, 2)), ((0,), (1,))))
    assert halves.forward == [2, Fraction(5, 2), 2]
    assert halves.backward == [5, Fraction(5, 2), 5]
    # Overlapped: the backward passes layer 1 after 6 / 2 = 3, its AllReduce runs 3-4 beside layer
    # 0's backward 3-4.5, whose AllReduce runs 4.5-5.5: 1 is left.
    beside = instance_of([2, 4], [3, 6], [2, 2], [4], 1, times, {"overlap_allreduce": True})
    assert machines(beside, solution(((0, 2),), ((0, 1),))).allreduce == [1]


def test_blocks_that_wait_for_each_other_are_named():
    # Stage 0 wants b1 before f2, stage 1 f2 before f1.
    found = evaluate(e1(), solution(((0, 1), (1, 3)), ((0,), (1,)), TURN, TURN, (2, 1, -2, -1)))
    assert found.objective is None
    assert {v.constraint for v in found.violations} == {"blocks_wait_for_each_other"}


@pytest.mark.parametrize(
    ("layers", "gpus", "orders", "violation"),
    [
        (((0, 2),), ((0, 1),), (TURN,), "layers_not_covered at stage_layers of 3 layers: by 1"),
        (((0, 3),), ((0, 2),), (TURN,), "unknown_gpu at stage_devices[0], GPU 2: by 1"),
        (((0, 3),), ((0, 0),), (TURN,), "gpu_used_twice at stage_devices[0], GPU 0: by 1"),
        (((0, 3),), ((),), (TURN,), "stage_without_gpu at stage_devices[0]: by 1"),
        (((0, 3),), (), (TURN,), "stage_without_devices at stage_devices of 1 stages: by 1"),
        (((0, 3),), ((0, 1),), (), "machine_without_order at orders of 1 stages: by 1"),
        (((0, 3),), ((0, 1),), ((1, -1, 2),), "blocks_not_listed_once at orders[0], stage 0: by 1"),
        (((1, 3),), ((0, 1),), (TURN,), "stages_not_consecutive at stage_layers[0]: by 1"),
    ],
)
def test_what_is_no_plan_has_no_iteration_time(layers, gpus, orders, violation):
    found = evaluate(e1(), SppSolution(stage_layers=layers, stage_devices=gpus, orders=orders))
    assert violation in [str(v) for v in found.violations]
    assert found.objective is None


@pytest.mark.parametrize(
    ("options", "violation"),
    [
        ({"max_stages": 1}, "too_many_stages at stage_layers: by 1"),
        ({"max_in_flight": 1}, "too_many_in_flight at stage 0: by 1"),
        # Stage 0 holds 3 * 0 bytes of parameters and 2 microbatches of 6 bytes.
        ({"memory_bytes": 11.0}, "memory_exceeded at stage 0, bytes: by 1"),
    ],
)
def test_limits_are_violations_of_a_plan_that_has_a_time(options, violation):
    more = e1().options.model_copy(update=options)
    instance = e1().model_copy(update={"options": more})
    found = evaluate(instance, solution(((0, 1), (1, 3)), ((0,), (1,)), LATE, LATE, TURN))
    assert violation in [str(v) for v in found.violations]
    assert found.objective == 44


def test_an_unused_gpu_is_a_violation_only_where_all_are_to_be_used():
    plan = solution(((0, 3),), ((0,),), TURN)
    assert [v.constraint for v in evaluate(e1(), plan).violations] == ["unused_gpu"]
    options = e1().options.model_copy(update={"use_all_gpus": False})
    assert evaluate(e1().model_copy(update={"options": options}), plan).objective == 48


@settings(max_examples=150)
@given(instance=varied_instances(most_m=3), data=st.data())
def test_the_evaluator_and_the_simulator_agree_to_the_last_digit(instance, data):
    layers, gpus = data.draw(st.sampled_from(list(plans(instance))[:200]))
    orders = data.draw(
        st.tuples(
            *[st.sampled_from(interleavings(instance.num_microbatches))] * (2 * len(layers) - 1)
        )
    )
    given_solution = solution(layers, gpus, *orders)
    found = evaluate(instance, given_solution)
    shop = shop_of(instance, given_solution.plan)
    assert max_load_s(instance, machines(instance, given_solution)) == shop.seconds(max(shop.loads))
    try:
        schedule = simulate(shop, orders)
    except DeadlockError:
        assert found.objective is None
    except ValueError:  # too many in flight
        assert found.violations
    else:
        assert found.objective == schedule.makespan_s


def test_times_of_any_size_are_exact():
    instance = instance_of([1e-30], [1e30], [0], [], 1, [[0]])
    assert evaluate(instance, solution(((0, 1),), ((0,),), (1, -1))).objective == (
        Fraction(10) ** 30 + Fraction(1, 10**30)
    )


def test_perturbed_solutions_are_rejected():
    right = solution(((0, 2), (2, 3)), ((0,), (1,)), LATE, LATE, TURN)
    assert evaluate(e1(), right).feasible
    rng = np.random.default_rng(0)
    for _ in range(50):
        orders = [list(order) for order in right.orders]
        q, k = int(rng.integers(3)), int(rng.integers(4))
        orders[q][k] += int(rng.choice([-1, 1, 2]))
        wrong = solution(right.stage_layers, right.stage_devices, *map(tuple, orders))
        assert not evaluate(e1(), wrong).feasible
