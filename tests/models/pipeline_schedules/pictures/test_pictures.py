"""Every picture draws what it says, of one stage a device, chunks, pairs and AllReduces."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gadgetopt.models.pipeline_schedules.baselines.dual_pipe import dual_pipe_v
from gadgetopt.models.pipeline_schedules.baselines.one_f_one_b import one_f_one_b
from gadgetopt.models.pipeline_schedules.baselines.zbv import zbv
from gadgetopt.models.pipeline_schedules.baselines.zero_bubble import zb_h1
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.instance import Overlap
from gadgetopt.models.pipeline_schedules.pictures import bubbles, frontier, memory, schedule

from ..conftest import changed

ONE = equal(None, devices=3, microbatches=4)
REDUCED = changed(ONE, 0, allreduce_s=2)
PERIOD = ONE.model_copy(update={"objective": "period"})
FOLDED = equal(None, devices=2, microbatches=5, chunks=2, placement="v", in_flight=9)
PAIRS = FOLDED.model_copy(
    update={
        "overlaps": tuple(
            Overlap(forward_stage=f, backward_stage=b, duration_s=Fraction(2))
            for f, b in ((0, 3), (3, 0), (1, 2), (2, 1))
        )
    }
)


@pytest.mark.parametrize(
    ("instance", "method"),
    [(ONE, zb_h1), (REDUCED, one_f_one_b), (PERIOD, zb_h1), (FOLDED, zbv), (PAIRS, dual_pipe_v)],
)
def test_pictures_are_drawn(instance, method):
    solution = method(instance).solution
    for picture in (schedule, memory, bubbles):
        figure = picture.draw(instance, solution)
        assert len(figure.data)
        assert figure.layout.title.text


def test_the_gantt_chart_has_every_operation():
    figure = schedule.draw(REDUCED, zb_h1(REDUCED).solution)
    assert {trace.name: len(trace.x) for trace in figure.data} == {
        "forward": 12,
        "gradient of the input": 12,
        "gradient of the weights": 12,
        "AllReduce": 1,
    }


def test_idle_shares_add_up_to_the_makespan():
    figure = bubbles.draw(ONE, zb_h1(ONE).solution)
    idle = [sum(parts) for parts in zip(*(trace.y for trace in figure.data), strict=True)]
    assert idle == pytest.approx([2 / 14] * 3)  # 12 s of work in 14 s


def test_memory_reaches_the_peak():
    figure = memory.draw(ONE, zb_h1(ONE).solution)
    assert max(max(trace.y) for trace in figure.data) == 3


def test_no_published_schedule_is_below_the_frontier():
    figure = frontier.draw(equal(None, devices=2, microbatches=3))
    best, low, published = figure.data
    for memory_used, value in zip(published.x, published.y, strict=True):
        bound = next(y for x, y in zip(low.x, low.y, strict=True) if x >= memory_used)
        assert value >= bound - 1e-9
    assert all(b >= y for b, y in zip(best.y, low.y, strict=True))
