"""Pictures show the numbers of the evaluator."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.adsp.rates.pictures import equal_rates, momentum, periods, surface

from ..brute_force import rates, tiny


def test_a_period_is_full_of_steps_and_commits():
    figure = periods.draw(tiny("a2_window_of_two"), rates(9, 9, 7))
    computes, commits = figure.data
    assert len(computes.x) == len(commits.x) == 25
    assert sum(computes.x) + sum(commits.x) == pytest.approx(3 * 60)
    assert "1.50978" in figure.layout.title.text


def test_the_curve_of_equal_rates_has_its_least_value_at_nine():
    curve = equal_rates.draw(tiny("a1_equal_rates")).data[0]
    assert curve.x[int(np.argmin(curve.y))] == 9
    assert min(curve.y) == pytest.approx(1.514206, abs=1e-6)


def test_the_surface_is_nowhere_below_the_optimum():
    z = np.array(surface.draw(tiny("a3_no_window")).data[0].z)
    assert 1.503094 - 1e-6 <= np.nanmin(z) <= 1.51
    with pytest.raises(InputError, match="no thresholds"):
        surface.draw(tiny("momentum_cap"))


def test_momentum_falls_with_the_rate_in_both_readings():
    figure = momentum.draw(tiny("momentum_of_the_figure"))
    for curve in figure.data:
        assert list(curve.y) == sorted(curve.y, reverse=True)
    assert figure.data[0].y[0] == pytest.approx(0.4595, abs=1e-4)
