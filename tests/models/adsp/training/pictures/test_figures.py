"""Pictures of training show what the simulator found."""

import pytest

from gadgetopt.models.adsp.training.instance import AdspTrainingSolution, Bsp, Rate
from gadgetopt.models.adsp.training.pictures import losses, shares, time_to_target, timeline
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.system.files import library, read_instance

from ..test_simulator import tiny

QUICK = read_instance(library() / "quickstart" / "adsp_training.json").data


def test_the_timeline_has_waits_under_a_barrier_only():
    waits = [
        len(timeline.draw(QUICK, AdspTrainingSolution(policy=policy)).data[2].x)
        for policy in (Bsp(), Rate(commits=4))
    ]
    assert waits[0] > 0
    assert waits[1] == 0


def test_curves_begin_together_and_end_at_the_target():
    figure = losses.draw(QUICK)
    assert len({curve.y[0] for curve in figure.data}) == 1
    target = figure.layout.shapes[0].y0
    assert all(curve.y[-1] <= target for curve in figure.data)


def test_the_curve_over_rates_has_their_times():
    curve = time_to_target.draw(QUICK).data[0]
    times = dict(zip(curve.x, curve.y, strict=True))
    assert times[3] == float(simulate(QUICK, Rate(commits=3)).time_s)


@pytest.mark.parametrize("instance", [QUICK, tiny("unreachable")])
def test_shares_add_up(instance):
    rows = [list(bar.x) for bar in shares.draw(instance).data]
    for row in zip(*rows, strict=True):
        assert sum(row) == pytest.approx(1)
