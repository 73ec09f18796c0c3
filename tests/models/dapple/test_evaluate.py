"""The evaluator: against the shop's simulator, and what it rejects."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.instance import DappleSolution
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.orders import one_forward_one_backward, round_orders
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate

from . import brute_force
from .chains import D1, D1_PLAN, D2, drawn

GOOD = DappleSolution.of(D1_PLAN, warmup=[3, 1])


@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_the_toolkits_shop_and_simulators(seed):
    rng = np.random.default_rng(seed)
    options = PipelineOptions(
        use_all_gpus=False,
        recompute=bool(rng.integers(2)),
        overlap_allreduce=bool(rng.integers(2)),
        nvlink_rings=bool(rng.integers(2)),
        transfer_latency_s=float(rng.integers(2)),
    )
    instance = drawn(seed, options=options, num_microbatches=int(rng.integers(1, 6)))
    speeds = tuple(float(x) for x in rng.integers(1, 4, len(instance.cluster.gpus_per_machine)))
    cluster = instance.cluster.model_copy(update={"speeds": speeds})
    instance = instance.model_copy(update={"cluster": cluster})
    M = instance.num_microbatches
    everything = list(brute_force.plans(instance))
    for k in rng.choice(len(everything), 6):
        plan = everything[int(k)]
        shop = shop_of(instance, plan)
        numbers = sorted((int(x) for x in rng.integers(1, M + 1, plan.num_stages)), reverse=True)
        lists = [one_forward_one_backward(M, n) for n in numbers]
        early = evaluate(instance, DappleSolution.of(plan, warmup=numbers))
        assert early.objective == dispatch(shop, channels_first_come(lists)).makespan_s
        assert early.components["lower_bound_s"] == head_load_tail(shop).value_s
        assert early.components["most_in_flight"] == max(numbers)
        orders = round_orders(shop)
        stated = evaluate(instance, DappleSolution.of(plan, orders=orders))
        assert stated.objective == simulate(shop, orders).makespan_s


def test_the_latency_is_reported_and_is_no_bound():
    found = evaluate(D1, DappleSolution.of(D1_PLAN, orders=round_orders(shop_of(D1, D1_PLAN))))
    assert found.objective == Fraction("37.2")
    assert found.components["lower_bound_s"] == Fraction("37.2")
    assert found.components["latency_paper_s"] == Fraction("36.2")


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"stage_layers": ((0, 2), (3, 4))}, "stages_not_consecutive"),
        ({"stage_layers": ((0, 2), (2, 2))}, "empty_stage"),
        ({"stage_layers": ((0, 2), (2, 3))}, "layers_not_covered"),
        ({"stage_devices": ((0, 1),)}, "stage_without_devices"),
        ({"stage_devices": ((0, 1), ())}, "stage_without_gpu"),
        ({"stage_devices": ((0, 1), (2, 4))}, "unknown_gpu"),
        ({"stage_devices": ((0, 1), (1, 2))}, "gpu_used_twice"),
        ({"stage_devices": ((0, 1), (2,))}, "unused_gpu"),
        ({"warmup": (3,)}, "stage_without_warmup"),
        ({"warmup": (1, 3)}, "warmup_increases"),
        ({"warmup": None, "orders": ((1,), (1,), (1,))}, "blocks_not_listed_once"),
        ({"warmup": None, "orders": ((1, -1),)}, "machine_without_order"),
        (
            {"warmup": None, "orders": ((-1, 1, 2, -2, 3, -3, 4, -4),) * 3},
            "blocks_wait_for_each_other",
        ),
    ],
)
def test_perturbed_solutions_are_rejected(changes, constraint):
    found = evaluate(D1, GOOD.model_copy(update=changes))
    assert constraint in {violation.constraint for violation in found.violations}


def test_limits_of_an_instance_are_violations_with_amounts():
    options = PipelineOptions(max_stages=1, max_in_flight=2, memory_bytes=70.0, weights_factor=1.0)
    limited = D1.model_copy(update={"options": options})
    found = evaluate(limited, GOOD)
    amounts = {v.constraint: v.amount for v in found.violations}
    # Stage 0 holds 4 bytes of parameters and 3 times (8 + 4)/2; stage 1 62 and (2 + 0)/2.
    assert amounts == {"too_many_stages": 1, "too_many_in_flight": 1}
    tight = limited.model_copy(
        update={"options": options.model_copy(update={"memory_bytes": 20.0})}
    )
    over = [v for v in evaluate(tight, GOOD).violations if v.constraint == "memory_exceeded"]
    assert [v.amount for v in over] == [2, 43]


def test_recomputation_keeps_what_enters_a_stage():
    options = PipelineOptions(memory_bytes=1.0, weights_factor=1.0, recompute=True)
    found = evaluate(D1.model_copy(update={"options": options}), GOOD)
    over = [v.amount + 1 for v in found.violations if v.constraint == "memory_exceeded"]
    # Stage 0: 4 + 12/2; stage 1: 62 + 2/2 + 1 * 4/2 for the microbatch in flight.
    assert over == [10, 65]


def test_one_kind_of_order_is_stated():
    with pytest.raises(ValueError, match="warmup: neither of warmup and orders given"):
        DappleSolution.of(D1_PLAN)
    with pytest.raises(ValueError, match="warmup: both of warmup and orders given"):
        DappleSolution.of(D1_PLAN, warmup=[1, 1], orders=[[1]])


def test_a_unit_of_time_and_bytes_changes_no_order():
    doubled = D2.model_copy(
        update={
            "layers": tuple(
                layer.model_copy(
                    update={name: 2 * getattr(layer, name) for name in ("fwd_time_s", "bwd_time_s")}
                )
                for layer in D2.layers
            ),
            "cluster": D2.cluster.model_copy(
                update={"intra_bytes_per_s": 10.0, "inter_bytes_per_s": 1.0}
            ),
        }
    )
    solution = DappleSolution.of(D1_PLAN, warmup=[3, 1])
    assert evaluate(doubled, solution).objective == 2 * evaluate(D2, solution).objective
