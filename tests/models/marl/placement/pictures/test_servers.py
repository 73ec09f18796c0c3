"""Pictures: what they show of A, and that all of them are drawn of larger instances."""

import numpy as np
import pytest

from gadgetopt.models.marl.placement.baselines.rules import by_rule
from gadgetopt.models.marl.placement.data.generate import presets
from gadgetopt.models.marl.placement.instance import PlacementSolution
from gadgetopt.models.marl.placement.pictures import how_many_servers, ignored, servers
from gadgetopt.reporting.figures import RED, drawn
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..test_evaluate import tiny

SPREAD = PlacementSolution(tasks=(((0, 1), (1, 1)), ((0, 1),), ((1, 1),)))


def test_every_job_is_on_its_servers_and_framed_where_it_is_slowed_down_most():
    figure = servers.draw(tiny("a_together"), SPREAD)
    (bars,) = figure.data
    assert list(bars.y) == [0, 0, 1, 1]
    assert list(bars.text) == ["0", "1", "0", "2"]
    framed = [colour == RED for colour in bars.marker.line.color]
    assert framed == [True, True, False, True]
    assert figure.layout.title.text == "Mean completion time 143.33 s, 3 jobs on 2 servers"


def test_more_servers_are_drawn_in_part():
    instance = presets.leaf_spine(np.random.default_rng(0), jobs=200, servers_per_rack=40)
    outcome = by_rule(instance, Limits(), np.random.default_rng(0), "lif", "fifo")
    figure = servers.draw(instance, outcome.solution)
    assert "48 servers are drawn" in figure.layout.title.subtitle.text


def test_the_heat_map_has_the_victims_in_rows():
    system = problem("marl_placement")
    (picture,) = (p for p in system.pictures if p.name == "interference")
    (heat,) = drawn(system, picture, tiny("a_together")).data
    assert heat.z[0][1] == pytest.approx(0.5)
    assert heat.z[1][0] == pytest.approx(0.3)


def test_without_interference_nothing_is_lost_by_ignoring_it(monkeypatch):
    monkeypatch.setattr(ignored, "ROUNDS", 10)
    figure = ignored.draw(tiny("a_together"))
    both, blind, _ = figure.data
    assert both.y[0] == blind.y[0] == 100
    assert all(a <= b + 1e-9 for a, b in zip(both.y, blind.y, strict=True))


def test_more_servers_are_never_worse_for_the_search(monkeypatch):
    monkeypatch.setattr(how_many_servers, "ROUNDS", 30)
    figure = how_many_servers.draw(presets.quickstart(np.random.default_rng(2)))
    search, *_, alone = figure.data
    values = [y for y in search.y if y is not None]
    assert values == sorted(values, reverse=True)
    assert all(a is None or y is None or a <= y for a, y in zip(alone.y, search.y, strict=True))
