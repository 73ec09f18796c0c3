"""FIFO, DRF and Dorm on hand-checked instances, and their laws on random ones."""

from __future__ import annotations

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pd_ors.baselines.dorm import build, dorm
from gadgetopt.models.pd_ors.baselines.fifo_drf import (
    Cluster,
    dominant_share,
    drf,
    fair_shares,
    fifo,
)
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    tiny,
)
from gadgetopt.models.pd_ors.evaluate import courses, evaluate
from gadgetopt.models.pd_ors.formulations.compact import build as compact
from gadgetopt.models.pd_ors.instance import TableUtility
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..kernel_instances import cluster, job

SLOW = (50, 40, 30, 20, 10, 5)


def run(method, instance, seed=0, limits=None, **parameters):
    outcome = called(
        method, instance, limits or Limits(), np.random.default_rng(seed), **parameters
    )
    found = evaluate(instance, outcome.solution)
    assert found.violations == ()
    return float(found.objective), outcome


def workers_by_slot(instance, outcome, i):
    course = courses(instance, outcome.solution)[i]
    return {} if course is None else {c.slot: c.workers for c in course.slots}


# -- all -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [fifo, drf, dorm])
@pytest.mark.parametrize("ratio", ["at_least", "exact"])
@pytest.mark.parametrize("locality", ["both", "external_only", "internal_only"])
def test_schedules_are_feasible_and_no_better_than_the_optimum(method, ratio, locality):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        instance = tiny(rng, jobs=2, largest_batch=3, locality=locality, ratio=ratio)
        if method is dorm and locality == "internal_only":
            with pytest.raises(ModelRefused, match="spreads"):
                run(method, instance)
            continue
        value, _ = run(method, instance)
        assert value <= solve_model(compact(instance), "highs").objective + 1e-6


@pytest.mark.parametrize("method", [fifo, drf, dorm])
def test_a_limit_of_no_time_leaves_every_job_rejected(method):
    value, outcome = run(method, desk(np.random.default_rng(0)), limits=Limits(time_s=0.0))

    assert (value, outcome.limit_hit) == (0.0, "time_s")


# -- in turn ---------------------------------------------------------------------------------------


def test_units_go_to_the_next_machine_with_room():
    instance = cluster([job()], [(2,), (1,), (3,)], 1)
    pool, held = Cluster(instance.terms.capacity), {}

    assert pool.add(instance.terms.jobs[0], held, 4, 1)
    # Machines 0, 1, 2, 0 get a worker, then 1 is full and the server goes to 2.
    assert held == {0: [2, 0], 1: [1, 0], 2: [1, 1]}


def test_what_does_not_fit_leaves_the_machines_as_they_are():
    instance = cluster([job()], [(2,), (1,)], 1)
    pool, held = Cluster(instance.terms.capacity), {}

    assert not pool.add(instance.terms.jobs[0], held, 3, 1)
    assert (pool.room == instance.terms.capacity).all()
    assert (held, pool.pointer) == ({}, 0)


def test_the_machine_with_room_is_the_first_of_all_from_the_pointer_on():
    rng = np.random.default_rng(0)
    for _ in range(200):
        machines = int(rng.integers(1, 400))
        pool = Cluster(rng.integers(0, 9, size=(machines, 2)), int(rng.integers(machines)))
        demand = rng.integers(7, 10, size=2)
        in_turn = [(pool.pointer + k) % machines for k in range(machines)]
        fits = [h for h in in_turn if (pool.room[h] >= demand).all()]
        assert pool.next_with(demand) == (fits[0] if fits else None)


# -- FIFO ------------------------------------------------------------------------------------------


def test_fifo_keeps_its_workers_until_the_work_is_done():
    # W = 3.2 with 2 workers spread: 2 a slot, two slots.
    one = job(utility=TableUtility(values=SLOW))
    instance = cluster([one], [(3,), (3,)], 4)

    value, outcome = run(fifo, instance, fewest_workers=2, most_workers=2)

    assert workers_by_slot(instance, outcome, 0) == {1: 2, 2: 2}
    assert value == 40


