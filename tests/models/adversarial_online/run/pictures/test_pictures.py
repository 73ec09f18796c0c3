"""Pictures show every request and the numbers that are proved."""

import numpy as np

from gadgetopt.models.adversarial_online.run.data.generate.presets import quickstart
from gadgetopt.models.adversarial_online.run.pictures import curves, stream

from ..brute_force import run


def test_a_stream_is_drawn_request_by_request():
    instance = quickstart(np.random.default_rng(0))
    solution = run(instance, "one_seed").solution
    figure = stream.draw(instance, solution)
    assert len(figure.data[0].x) + len(figure.data[1].x) == 24
    assert "times that" in figure.layout.title.subtitle.text


def test_curves_end_at_the_largest_value_and_ratios_fall():
    instance = quickstart(np.random.default_rng(0))
    figure = curves.draw(instance)
    assert abs(figure.data[0].y[-1] - 10) < 1e-9
    ratios = curves.draw_ratios(instance).data[0].y
    assert list(ratios) == sorted(ratios, reverse=True)
