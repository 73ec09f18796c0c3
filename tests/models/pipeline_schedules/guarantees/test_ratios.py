from fractions import Fraction

import numpy as np

from gadgetopt.models.pipeline_schedules.baselines.zero_bubble import zb_h1
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.guarantees.ratios import (
    equal_stages,
    memory_for_devices,
    times_in_range,
)
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import best_certificate
from gadgetopt.models.pipeline_schedules.shop import shop_of

from ..conftest import changed


def drawn(rng):
    """Return an instance of equal stages with memory for P < M microbatches, and its times."""
    devices = int(rng.integers(2, 6))
    microbatches = devices + int(rng.integers(1, 6))
    f, i, w = (int(x) for x in rng.integers(1, 8, 3))
    c = int(rng.integers(0, 4))
    instance = equal(
        None,
        devices=devices,
        microbatches=microbatches,
        forward_us=f,
        input_grad_us=i,
        weight_grad_us=w,
        transfer_us=c,
        in_flight=devices,
    )
    return instance, (devices, microbatches, f, i, w, c)


def test_zb_h1_has_the_length_of_the_theorem_and_no_schedule_is_shorter():
    rng, held = np.random.default_rng(0), 0
    for _ in range(150):
        instance, (P, M, f, i, w, c) = drawn(rng)
        assert equal_stages(instance, {})
        assert memory_for_devices(instance, {})
        if not times_in_range(instance, {}):
            continue
        held += 1
        least = Fraction(M * (f + i + w) + (P - 1) * (f + i - w + 4 * c), 10**6)
        found = evaluate(instance, zb_h1(instance).solution)
        assert found.feasible
        assert found.components["makespan_s"] == found.components["period_s"] == least
        for objective in ("makespan", "period"):
            shop = shop_of(instance.model_copy(update={"objective": objective}))
            assert Fraction(best_certificate(shop)[0], instance.ticks_per_s) == least
    assert held > 30


def test_it_is_longer_where_transfers_are_long_or_w_is():
    # Two devices, five microbatches; the forward that follows an I comes 2c late.
    slow = equal(
        None,
        devices=2,
        microbatches=5,
        forward_us=7_000_000,
        input_grad_us=5_000_000,
        weight_grad_us=3_000_000,
        transfer_us=3_000_000,
        in_flight=2,
    )
    assert not times_in_range(slow, {})
    assert evaluate(slow, zb_h1(slow).solution).objective == 99 > 5 * 15 + 9 + 12


def test_the_theorem_says_nothing_of_other_instances(two_devices):
    assert not memory_for_devices(two_devices, {})  # M = P
    assert not equal_stages(changed(two_devices, 1, fwd_s=2), {})
    assert not equal_stages(two_devices.model_copy(update={"links": "full"}), {})
    three = equal(None, devices=2, microbatches=3, in_flight=2)
    assert memory_for_devices(three, {})
    assert not memory_for_devices(changed(three, 0, weight_act_bytes=0), {})