def test_fifo_the_first_that_waits_blocks_those_behind_it():
    # Job 0 takes 3 of 4 units for two slots; job 1 needs 3, job 2 only 2 and waits nevertheless.
    utility = TableUtility(values=SLOW)
    jobs = [
        job(utility=utility),
        job(utility=utility),
        job(utility=utility, worker_demand=(0.5,), ps_demand=(1,)),
    ]
    instance = cluster(jobs, [(2,), (2,)], 6)

    _, outcome = run(fifo, instance, fewest_workers=2, most_workers=2)

    assert min(workers_by_slot(instance, outcome, 1)) == 3
    assert min(workers_by_slot(instance, outcome, 2)) >= 3


def test_fifo_a_job_too_large_for_the_cluster_is_dropped_and_blocks_nobody():
    utility = TableUtility(values=SLOW)
    jobs = [job(worker_demand=(9,), utility=utility), job(utility=utility)]
    instance = cluster(jobs, [(3,), (3,)], 4)

    _, outcome = run(fifo, instance, fewest_workers=2, most_workers=2)

    assert outcome.solution.schedules[0] is None
    assert workers_by_slot(instance, outcome, 1) == {1: 2, 2: 2}


def test_fifo_nobody_waits_for_an_empty_cluster():
    # In turn from machine 1 on, worker and server of job 1 would not fit; from machine 0 they do.
    utility = TableUtility(values=SLOW)
    jobs = [
        job(samples=2, worker_demand=(1,), ps_demand=(0,), utility=utility),
        job(samples=2, worker_demand=(2,), ps_demand=(3,), arrival_slot=2, utility=utility),
    ]
    instance = cluster(jobs, [(2,), (3,)], 4)

    _, outcome = run(fifo, instance, fewest_workers=1, most_workers=1)

    assert outcome.notes["completed"] == 2


def test_fifo_draws_within_its_bounds_and_the_batch():
    jobs = [job(global_batch=3, utility=TableUtility(values=SLOW)) for _ in range(4)]
    instance = cluster(jobs, [(40,), (40,)], 5)
    seen = set()
    for seed in range(10):
        _, outcome = run(fifo, instance, seed, fewest_workers=2, most_workers=30)
        for i in range(4):
            seen.update(workers_by_slot(instance, outcome, i).values())

    assert seen == {2, 3}


def test_fifo_refuses_bounds_out_of_order():
    with pytest.raises(ModelRefused, match="3 to 2"):
        run(fifo, cluster([job()], [(3,)], 1), fewest_workers=3, most_workers=2)


# -- DRF -------------------------------------------------------------------------------------------


def test_drf_earns_nothing_on_instance_a():
    # Both jobs end with two workers on different machines: 2 / 0.4 = 5 < 8 samples.
    instance = cluster([job(), job()], [(3,), (3,)], 1)

    value, outcome = run(drf, instance)

    assert value == 0
    assert outcome.notes == {"completed": 0, "started": 2}
    assert {i: sum(w for w, _ in h.values()) for i, h in fair_shares(instance, [0, 1]).items()} == {
        0: 2,
        1: 2,
    }


@pytest.mark.parametrize("seed", range(5))
def test_drf_whoever_could_have_more_has_no_less_than_its_fair_share(seed):
    instance = desk(np.random.default_rng(seed), jobs=6)
    terms = instance.terms
    total = terms.capacity.sum(axis=0).astype(float)
    held = fair_shares(instance, list(range(6)))
    n = {i: sum(w for w, _ in mine.values()) for i, mine in held.items()}
    shares = {i: dominant_share(terms.jobs[i], n[i], total) for i in n}
    free = terms.capacity - sum(
        np.array([np.multiply(mine.get(h, [0, 0]), 1) for h in range(len(terms.capacity))])
        @ np.stack([terms.jobs[i].alpha, terms.jobs[i].beta])
        for i, mine in held.items()
    )

    assert (free >= 0).all()
    for i, job_terms in enumerate(terms.jobs):
        extra = n.get(i, 0) + 1
        if extra > job_terms.batch:
            continue
        # Before its last worker anyone else had no more than job i has now, or i was shut out.
        before = {
            k: dominant_share(terms.jobs[k], n[k] - 1, total) for k in n if k != i and n[k] > 0
        }
        worker_fits = (free >= job_terms.alpha).all(axis=1).any()
        server_fits = (free >= job_terms.beta).all(axis=1).any()
        if worker_fits and server_fits and before:
            together = (free >= job_terms.alpha + job_terms.beta).all(axis=1).sum()
            assert together == 0 or max(before.values()) <= shares.get(i, 0.0) + 1e-9


