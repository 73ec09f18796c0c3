"""(B7): what is refuted is below the optimum, and often everything that is."""

from fractions import Fraction

import pytest

from gadgetopt.models.pipeline_schedules import contradiction
from gadgetopt.models.pipeline_schedules.contradiction import is_refuted
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.heuristics.annealing import annealing
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.result import Limits


def two_chunks(placement, in_flight, objective):
    """Return four devices with two chunks, eight microbatches, times of a published setting."""
    return equal(
        None,
        devices=4,
        microbatches=8,
        chunks=2,
        placement=placement,
        forward_us=149,
        input_grad_us=147,
        weight_grad_us=100,
        transfer_us=5,
        in_flight=in_flight,
        objective=objective,
    )


def refuted(instance, below):
    shop = shop_of(instance)
    begins = range(instance.num_devices if shop.period else 1)
    return any(is_refuted(shop, below, begin) for begin in begins)


def test_two_devices_by_hand(two_devices):
    # Device 1 begins at 1 and works for 6: no schedule is shorter than 7, and one is as short.
    assert refuted(two_devices, 7)
    assert not refuted(two_devices, 8)


def test_one_microbatch_at_a_time(two_devices):
    # Memory for one: F, F, I, I, W take 5, and the next F waits for that W.
    tight = two_devices.model_copy(update={"memory_bytes": (Fraction(1), Fraction(1))})
    assert refuted(tight, 10)
    assert not refuted(tight, 11)


def test_no_memory_for_a_forward_refutes_everything(two_devices):
    none = two_devices.model_copy(update={"memory_bytes": (Fraction(1, 2), Fraction(1))})
    assert refuted(none, 10**9)


@pytest.mark.parametrize(
    ("placement", "in_flight", "objective", "ticks"),
    [
        ("loop", 8, "makespan", 6874),
        ("loop", 9, "makespan", 6807),
        ("v", 8, "makespan", 6822),
        ("loop", 8, "period", 6874),
        ("loop", 9, "period", 6774),
        ("v", 9, "period", 6490),
        ("v", 14, "period", 6346),
    ],
)
def test_the_optima_of_two_chunks_are_proved(placement, in_flight, objective, ticks):
    # Schedules of these lengths are found by local search (docs/measurements).
    instance = two_chunks(placement, in_flight, objective)
    assert refuted(instance, ticks)
    assert not refuted(instance, ticks + 1)


@pytest.mark.parametrize("objective", ["makespan", "period"])
def test_what_a_schedule_attains_is_not_refuted(objective):
    instance = two_chunks("v", 10, objective)
    found = annealing(instance, Limits(time_s=3), fixed_rng()).solution
    value = evaluate(instance, found).objective * instance.ticks_per_s
    assert not refuted(instance, int(value) + 1)


def test_large_instances_are_left_alone(two_devices, monkeypatch):
    monkeypatch.setattr(contradiction, "MOST_OPERATIONS", 11)
    assert not refuted(two_devices, 7)
