"""Pictures draw what they say."""

import pytest

from gadgetopt.models.oneflow_actors.data.generate.presets import pipeline
from gadgetopt.models.oneflow_actors.pictures import memory, schedule

from ..conftest import solved
from ..hand_checked import H2, H4, H10, alone, ruled


@pytest.mark.parametrize(
    ("instance", "solution", "bars"),
    [
        (H4, ruled([2, 2, 2]), 6),
        (H2, alone(H2, [1, 2]), 6),
        (H10, ruled([2, 2, 2]), 16),
        (H4.model_copy(update={"num_microbatches": 4}), ruled([1, 1, 1]), 12),
    ],
)
def test_two_periods_or_the_whole_run_are_drawn(instance, solution, bars):
    figure = schedule.draw(instance, solution)
    (trace,) = figure.data
    assert len(trace.x) == bars
    ends = {}
    for stream, base, length in sorted(zip(trace.y, trace.base, trace.x, strict=True)):
        assert base >= ends.get(stream, base)
        ends[stream] = base + length


def test_a_finite_order_is_drawn():
    finite = H4.model_copy(update={"num_microbatches": 3})
    result = solved(finite, "cp")
    figure = schedule.draw(finite, result.solution)
    assert len(figure.data[0].x) == 9


def test_throughput_rises_with_memory():
    figure = memory.draw(pipeline(None, stages=2))
    found, bounds, marks = figure.data
    assert list(found.y) == sorted(found.y)
    assert all(y <= b * (1 + 1e-9) for y, b in zip(found.y, bounds.y, strict=True))
    assert {"one", "two"} <= {name for text in marks.text for name in text.split(", ")}
