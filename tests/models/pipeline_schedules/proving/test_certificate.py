from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.pipeline_schedules.bounding import most_work
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.instance import Overlap
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import (
    all_bounds,
    best_certificate,
    machine_bounds,
)
from gadgetopt.models.pipeline_schedules.proving.certificate import (
    Chain,
    Contradiction,
    Machine,
    OfDevice,
    PipelineSchedulesCertificate,
    Rounds,
    check_bound,
)
from gadgetopt.models.pipeline_schedules.shop import next_below, shop_of

from ..conftest import solved
from ..random_cases import random_instance, two_ways


def certificate(proof):
    return PipelineSchedulesCertificate(proof=proof)


@pytest.mark.parametrize(
    ("devices", "microbatches", "times", "period"),
    [
        # M (f + i) + (M - K) w + (P - 1)(f + i + 2c) + w for memory of K = 2P.
        (4, 16, (185, 181, 93, 6), 16 * 366 + 8 * 93 + 3 * 378 + 93),
        (4, 16, (297, 294, 199, 5), 16 * 591 + 8 * 199 + 3 * 601 + 199),
        (8, 24, (113, 112, 81, 4), 24 * 225 + 8 * 81 + 7 * 233 + 81),
    ],
)
def test_a_chain_counts_what_memory_does_not_let_wait(devices, microbatches, times, period):
    f, i, w, c = times
    instance = equal(
        None,
        devices=devices,
        microbatches=microbatches,
        forward_us=f,
        input_grad_us=i,
        weight_grad_us=w,
        transfer_us=c,
        in_flight=2 * devices,
        objective="period",
    )
    chain = certificate(Chain(stage=devices - 1, to_stage=0))
    assert check_bound(instance, chain) == Fraction(period, 10**6)
    assert best_certificate(shop_of(instance))[1] == chain
    assert solved(instance).objective == Fraction(period, 10**6)


def test_rounds_through_memory_of_one_microbatch(two_devices):
    # F, F, I, I, W of one microbatch after the other: 5 s each on the first device.
    tight = two_devices.model_copy(update={"memory_bytes": (Fraction(1), Fraction(1))})
    assert check_bound(tight, certificate(Rounds(stage=0, rounds=1))) == 10
    assert solved(tight).objective == 10


@pytest.mark.parametrize(
    "proof",
    [
        OfDevice(kind="load", device=2),
        Chain(stage=2, to_stage=0),
        Chain(stage=0, to_stage=1),
        Rounds(stage=2, rounds=0),
        Machine(device=2, begin=0),
        Machine(device=0, begin=2),
        Contradiction(ticks=7, begin=2),
    ],
)
def test_what_an_instance_does_not_have_is_named(two_devices, proof):
    with pytest.raises(ValueError, match=r"there are 2|expected a stage of the route"):
        check_bound(two_devices, certificate(proof))


def test_nothing_is_proved_where_devices_may_do_more(two_devices):
    pair = Overlap(forward_stage=0, backward_stage=0, duration_s=Fraction(1))
    more = two_devices.model_copy(update={"overlaps": (pair,)})
    assert check_bound(more, certificate(OfDevice(kind="load", device=0))) is None


def test_no_formula_is_above_the_optimum_whatever_it_names():
    rng = np.random.default_rng(3)
    for k in range(8):
        instance = random_instance(rng, links=("lag", "half"))
        if k % 3 == 2:
            instance = two_ways(random_instance(rng, sizes=((2, 2),)))
        result = solved(instance)
        if result.objective is None:
            continue
        count, most = len(instance.stages), max(instance.microbatches)
        shop = shop_of(instance)
        proofs = [proof for _, proof in (*all_bounds(shop), *machine_bounds(shop))]
        proofs += [Rounds(stage=s, rounds=n) for s in range(count) for n in range(most + 2)]
        proofs += [
            Contradiction(ticks=int(result.objective * instance.ticks_per_s) + more, begin=begin)
            for more in (-2, -1, 0, 1, 2, 100)
            for begin in range(instance.num_devices)
        ]
        for proof in proofs:
            bound = check_bound(instance, certificate(proof))
            assert bound is None or bound <= result.objective, proof


@pytest.mark.parametrize(
    ("items", "capacity", "most"),
    [
        ([(5, 2, 3)], None, 15),
        ([(5, 2, 3)], 5, 10),
        ([(5, 2, 3), (4, 1, 1)], 3, 9),
        ([(5, 0, 3), (4, 1, 2)], 1, 19),
        ([(5, 2, 3)], -1, 0),
        ([(3, 2**40, 2), (2, 2**40 - 1, 2)], 2**41 - 1, 6),
    ],
)
def test_the_most_work_that_memory_holds(items, capacity, most):
    # The last one has too many cells for a table: one and nearly another, rounded up.
    assert most_work(items, capacity) == most


def test_the_next_length_below_has_a_small_denominator():
    assert next_below(Fraction(7), 1) == 6
    assert next_below(Fraction(7), 3) == Fraction(20, 3)
    assert next_below(Fraction(13, 2), 3) == Fraction(19, 3)