def test_drf_equal_jobs_get_equal_shares():
    instance = cluster([job(global_batch=10)] * 3, [(6,), (6,), (6,)], 1)

    held = fair_shares(instance, [0, 1, 2])

    assert {i: sum(w for w, _ in mine.values()) for i, mine in held.items()} == {0: 4, 1: 4, 2: 4}


def test_drf_shares_out_what_running_jobs_leave():
    instance = cluster([job(global_batch=10)] * 3, [(6,), (6,), (6,)], 1)

    held = fair_shares(instance, [1, 2], {0: {0: [4, 2]}})

    assert {i: sum(w for w, _ in mine.values()) for i, mine in held.items()} == {1: 4, 2: 4}
    assert all(h != 0 for mine in held.values() for h in mine)


# -- Dorm ------------------------------------------------------------------------------------------


def test_dorm_serves_everyone_before_it_uses_more():
    instance = cluster([job(global_batch=8)] * 3, [(3,), (3,)], 1)
    m = build(instance, [0, 1, 2], {})

    solved = solve_model(m, "highs")

    # Three jobs of a worker and a server each use all 6 units.
    assert solved.status is Status.OPTIMAL
    assert [round(m.a[i].value) for i in (0, 1, 2)] == [1, 1, 1]
    assert solved.objective == pytest.approx(3 * 2 + 1)


def test_dorm_changes_no_more_running_jobs_than_allowed():
    jobs = [job(global_batch=8, samples=1000, utility=TableUtility(values=SLOW)) for _ in range(4)]
    instance = cluster(jobs, [(4,), (4,), (4,)], 3)
    held = {i: {0: [1, 0], 1: [0, 1]} for i in (0, 1, 2)}
    m = build(instance, [0, 1, 2, 3], held)

    solve_model(m, "highs")
    changed = sum(
        any(
            round(v.value) != held[i].get(h, (0, 0))[k]
            for k, table in enumerate((m.w, m.s))
            for h in m.H
            for v in [table[i, h]]
        )
        for i in held
    )

    assert changed <= 1  # ceil(0.1 * 3)


def test_dorm_serves_new_jobs_even_if_the_solver_has_no_time():
    instance = cluster([job(global_batch=8)] * 3, [(6,), (6,)], 4)

    value, outcome = run(dorm, instance, event_time_s=0.0)

    assert outcome.notes["started"] == 3
    assert value == run(dorm, instance)[0]


@pytest.mark.parametrize("seed", range(3))
def test_dorm_has_no_idle_servers(seed):
    instance = tiny(np.random.default_rng(seed), jobs=3)
    m = build(instance, [0, 1, 2], {})

    solve_model(m, "highs")

    for i, terms in enumerate(instance.terms.jobs):
        n = round(sum(m.w[i, h].value for h in m.H))
        assert round(sum(m.s[i, h].value for h in m.H)) == terms.servers[n]


def test_dorm_where_fairness_is_impossible_it_is_left_out():
    # Nothing may be lost and nothing may change, but job 0 holds more than its half.
    one = job(global_batch=8, samples=40, utility=TableUtility(values=SLOW))
    late = job(global_batch=8, arrival_slot=2, utility=TableUtility(values=SLOW))
    instance = cluster([one, late], [(3,), (3,)], 6)

    value, outcome = run(dorm, instance, unfairness=0.0, changes=0.0)

    assert outcome.notes["events"] >= 2
    assert value > 0
