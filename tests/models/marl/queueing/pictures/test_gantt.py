"""The Gantt chart shows every job in its slots."""

from gadgetopt.models.marl.queueing.pictures.gantt import draw

from ..brute_force import best_plan
from ..test_evaluate import tiny


def test_jobs_are_bars_in_their_slots():
    instance = tiny("move")
    figure = draw(instance, best_plan(instance)[1])
    (bars,) = figure.data
    assert list(bars.base) == [0, 0, 10, 10]
    assert sorted(bars.text) == ["0", "0", "1 x2", "2"]
    assert figure.layout.title.text == "Mean completion time 13.333 s, 3 jobs on 2 servers"
