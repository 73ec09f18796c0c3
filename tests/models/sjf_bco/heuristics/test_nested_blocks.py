"""Annealing on nested blocks: real schedules, equal answers for equal seeds."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.data.generate.presets import (
    contended_small,
    mini_paper,
    paper,
)
from gadgetopt.models.sjf_bco.energetic import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics.block_annealing import Annealing
from gadgetopt.models.sjf_bco.heuristics.blocks import (
    NEVER,
    best_fit,
    blocks_of,
    loads,
    schedule_of,
    unmatched,
)
from gadgetopt.models.sjf_bco.heuristics.nested_blocks import nested_blocks
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.system.result import Limits

from ..hand_checked import instance, job

#: Plain Python is about a hundred times slower.
MOVES = 200_000 if COMPILED else 2_000


def annealing(inst, seed, moves=MOVES, charge=0):
    blocks = blocks_of(inst)
    lower = energetic_bound(inst)
    start = best_fit(blocks, lower)
    return Annealing(
        blocks, start, lower, seed, moves, hot=10.0, cold=1.0, exponent=0.5, charge=charge
    )


@pytest.mark.parametrize("seed", range(8))
def test_schedules_are_feasible_and_end_at_the_largest_load(seed):
    inst = mini_paper(np.random.default_rng(seed), jobs=20, servers=5)
    run = annealing(inst, seed)
    run.step(MOVES)
    for state in (run.start, run.best):
        checked = evaluate(inst, schedule_of(run.blocks, state))
        assert checked.violations == ()
        assert checked.objective == loads(run.blocks, state).max()


@pytest.mark.parametrize("seed", range(8))
def test_any_blocks_and_any_matching_are_a_schedule(seed):
    draw = np.random.default_rng(seed)
    inst = mini_paper(draw, jobs=12, servers=5)
    blocks = blocks_of(inst)
    first = []
    for g, slots in zip(blocks.gangs, blocks.slots, strict=True):
        # A gang has any aligned block of either line on which it ends.
        on_line = np.arange(0, blocks.gpus - g + 1, g)
        places = np.concatenate([on_line, blocks.length + on_line])
        servers = blocks.server[places + g - 1] - blocks.server[places]
        first.append(draw.choice(places[slots[servers] < NEVER]))
    state = unmatched(blocks, np.array(first))
    for s in range(len(inst.server_gpus)):
        early = np.flatnonzero(blocks.server[: blocks.gpus] == s)
        late = blocks.length + draw.permutation(early)
        state.mate[early], state.mate[late] = late, early
    checked = evaluate(inst, schedule_of(blocks, state))
    assert checked.violations == ()
    assert checked.objective == loads(blocks, state).max()


def test_late_line_lets_a_gang_follow_two_that_do_not_share_a_block():
    # One server of 4 GPUs, slots at rate 10: four single jobs of 1, 3, 1 and 3 slots in this order
    # on the early line, two pairs of 3 and 1. Aligned pairs would end at 6; matched, at 4.
    inst = instance(
        [4],
        [job(1, w, grad=0.0, bwd=0.09) for w in (10, 30, 10, 30)]
        + [job(2, w, grad=0.0, bwd=0.09) for w in (30, 10)],
    )
    blocks = blocks_of(inst)
    state = unmatched(blocks, np.array([0, 1, 2, 3, 4, 6]))
    assert loads(blocks, state).max() == 6
    state.mate[[0, 2, 1, 3]] = [4, 5, 6, 7]
    state.mate[[4, 5, 6, 7]] = [0, 2, 1, 3]
    assert loads(blocks, state).max() == 4
    checked = evaluate(inst, schedule_of(blocks, state))
    assert checked.violations == ()
    assert checked.objective == 4


@pytest.mark.parametrize("charge", [0, 10])
def test_energy_is_the_load_above_the_target_and_the_charges(charge):
    run = annealing(mini_paper(np.random.default_rng(1), jobs=30, servers=3), 1, charge=charge)
    run.step(MOVES)
    above = np.maximum(loads(run.blocks, run.best) - run.target, 0)
    assert run.least == above.sum() + charge * np.count_nonzero(above)


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
