"""The priced search is exact, and what it proves is checked."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.proving.certificate import mode_prices
from gadgetopt.models.sjf_bco.proving.certificate.check import check_bound
from gadgetopt.models.sjf_bco.proving.exact import priced_search as module
from gadgetopt.models.sjf_bco.proving.exact.priced_search import priced_search
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.system.result import Limits, Status

from ...exact_instances import HAND_CHECKED
from ...hand_checked import (
    instance,
    job,
)


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_it_finds_and_proves_the_hand_checked_optimum(name):
    inst, optimum = HAND_CHECKED[name]
    outcome = priced_search(inst, Limits(), np.random.default_rng(0))
    assert outcome.dual_bound == outcome.claimed_objective == optimum
    assert evaluate(inst, outcome.solution).objective == optimum
    assert check_bound(inst, outcome.certificate) == optimum


@pytest.mark.skipif(not COMPILED, reason="annealing in plain Python takes minutes")
@pytest.mark.parametrize(("jobs", "seed"), [(5, 1), (6, 4), (6, 6)])
def test_contention_is_closed_with_a_checked_bound(jobs, seed):
    inst = contended_small(np.random.default_rng(seed), jobs=jobs, servers=3)
    outcome = priced_search(inst, Limits(), np.random.default_rng(0))
    assert outcome.dual_bound == outcome.claimed_objective
    assert check_bound(inst, outcome.certificate) == outcome.dual_bound


def test_no_time_gives_a_valid_bound():
    inst = contended_small(np.random.default_rng(1), jobs=5, servers=3)
    outcome = priced_search(inst, Limits(time_s=0.0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert check_bound(inst, outcome.certificate) == outcome.dual_bound


def test_no_schedule_within_the_horizon_is_proved():
    inst = instance([2], [job(1, 20)] * 3, horizon=3)
    outcome = priced_search(inst, Limits(), np.random.default_rng(0))
    assert outcome.proved is Status.INFEASIBLE
    assert check_bound(inst, outcome.certificate) == outcome.dual_bound == 4


def test_ctrl_c_keeps_schedule_and_bound(monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    inst, _ = HAND_CHECKED["E3"]
    monkeypatch.setattr(module, "_prices", interrupted)
    monkeypatch.setattr(module, "root", lambda *_: None)
    outcome = priced_search(inst, Limits(), np.random.default_rng(0))
    assert outcome.limit_hit == "interrupted"
    assert evaluate(inst, outcome.solution).objective == outcome.claimed_objective
    assert check_bound(inst, outcome.certificate) == outcome.dual_bound


def test_as_many_prices_are_taken_as_the_memory_holds(monkeypatch):
    inst, optimum = HAND_CHECKED["E3"]
    monkeypatch.setattr(mode_prices, "MOST_VALUES", 2 * 4 * 16 * 2)
    monkeypatch.setattr(module, "root", lambda *_: None)
    outcome = priced_search(inst, Limits(), np.random.default_rng(0))
    assert outcome.notes["prices"] <= 2
    assert outcome.dual_bound == outcome.claimed_objective == optimum
