"""Every picture of every tiny instance, and what it shows."""

import numpy as np
import pytest

from gadgetopt.models.spp.data.generate.presets import (
    large_parameters,
    quickstart,
)
from gadgetopt.models.spp.pictures.curves import resplit
from gadgetopt.models.spp.pictures.memory import Point, front, under_less_memory
from gadgetopt.reporting.figures import drawn
from gadgetopt.system.registry import problem

from ..brute_force import e1, e2, run

PICTURES = {p.name: p for p in problem("spp").pictures}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("instance", [e1(), e2(), quickstart(np.random.default_rng(0))])
def test_pictures_can_be_drawn(name, instance):
    solution = run(instance, "spp").solution
    figure = drawn(problem("spp"), PICTURES[name], instance, solution)
    assert figure.layout.title.text
    assert len(figure.data) >= 1


def test_the_gantt_chart_has_every_block_once():
    instance = large_parameters(np.random.default_rng(0), microbatches=4)
    result = run(instance, "spp")
    figure = drawn(problem("spp"), PICTURES["schedule"], instance, result.solution)
    S, bars = len(result.solution.stage_layers), {bar.name: len(bar.x) for bar in figure.data}
    assert bars["forward"] == bars["backward"] == 4 * S
    assert bars["transfer forward"] == bars["transfer backward"] == 4 * (S - 1)
    ends = [b + x for bar in figure.data for b, x in zip(bar.base, bar.x, strict=True)]
    assert max(ends) == pytest.approx(float(result.objective))


def test_the_critical_machine_has_the_largest_bar():
    result = run(e2(), "spp")
    figure = drawn(problem("spp"), PICTURES["critical_machine"], e2(), result.solution)
    # Head 2.5 + 1.5, load 4 * 6, tail 1.5 + 5 + 2/3.
    totals = np.sum([bar.x for bar in figure.data], axis=0)
    assert max(totals) == pytest.approx(35 + 1 / 6)
    assert figure.layout.title.text.startswith("Critical: stage 1")


def test_the_curve_of_e1_shows_that_load_is_not_time():
    figure = drawn(problem("spp"), PICTURES["stages"], e1())
    times, bounds, loads = (list(line.y) for line in figure.data)
    assert (times, bounds, loads) == ([44, 44], [44, 44], [44, 36])


def test_a_minibatch_can_be_split_again():
    again = resplit(resplit(e1(), 8), 2)
    assert [x.fwd_time_s for x in again.layers] == [x.fwd_time_s for x in e1().layers]
    assert resplit(e1(), 8).layers[0].act_bytes == 1.5


def test_less_memory_takes_more_time():
    instance = large_parameters(np.random.default_rng(0), layers=8, microbatches=4)
    points = under_less_memory(instance)
    memory = [p.memory_bytes for p in points]
    assert len(points) > 2
    assert memory == sorted(memory, reverse=True)
    times = [p.time_s for p in front(points)]
    assert times == sorted(times, reverse=True)
    dominated = [Point(1.0, 9.0, 1, 1), Point(2.0, 5.0, 1, 1), Point(2.0, 7.0, 1, 1)]
    assert front([*dominated, Point(3.0, 6.0, 1, 1)]) == dominated[:2]
