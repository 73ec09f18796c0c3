"""Every picture draws every kind of solution."""

import numpy as np
import pytest
from calling import called

from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.data.generate.presets import quickstart
from gadgetopt.models.dapple.pictures import curves, latency, mapping, memory, schedule
from gadgetopt.models.dapple.proving.exact.plans import exact_plans
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.system.result import Limits

from ..chains import D1

RNG = np.random.default_rng(0)
INSTANCE = quickstart(np.random.default_rng(2))


@pytest.mark.parametrize("picture", [schedule, latency, memory, mapping])
@pytest.mark.parametrize("method", [dapple, exact_plans])
def test_a_picture_is_drawn(picture, method):
    solution = called(method, INSTANCE, Limits(time_s=20), RNG).solution
    figure = picture.draw(INSTANCE, solution)
    assert len(figure.data)
    assert figure.layout.title.text


def test_the_gantt_chart_has_every_block_and_marks_the_pivot():
    solution = dapple(D1, Limits(), warmup="B").solution
    figure = schedule.draw(D1, solution)
    bars = {trace.name: len(trace.x) for trace in figure.data}
    assert bars == {
        "forward": 8,
        "backward": 8,
        "transfer forward": 4,
        "transfer backward": 4,
        "AllReduce": 2,
    }
    assert "<b>pivot: stage 0</b>" in figure.layout.yaxis.categoryarray
    lines = sorted(shape.x0 for shape in figure.layout.shapes)
    assert lines == pytest.approx([36.2, 37.2])


def test_the_latency_picture_has_every_pivot():
    solution = dapple(D1, Limits(), warmup="B").solution
    figure = latency.draw(D1, solution)
    assert list(figure.data[0].y) == pytest.approx([36.2, 25.2, 37.2])
    assert list(figure.data[1].y) == pytest.approx([36.2, 25.2, 37.2])


def test_the_memory_picture_shows_the_limit():
    options = PipelineOptions(memory_bytes=400.0)
    limited = D1.model_copy(update={"options": options})
    solution = dapple(limited, Limits()).solution
    assert memory.draw(limited, solution).layout.shapes


@pytest.mark.parametrize("draw", [curves.draw_microbatches, curves.draw_network])
def test_no_speedup_is_above_the_certified_limit(draw):
    figure = draw(INSTANCE)
    lines = {trace.name: trace.y for trace in figure.data}
    for name in ("data parallel", "straight", "DAPPLE"):
        pairs = zip(lines[name], lines["no plan is faster"], strict=True)
        assert all(found <= limit * (1 + 1e-9) for found, limit in pairs)


def test_speedups_at_the_instance_itself():
    figure = curves.draw_network(D1)
    alone = figure.data[0].y[curves.FACTORS.index(1.0)]
    assert alone == pytest.approx(120 / 79.5)
