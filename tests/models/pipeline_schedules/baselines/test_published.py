"""The published schedules: PyTorch's own rows, peaks, table values, and who refuses what."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pipeline_schedules.baselines.automatic import zb_auto, zbv_greedy
from gadgetopt.models.pipeline_schedules.baselines.building_blocks import v_half, v_min
from gadgetopt.models.pipeline_schedules.baselines.dual_pipe import dual_pipe, dual_pipe_v
from gadgetopt.models.pipeline_schedules.baselines.interleaved import interleaved, zb1p
from gadgetopt.models.pipeline_schedules.baselines.one_f_one_b import gpipe, one_f_one_b
from gadgetopt.models.pipeline_schedules.baselines.waves import chimera, hanayo
from gadgetopt.models.pipeline_schedules.baselines.zbv import zbv
from gadgetopt.models.pipeline_schedules.baselines.zero_bubble import zb_h1, zb_h2
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.instance import (
    Overlap,
    PipelineSchedulesInstance,
    Route,
    Stage,
)

PLENTY = 10_000


def loop(P, M, chunks=1, **fields):
    return equal(
        None, **{"devices": P, "microbatches": M, "chunks": chunks, "in_flight": PLENTY, **fields}
    )


def v_shaped(P, M, **fields):
    return loop(P, M, 2, placement="v", **fields)


def pairs(P):
    """All pairs of a V's two chunks, or of two directions."""
    return tuple(
        Overlap(forward_stage=a, backward_stage=b, duration_s=Fraction(2))
        for d in range(P)
        for a, b in ((d, 2 * P - 1 - d), (2 * P - 1 - d, d))
    )


def two_ways(P, M, overlaps=()):
    """Two routes of opposite directions, all times 1 s, one byte a microbatch."""
    one = Fraction(1)

    def route(devices):
        stages = [
            Stage(device=d, fwd_s=one, input_grad_s=one, weight_grad_s=one,
                  act_bytes=one, weight_act_bytes=one, weight_group=min(d, s))
            for s, d in enumerate(devices)
        ]  # fmt: skip
        return Route(num_microbatches=M, stages=tuple(stages))

    routes = route(range(P)), route(reversed(range(P)))
    return PipelineSchedulesInstance(num_devices=P, routes=routes, overlaps=overlaps)


def value(method, instance, part="makespan_s"):
    evaluation = evaluate(instance, method(instance).solution)
    assert evaluation.objective is not None, evaluation.violations
    assert not evaluation.violations
    return evaluation.components[part]


# -- beside PyTorch's generators ---------------------------------------------------------------


def torch_rows(name, P, chunks, M):
    """The rows that PyTorch generates without process groups; None if it refuses."""
    schedules = pytest.importorskip("torch.distributed.pipelining.schedules")
    stages = [
        SimpleNamespace(
            num_stages=P * chunks, group_size=P, group_rank=0, stage_index=n,
            is_first=False, is_last=False, submod=None,
        )
        for n in range(chunks)
    ]  # fmt: skip
    try:
        made = getattr(schedules, name)(stages, n_microbatches=M, loss_fn=lambda y, t: y)
    except ValueError:
        return None
    return tuple(
        tuple(str(cell) for cell in made.pipeline_order[d] if cell is not None) for d in range(P)
    )


@pytest.mark.parametrize(
    ("name", "method", "make"),
    [
        ("ScheduleInterleaved1F1B", interleaved, lambda P, v, M: loop(P, M, v)),
        ("ScheduleInterleavedZeroBubble", zb1p, lambda P, v, M: loop(P, M, v)),
        ("ScheduleZBVZeroBubble", zbv, lambda P, _, M: v_shaped(P, M)),
        (
            "ScheduleDualPipeV",
            dual_pipe_v,
            lambda P, _, M: v_shaped(P, M).model_copy(update={"overlaps": pairs(P)}),
        ),
    ],
)
def test_orders_are_those_of_pytorch(name, method, make):
    for P in range(1, 5):
        for chunks in (1, 2, 3) if "Interleaved" in name else (2,):
            for M in range(1, 13):
                theirs = torch_rows(name, P, chunks, M)
                instance = make(P, chunks, M)
                if theirs is None:
                    with pytest.raises(ModelRefused):
                        method(instance)
                else:
                    assert method(instance).solution.orders == theirs, (P, chunks, M)


# -- table values and peaks --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("P", "M", "fused", "split", "period"),
    [
        (2, 2, 8, 7, 7), (2, 3, 11, 10, 9), (2, 4, 14, 13, 12),
        (3, 3, 13, 11, 11), (3, 4, 16, 14, 13), (3, 6, 22, 20, 18),
        (4, 4, 18, 15, 15), (4, 6, 24, 21, 19),
    ],
)  # fmt: skip
def test_unit_times(P, M, fused, split, period):
    instance = loop(P, M)
    assert value(gpipe, instance) == value(one_f_one_b, instance) == fused
    assert value(zb_h1, instance) == value(zb1p, instance) == split
    assert value(zb_h2, instance, "period_s") == period


def test_more_warm_up_can_delay_the_end():
    assert value(zb_h2, loop(3, 3)) == 12
    assert value(zb_h2, loop(4, 4)) == 16


