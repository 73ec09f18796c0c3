"""The offline reference finds the optima of H3 and H4, and never loses to a list."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.heuristics import order_search as module
from gadgetopt.models.a_srpt.heuristics.order_search import order_search
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4, small


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("instance", "optimum"), [(H3, 13), (H4, 32)])
def test_hand_checked_optima(instance, optimum):
    outcome = order_search(instance, Limits(), rng(), steps=300)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    assert evaluation.objective == outcome.claimed_objective == optimum


@pytest.mark.parametrize("seed", range(5))
def test_more_steps_are_never_worse_and_values_are_the_evaluators(seed):
    instance = small(rng(seed), jobs=8)
    short = order_search(instance, Limits(), rng(), steps=0)
    long = order_search(instance, Limits(), rng(), steps=100)
    assert long.claimed_objective <= short.claimed_objective
    assert evaluate(instance, long.solution).objective == long.claimed_objective


def test_it_stops_in_time_with_a_schedule_and_refuses_what_is_too_large(monkeypatch):
    instance = small(rng(1), jobs=10)
    outcome = order_search(instance, Limits(time_s=0.0), rng())
    assert outcome.limit_hit == "time_s"
    assert evaluate(instance, outcome.solution).feasible
    monkeypatch.setattr(module, "MOST_JOBS", 5)
    with pytest.raises(ModelRefused, match="jobs: 10"):
        order_search(instance, Limits(), rng())
