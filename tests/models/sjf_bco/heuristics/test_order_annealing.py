"""Annealing of order, placement and delay: real schedules, equal answers for equal seeds."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics import order_annealing as module
from gadgetopt.models.sjf_bco.heuristics.order_annealing import order_annealing
from gadgetopt.models.sjf_bco.heuristics.order_loops import (
    STALLED,
    starts,
)
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.system.result import Limits

from ..hand_checked import instance, job, staggered_start
from ..random_instances import small_instance

#: Plain Python is about a hundred times slower.
MOVES = 50_000 if COMPILED else 1_000


@pytest.mark.parametrize("seed", range(20))
def test_schedules_are_feasible_and_end_as_claimed(seed):
    inst = small_instance(np.random.default_rng(seed), most_work=20)
    found = order_annealing(inst, Limits(), np.random.default_rng(0), moves=MOVES)
    if found.solution is None:
        assert "horizon_slots" in found.notes["no_schedule"]
    else:
        checked = evaluate(inst, found.solution)
        assert checked.violations == ()
        assert checked.objective == found.claimed_objective


@pytest.mark.skipif(not COMPILED, reason="needs more moves")
def test_a_delay_is_found_where_it_pays():
    # E3: 11 slots, with a start between completions; starts at completions only give 12.
    found = order_annealing(staggered_start(), Limits(), np.random.default_rng(0), moves=400_000)
    assert found.claimed_objective == 11


def test_equal_seeds_give_equal_schedules():
    inst = contended_small(np.random.default_rng(2), jobs=8, servers=4)
    found = [
        order_annealing(inst, Limits(), np.random.default_rng(5), moves=MOVES).solution
        for _ in range(2)
    ]
    assert found[0] == found[1]


def test_too_many_placements_are_refused():
    inst = contended_small(np.random.default_rng(0), jobs=30, servers=40)
    with pytest.raises(ModelRefused, match="placements"):
        order_annealing(inst, Limits(), np.random.default_rng(0))


def test_the_longest_schedules_cost_less_than_one_that_never_ends():
    inst = instance([1], [job(1, 10**9, bwd=0.9)] * 12)
    data = module._data(inst)
    state = np.array([range(12), [0] * 12, [0] * 12])
    room = np.zeros((4, 12), dtype=np.int64), np.zeros((2, 1), dtype=np.int64)
    makespan, cost = starts(data, state, *room)
    assert makespan == 12 * 10**9
    assert 100 * makespan < cost < STALLED