def test_two_chunks_of_unit_times():
    looped, folded = loop(2, 4, 2), v_shaped(2, 4)
    assert value(interleaved, looped) == 26
    assert value(interleaved, looped, "peak_bytes") == 5
    assert value(zb1p, looped) == 25
    assert value(zbv, folded) == value(dual_pipe_v, folded) == 25
    assert value(dual_pipe_v, folded, "peak_bytes") == 5
    assert value(zbv, folded, "period_s") == 24


def test_unequal_times_of_a_loop():
    instance = loop(
        2, 4, 2, forward_us=149, input_grad_us=147, weight_grad_us=100, transfer_us=5
    )  # fmt: skip
    assert value(zb1p, instance) == Fraction(3394, 10**6)


@pytest.mark.parametrize("P", [2, 4, 6])
def test_peaks_are_the_published_ones(P):
    M = 3 * P
    assert value(one_f_one_b, loop(P, M), "peak_bytes") == P
    assert value(zb_h1, loop(P, M), "peak_bytes") == P
    assert value(zb_h2, loop(P, M), "peak_bytes") == 2 * P - 1
    assert value(zbv, v_shaped(P, M), "peak_bytes") == 2 * P
    assert value(dual_pipe, two_ways(P, M), "peak_bytes") == P + 1
    assert value(chimera, two_ways(P, M), "peak_bytes") <= P + 1


def test_building_blocks_take_a_third_and_half_of_the_memory():
    P, M = 24, 72
    whole = value(zbv, v_shaped(P, M), "peak_bytes")
    assert whole == 2 * P
    assert value(v_min, v_shaped(P, M), "peak_bytes") <= Fraction(2 * P, 3) + 4
    assert value(v_half, v_shaped(P, M), "peak_bytes") <= P + 4


@pytest.mark.parametrize("P", [2, 4, 6])
def test_overlapped_pairs_shorten_dual_pipe(P):
    apart, together = two_ways(P, 2 * P), two_ways(P, 2 * P, pairs(P))
    assert value(dual_pipe, together) < value(dual_pipe, apart)
    assert value(dual_pipe, apart) <= value(chimera, apart)


# -- built for the times -----------------------------------------------------------------------


@pytest.mark.parametrize("in_flight", [4, 8])
@pytest.mark.parametrize("objective", ["makespan", "period"])
def test_automatic_schedules_are_no_worse_than_those_by_hand(in_flight, objective):
    instance = loop(
        4, 8, forward_us=185, input_grad_us=181, weight_grad_us=93, transfer_us=6,
        in_flight=in_flight, objective=objective,
    )  # fmt: skip
    by_hand = [zb_h1, zb_h2] if in_flight >= 7 else [zb_h1]
    best = min(value(method, instance, f"{objective}_s") for method in by_hand)
    assert value(zb_auto, instance, f"{objective}_s") <= best


@pytest.mark.parametrize("times", [(185, 181, 93, 6), (297, 294, 199, 5), (113, 112, 81, 4)])
def test_the_automatic_schedule_is_zb_h1_with_memory_for_the_devices(times):
    # Which is optimal there: f, i, w and c of published settings.
    names = ("forward_us", "input_grad_us", "weight_grad_us", "transfer_us")
    instance = loop(4, 8, in_flight=4, **dict(zip(names, times, strict=True)))
    assert value(zb_auto, instance) == value(zb_h1, instance)
    assert value(zb_auto, instance, "peak_bytes") == 4


@pytest.mark.parametrize("in_flight", [2, 3, 4, 5])
def test_a_greedy_v_fits_into_any_memory(in_flight):
    instance = v_shaped(2, 4, in_flight=in_flight)
    assert value(zbv_greedy, instance, "peak_bytes") <= in_flight


def test_waves_run_on_more_chunks():
    stages = [0, 1, 1, 0] * 2
    one = Fraction(1)
    route = Route(
        num_microbatches=6,
        stages=tuple(
            Stage(device=d, fwd_s=one, input_grad_s=one, weight_grad_s=one) for d in stages
        ),
    )
    instance = PipelineSchedulesInstance(num_devices=2, routes=(route,))
    assert value(hanayo, instance) >= 6 * 3 * 4


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "instance", "told"),
    [
        (zb_h1, loop(2, 2, 2), "stage s alone on device s"),
        (zb_h2, loop(3, 6, in_flight=3), "memory_bytes: 3 of device 0"),
        (zbv, loop(2, 4, 2), "stage s on device s of the V"),
        (zbv, loop(2, 4), "1 stages a device, expected 2"),
        (interleaved, loop(2, 5), "multiple of the 2 rounds"),
        (dual_pipe, loop(2, 4), "expected two"),
        (dual_pipe, two_ways(4, 3), "at least the 4 devices"),
        (dual_pipe_v, v_shaped(2, 3), "at least twice the 2 devices"),
        (chimera, two_ways(3, 3), "expected an even number"),
        (hanayo, loop(2, 4), "expected an even number"),
    ],
)
def test_what_a_schedule_is_not_made_for(method, instance, told):
    with pytest.raises(ModelRefused, match=told):
        method(instance)
