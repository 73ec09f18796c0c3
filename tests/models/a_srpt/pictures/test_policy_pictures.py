"""Pictures of schedules, flow times and prediction errors say what is in the data."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.presets import recurring
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.pictures import flow_times, gantt, prediction_errors
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4


def rng(seed=0):
    return np.random.default_rng(seed)


def solved(instance):
    return a_srpt(instance, Limits(), rng()).solution


def test_the_bars_of_h4_are_the_jobs_on_their_gpus():
    """J1 and J2 on server 0, J3 on server 1, J4 on both GPUs of server 0 from 11.5 to 13.5."""
    bar = gantt.gantt(H4, solved(H4)).data[0]
    bars = sorted(zip(bar.base, bar.x, bar.y, bar.width, strict=True))
    assert bars == [(1.5, 6, 0, 1), (3.5, 8, 1, 1), (6, 10, 2, 1), (11.5, 2, 0.5, 2)]


def test_the_virtual_machine_stands_above_the_schedule():
    figure = gantt.beside_virtual(H3, solved(H3))
    virtual = figure.data[0]
    assert list(zip(virtual.base, virtual.x, strict=True)) == [
        (0, 1),
        (1, 0.5),
        (1.5, 1),
        (2.5, 3),
    ]
    # J3 gets the fragments of both servers, J1 both servers.
    assert len(figure.data[1].x) == 1 + 2 + 2


def test_flow_times_are_the_evaluators():
    solution = solved(H4)
    flow = flow_times.flow_ticks(H4, solution)
    assert sum(flow) / 4 == evaluate(H4, solution).components["mean_flow_ticks"]
    figure = flow_times.draw(H4)
    assert len(figure.data) == len(flow_times.policies()) == 9
    assert all(trace.y[-1] == 1 for trace in figure.data)


def test_errors_fall_into_their_ranges():
    assert prediction_errors.shares([0.0, 0.1, 0.15, 0.5, 0.9, 7.0]) == pytest.approx(
        [2 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6]
    )
    instance = recurring(rng(), jobs=150, groups=4)
    figure = prediction_errors.draw(instance)
    assert [trace.name for trace in figure.data] == list(prediction_errors.PREDICTORS)
    for trace in figure.data:
        assert sum(trace.y) == pytest.approx(1)


def test_pictures_that_would_take_minutes_are_refused(monkeypatch):
    for module in (flow_times, prediction_errors):
        monkeypatch.setattr(module, "MOST_JOBS", 2)
        with pytest.raises(InputError, match="jobs: 3"):
            module.draw(H3)
