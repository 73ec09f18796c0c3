"""The picture has every stage twice, and the shadow prices."""

from gadgetopt.models.bgl.resources.pictures.stages import draw

from ..test_evaluate import BEST, H3


def test_bars_are_the_stages_times():
    figure = draw(H3, BEST)
    even, solution = figure.data
    assert max(solution.x) == 1.95
    assert max(even.x) == 2.2
    assert "a core of the worker 0.2 s" in figure.layout.title.subtitle.text
    assert "a core of the store nothing" in figure.layout.title.subtitle.text
