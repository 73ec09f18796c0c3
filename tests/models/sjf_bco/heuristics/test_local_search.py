"""LPT and iterated randomised LPT."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.models.sjf_bco.energetic import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics.local_search import (
    Schedule,
    _Jobs,
    _pass,
    lpt_ils,
)
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.system.result import Limits

from .. import hand_checked
from ..random_instances import small_instances


def lpt(instance: SjfBcoInstance) -> Schedule:
    """Return the schedule of one pass, longest first, each job where it completes earliest.

    There is no contention, so `makespan` is exact. It may exceed the horizon. Takes O(|J| S).
    """
    jobs = _Jobs(instance)
    return _pass(jobs, jobs.duration, None)


@settings(max_examples=150)
@given(small_instances())
def test_claimed_makespan_is_the_evaluated_one(instance: SjfBcoInstance) -> None:
    outcome = lpt_ils(instance, Limits(), np.random.default_rng(0), restarts=5)
    if outcome.solution is None:
        assert outcome.notes["makespan"] > instance.horizon_slots
        return
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert energetic_bound(instance) <= evaluation.objective == outcome.claimed_objective
    assert outcome.claimed_objective <= lpt(instance).makespan
    assert evaluation.components["largest_level"] <= 1


def test_gangs_larger_than_every_server_run_one_after_the_other() -> None:
    # Two of three GPUs on servers of two take two servers each, and there are three: 2 + 2 slots.
    assert lpt(hand_checked.contention_pays()).makespan == 4


def test_longest_first_balances_where_shortest_first_does_not() -> None:
    # 2 slots on one GPU, 1 + 1 on the other.
    assert lpt(hand_checked.theorem_5_fails_a()).makespan == 2


@pytest.mark.parametrize("seed", range(4))
def test_beats_sjf_bco_at_the_paper_scale(seed: int) -> None:
    sjf_bco = [458, 407, 470, 529][seed]
    instance = hand_checked.paper_experiment(seed)
    outcome = lpt_ils(instance, Limits(), np.random.default_rng(0), restarts=10)
    assert outcome.claimed_objective < sjf_bco


def test_time_limit_stops_the_restarts_and_is_named() -> None:
    instance = hand_checked.paper_experiment(0)
    outcome = lpt_ils(instance, Limits(time_s=0.0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution is not None
