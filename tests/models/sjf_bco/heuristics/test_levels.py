"""Gangs packed level by level: real schedules within a target, tables and sets to the last."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.data.generate.presets import contended_small, mini_paper, paper
from gadgetopt.models.sjf_bco.energetic import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics.gang_levels import gang_levels
from gadgetopt.models.sjf_bco.heuristics.levels.patterns import Patterns, tables_of
from gadgetopt.models.sjf_bco.heuristics.levels.shape import shape_of
from gadgetopt.models.sjf_bco.heuristics.levels.stage import Stage, _sets
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..hand_checked import instance, job


@pytest.mark.parametrize("seed", range(6))
def test_schedules_are_feasible_and_end_within_the_target(seed):
    inst = mini_paper(np.random.default_rng(seed), jobs=16, servers=4)
    found = gang_levels(inst, Limits(), np.random.default_rng(seed))
    checked = evaluate(inst, found.solution)
    assert checked.violations == ()
    assert energetic_bound(inst) <= checked.objective == found.claimed_objective


@pytest.mark.parametrize(("seed", "optimum"), [(0, 40), (1, 19), (2, 22)])
def test_optima_of_twenty_jobs_are_found(seed, optimum):
    """Optima that the ladder proves."""
    draw = np.random.default_rng(0)
    inst = [mini_paper(draw, jobs=20, servers=5) for _ in range(seed + 1)][seed]
    found = gang_levels(inst, Limits(), np.random.default_rng(0))
    assert found.claimed_objective >= optimum


def test_a_tight_packing_is_found():
    """Pairs of 3 and 1 slots, singles of 1 and 3: only pairs with singles of their own fill 4."""
    inst = instance(
        [4, 4],
        [job(1, w, grad=0.0, bwd=0.09) for w in (10, 30) * 4]
        + [job(2, w, grad=0.0, bwd=0.09) for w in (30, 10) * 2],
    )
    found = gang_levels(inst, Limits(), np.random.default_rng(0))
    assert found.claimed_objective == 4
    assert evaluate(inst, found.solution).objective == 4


def test_equal_seeds_give_equal_schedules():
    inst = mini_paper(np.random.default_rng(3), jobs=24, servers=4)
    a, b = (gang_levels(inst, Limits(), np.random.default_rng(5)) for _ in range(2))
    assert a.solution == b.solution


@pytest.mark.parametrize("seed", range(20))
def test_tables_hold_the_most_that_fits(seed):
    draw = np.random.default_rng(seed)
    inst = mini_paper(draw, jobs=8, servers=4)
    shape = shape_of(inst)
    prices = draw.integers(0, 9, 8).astype(float)
    tables = tables_of(shape, prices, 60)
    for c, slots in enumerate(shape.slots.tolist()):
        for room in (0, 7, 20, 60):
            fitting = (
                sum(prices[list(jobs)])
                for n in range(9)
                for jobs in itertools.combinations(range(8), n)
                if sum(slots[j] for j in jobs) <= room
            )
            assert tables[c, room] == max(fitting)


def test_sets_are_those_that_may_be_worth_enough():
    draw = np.random.default_rng(0)
    slots, worth = sorted(draw.integers(1, 9, 7).tolist()), draw.integers(0, 6, 7).tolist()
    items = [(j, s, float(v)) for j, (s, v) in enumerate(zip(slots, worth, strict=True))]
    later = np.minimum(np.arange(21), 6).astype(float)
    most = np.arange(21) * 6.0
    for least in (0.0, 10.0, 17.0):
        found = {chosen for chosen, _, _ in _sets(items, 20, most, later, least)}
        expected = {
            jobs
            for n in range(8)
            for jobs in itertools.combinations(range(7), n)
            if (taken := sum(slots[j] for j in jobs)) <= 20
            and sum(worth[j] for j in jobs) + later[20 - taken] >= least
        }
        assert found == expected


@pytest.mark.parametrize("seed", range(6))
def test_rooms_that_hold_a_packing_are_not_refuted(seed):
    inst = mini_paper(np.random.default_rng(seed), jobs=16, servers=4)
    shape = shape_of(inst)
    target = int(gang_levels(inst, Limits(), np.random.default_rng(0)).claimed_objective)
    jobs = range(len(inst.jobs))
    patterns = Patterns(shape, jobs, {}, counted=False)
    longest = int(shape.slots.min(axis=0).max())
    assert not patterns.ask(shape.empty(target), Clock()).lacking
    assert patterns.ask(shape.empty(longest - 1), Clock()).lacking
    assert not patterns.ask(shape.empty(target), Clock()).lacking


def test_a_stage_gives_every_job_of_its_levels_a_block():
    inst = paper(np.random.default_rng(0), jobs=40, servers=6)
    shape = shape_of(inst)
    target = 2 * energetic_bound(inst)
    sizes = np.unique(shape.gangs)[::-1].tolist()
    stage = Stage(shape, sizes[:2], shape.empty(target), {}, Clock())
    chosen, rooms = stage.next(np.random.default_rng(0))
    placed = sorted(j for x in chosen for j in x.jobs for _ in range(x.blocks))
    assert placed == np.flatnonzero(shape.gangs >= sizes[1]).tolist()
    taken = shape.gangs @ np.where(shape.gangs >= sizes[1], shape.slots.min(axis=0), 0)
    assert sum(n * r for (_, r), n in rooms.items()) <= target * sum(shape.gpus) - taken


def test_other_sizes_are_refused_in_one_line():
    with pytest.raises(ModelRefused, match="powers of two"):
        gang_levels(contended_small(np.random.default_rng(0)), Limits(), np.random.default_rng(0))


def test_too_short_a_horizon_is_no_solution():
    inst = mini_paper(np.random.default_rng(0), jobs=20, servers=2, horizon_slots=5)
    assert gang_levels(inst, Limits(), np.random.default_rng(0)).solution is None


def test_a_limit_ends_the_programs():
    inst = paper(np.random.default_rng(0))
    found = gang_levels(inst, Limits(time_s=0.0), np.random.default_rng(0))
    assert found.notes["targets"] == 0
    assert evaluate(inst, found.solution).objective == found.claimed_objective
    assert found.limit_hit == "time_s"
