"""The planner of the slides: its choice among all candidates, and its memory by hand."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.dapple.algorithms.slides_planner import (
    hpgo,
    largest_microbatch,
    peaks_bytes,
)
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.pieces.pipeline.pivot_latency import latency_s, pivot_of
from gadgetopt.pieces.pipeline.placement import choices, devices
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.result import Limits

from ..chains import D1, D1_PLAN


def two_stage_latencies(instance):
    """The slides' latency of one stage and of every plan of two, by all four policies."""
    sizes, layers = instance.cluster.gpus_per_machine, instance.num_layers
    everybody = tuple(range(instance.num_gpus))
    plans = [Plan(stage_layers=((0, layers),), stage_devices=(everybody,))]
    empty = (0,) * len(sizes)
    for need in range(1, instance.num_gpus):
        for counts in choices(sizes, empty, need, "slides"):
            first = devices(sizes, empty, counts)
            rest = tuple(v for v in everybody if v not in first)
            plans += [
                Plan(stage_layers=((0, cut), (cut, layers)), stage_devices=(first, rest))
                for cut in range(1, layers)
            ]
    for plan in plans:
        f, b, a = (row.tolist() for row in shop_of(instance, plan).in_seconds())
        m = instance.num_microbatches
        yield latency_s(f, b, a, m, pivot_of(f, b, a, m, "slowest"), "slides")


@pytest.mark.parametrize("seed", range(20))
def test_of_plans_of_two_stages_it_has_the_least_latency(seed):
    drawn = random_chain(np.random.default_rng(seed), layers=5, gpus_per_machine=2)
    options = drawn.options.model_copy(update={"max_stages": 2})
    instance = drawn.model_copy(update={"options": options})
    outcome = hpgo(instance, Limits())
    assert outcome.notes["latency_paper_s"] == pytest.approx(min(two_stage_latencies(instance)))
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == outcome.claimed_objective


def test_memory_by_hand():
    """D1: parameters 4 and 62, activations 12 and 2; peaks 2 * 4 + 2 * 12 and 2 * 62 + 2.

    With 200 bytes the first stage may have (200 - 8) / 24 = 8 times the microbatch, the second
    (200 - 124) / 2 = 38, hence 32 times. With 138 it is 130 / 24, hence 4; with 125, 1/2 by the
    second.
    """
    assert peaks_bytes(D1, D1_PLAN) == [32, 126]
    for memory, times in ((200.0, 8), (138.0, 4), (125.0, Fraction(1, 2)), (124.0, 0)):
        options = D1.options.model_copy(update={"memory_bytes": memory})
        limited = D1.model_copy(update={"options": options})
        assert largest_microbatch(limited, D1_PLAN) == times
