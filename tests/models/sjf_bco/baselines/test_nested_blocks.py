"""Annealing on nested blocks: real schedules, equal answers for equal seeds."""

from __future__ import annotations

import numpy as np
import pytest
from gadgetopt.models.sjf_bco.baselines.nested_blocks import nested_blocks
from gadgetopt.models.sjf_bco.certificate import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.generate.presets import contended_small, mini_paper, paper
from gadgetopt.models.sjf_bco.subproblems.block_annealing import Annealing
from gadgetopt.models.sjf_bco.subproblems.blocks import best_fit, blocks_of, loads, schedule_of

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.system.result import Limits

#: Plain Python is about a hundred times slower.
MOVES = 200_000 if COMPILED else 2_000


def annealing(inst, seed, moves=MOVES):
    blocks = blocks_of(inst)
    lower = energetic_bound(inst)
    start = best_fit(blocks, lower)
    return Annealing(blocks, start, lower, seed, moves, hot=10.0, cold=1.0, exponent=0.5)


@pytest.mark.parametrize("seed", range(8))
def test_schedules_are_feasible_and_end_at_the_largest_load(seed):
    inst = mini_paper(np.random.default_rng(seed), jobs=20, servers=5)
    run = annealing(inst, seed)
    run.step(MOVES)
    for first in (run.first, run.best):
        checked = evaluate(inst, schedule_of(run.blocks, first))
        assert checked.violations == ()
        assert checked.objective == loads(run.blocks, first).max()


def test_energy_is_the_load_above_the_target():
    run = annealing(mini_paper(np.random.default_rng(1), jobs=30, servers=3), seed=1)
    run.step(MOVES)
    above = np.maximum(loads(run.blocks, run.best) - run.target, 0)
    assert run.least == above.sum()


def test_steps_do_not_change_the_answer():
    inst = paper(np.random.default_rng(0), jobs=40, servers=5)
    whole, parts = annealing(inst, 7), annealing(inst, 7)
    whole.step(MOVES)
    while not parts.over:
        parts.step(1024)
    assert parts.least == whole.least


def test_equal_seeds_give_equal_schedules():
    inst = mini_paper(np.random.default_rng(2), jobs=24, servers=4)
    found = [
        nested_blocks(inst, Limits(), np.random.default_rng(5), moves=MOVES).solution
        for _ in range(2)
    ]
    assert found[0] == found[1]


def test_other_sizes_are_refused_in_one_line():
    with pytest.raises(ModelRefused, match="powers of two"):
        nested_blocks(contended_small(np.random.default_rng(0)), Limits(), np.random.default_rng(0))


def test_makespan_beyond_the_horizon_is_no_solution():
    inst = mini_paper(np.random.default_rng(0), jobs=20, servers=2, horizon_slots=5)
    found = nested_blocks(inst, Limits(), np.random.default_rng(0), moves=1_000)
    assert found.solution is None
    assert "horizon_slots" in found.notes["no_schedule"]
