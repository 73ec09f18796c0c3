"""Rules of thumb give feasible rates that do what they say."""

import numpy as np
import pytest

from gadgetopt.models.adsp.rates.data.generate.presets import (
    paper,
    uniform,
)
from gadgetopt.models.adsp.rates.evaluate import evaluate

from ..brute_force import run, tiny


@pytest.mark.parametrize("method", ["equal_commits", "by_speed", "most_commits"])
@pytest.mark.parametrize("cap", [0.0, 4.0])
def test_rules_are_feasible(method, cap):
    instance = uniform(np.random.default_rng(7), workers=25, cap_per_worker=cap)
    result = run(instance, method)
    assert evaluate(instance, result.solution).feasible


def test_equal_commits_are_equal():
    assert set(run(tiny("a3_no_window"), "equal_commits").solution.commits_per_period) == {9}


def test_rates_by_speed_are_in_proportion():
    # Speeds 1, 1, 1/3 and the best factor: 8 commits, and 8/3 rounded.
    assert run(tiny("a3_no_window"), "by_speed").solution.commits_per_period == (8, 8, 3)


def test_as_many_commits_as_the_cap_allows():
    # 12 commits of three workers without a window.
    assert run(tiny("a5_cap_binds"), "most_commits").solution.commits_per_period == (4, 4, 4)
    assert run(tiny("a1_equal_rates"), "most_commits").solution.commits_per_period == (16, 16, 16)


def test_equal_rates_cost_more_the_more_the_speeds_differ():
    ratios = []
    for heterogeneity in (1.45, 3.2):
        instance = paper(np.random.default_rng(0), heterogeneity=heterogeneity)
        equal, best = (run(instance, m).objective for m in ("equal_commits", "exact_rates"))
        ratios.append(float(equal / best))
    assert 1 <= ratios[0] < ratios[1]
