"""Presets place their stages as they say; numbers that cannot be are named."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.pipeline_schedules.baselines.dual_pipe import dual_pipe
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal, random, unequal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate

from ..conftest import solved


def drawn(seed=0, **options):
    return random(np.random.default_rng(seed), **options)


def test_two_ways_are_opposite_and_share_the_microbatches():
    instance = equal(None, devices=4, microbatches=8, placement="two_ways", transfer_us=5)
    there, back = instance.routes
    assert [s.device for s in there.stages] == [0, 1, 2, 3]
    assert [s.device for s in back.stages] == [3, 2, 1, 0]
    assert there.num_microbatches == back.num_microbatches == 4
    assert there.stages[-1].transfer_s == back.stages[-1].transfer_s == 0
    assert instance.memory_bytes == (4,) * 4


def test_dual_pipe_runs_on_two_ways_and_is_not_below_the_optimum():
    instance = equal(None, devices=2, microbatches=4, placement="two_ways", in_flight=3)
    value = evaluate(instance, dual_pipe(instance).solution)
    best = solved(instance)
    assert best.status == "optimal"
    assert value.feasible
    assert value.objective >= best.objective


@pytest.mark.parametrize("placement", ["loop", "v", "two_ways"])
def test_random_times_are_drawn_once_for_each_stage_of_a_route(placement):
    chunks = 1 if placement == "two_ways" else 2
    instance = drawn(devices=3, microbatches=4, chunks=chunks, placement=placement, most_s=6)
    for route in instance.routes:
        assert len(route.stages) == 3 * chunks
        times = [(s.fwd_s, s.input_grad_s, s.weight_grad_s) for s in route.stages]
        assert all(1 <= t <= 6 and t.denominator == 1 for row in times for t in row)
    assert instance == drawn(devices=3, microbatches=4, chunks=chunks, placement=placement)
    assert instance != drawn(1, devices=3, microbatches=4, chunks=chunks, placement=placement)


def test_a_random_instance_is_closed_at_once():
    assert solved(drawn()).status == "optimal"


def test_unequal_stages_of_the_zero_bubble_scheduler_are_closed_by_the_longest():
    # 204825 us of the other forwards, 7 transfers of 473, then 32 times 113242 on the last device.
    result = solved(unequal(None))
    assert result.status == "optimal"
    assert result.objective == Fraction(204_825 + 7 * 473 + 32 * 113_242, 10**6)
    assert solved(unequal(None, objective="period", in_flight=16)).objective == Fraction(
        32 * 113_242, 10**6
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"devices": 0}, "devices: 0, expected at least 1"),
        ({"most_s": 0}, "most_s: 0, expected at least 1"),
        ({"in_flight": -1}, "in_flight: -1, expected at least 0"),
        ({"placement": "two_ways", "microbatches": 3}, "microbatches: 3, expected an even number"),
        ({"placement": "two_ways", "chunks": 2}, "chunks: 2, expected 1 for two_ways"),
    ],
)
def test_numbers_that_cannot_be_are_named(options, line):
    with pytest.raises(InputError, match=line):
        drawn(**options)
