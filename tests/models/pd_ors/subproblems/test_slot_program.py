"""The program of one slot: machine DP, HiGHS and CP-SAT find the same cost, that of brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gadgetopt.models.pd_ors.subproblems.slot_program import SlotOptimum, build_slot, solve_slot
from gadgetopt.models.pd_ors.subproblems.slot_tables import Room, exact_table
from gadgetopt.models.pd_ors.terms import JobTerms

from ..tiny_instances import JOB_J, cluster, tiny_instance

BACKENDS = ("highs", "cpsat")


def random_program(seed, machines=None):
    """A job of the first seeds' instances, n workers, prices and what is left of the machines."""
    rng = np.random.default_rng(seed)
    machines = machines or int(rng.integers(1, 6))
    instance = tiny_instance(seed, machines).model_copy(update={"locality": "both"})
    wide = instance.jobs[0].model_copy(update={"global_batch": int(rng.integers(1, 13))})
    instance = instance.model_copy(update={"jobs": (wide,)})
    terms = instance.terms
    room = rng.integers(0, 2 * terms.capacity + 1)
    price = rng.uniform(0, 1, room.shape)
    if seed % 2:
        price = 10.0 ** rng.uniform(-30, 3, room.shape)
    return terms.jobs[0], int(rng.integers(1, wide.global_batch + 1)), price, room


def check(job: JobTerms, n, price, room, found: SlotOptimum) -> None:
    """It places what it should, where there is room, at the cost that it says."""
    assert found.workers.sum() == n
    assert found.servers.sum() == job.servers[n]
    use = found.workers[:, None] * job.alpha + found.servers[:, None] * job.beta
    assert (use <= room).all()
    assert found.cost == pytest.approx(float((use * price).sum()), rel=1e-9)


def least_cost(job: JobTerms, n, price, room):
    """By enumeration of workers and servers on every machine."""
    m, H = int(job.servers[n]), range(len(room))
    best = np.inf
    for w in itertools.product(range(n + 1), repeat=len(room)):
        if sum(w) != n:
            continue
        for s in itertools.product(range(m + 1), repeat=len(room)):
            if sum(s) != m:
                continue
            use = [w[h] * job.alpha + s[h] * job.beta for h in H]
            if all((use[h] <= room[h]).all() for h in H):
                best = min(best, sum(float(use[h] @ price[h]) for h in H))
    return best


def dynamic_program(job: JobTerms, n, price, room) -> float:
    """External cost of the machine DP, with the whole of the room as the empty cluster."""
    whole = JobTerms(job.index, job.job, job.instance, room, job.alpha, job.beta)
    return float(exact_table(whole, Room(price @ job.alpha, price @ job.beta, room)).external[n])


def test_machine_dp_and_highs_and_cpsat_agree_on_500_programs():
    infeasible = 0
    for seed in range(500):
        job, n, price, room = random_program(seed)
        expected = dynamic_program(job, n, price, room)
        for backend in BACKENDS:
            found = solve_slot(job, n, price, room, backend)
            if found is None:
                assert expected == np.inf, (seed, backend)
                infeasible += 1
                continue
            check(job, n, price, room, found)
            assert found.cost == pytest.approx(expected, rel=1e-6), (seed, backend)
    assert 50 < infeasible < 800


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_optimum_is_that_of_enumeration(backend):
    checked = 0
    for seed in range(40):
        job, n, price, room = random_program(seed, machines=3)
        if n > 4 or not job.usable[n]:
            continue
        found = solve_slot(job, n, price, room, backend)
        expected = least_cost(job, n, price, room)
        assert (np.inf if found is None else found.cost) == pytest.approx(expected, rel=1e-6)
        checked += 1
    assert checked > 5


def instance_f():
    """Machines of 3 units, a worker takes 2 and a server 1, three workers for each server."""
    job = JOB_J.model_copy(
        update={
            "worker_demand": (2.0,),
            "ps_demand": (1.0,),
            "worker_ps_ratio": 3.0,
            "global_batch": 3,
        }
    )
    return cluster([3, 3, 3], 1, job).terms


@pytest.mark.parametrize("backend", BACKENDS)
def test_hand_checked_f_costs_15(backend):
    # No machine has room for two workers: 2 + 4 + 8 for one on each, 1 for the server.
    terms = instance_f()
    found = solve_slot(terms.jobs[0], 3, np.array([[1.0], [2.0], [4.0]]), terms.capacity, backend)
    assert found is not None
    assert found.cost == 15
    assert found.workers.tolist() == [1, 1, 1]
    assert found.servers.tolist() == [1, 0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_prices_forty_orders_of_magnitude_apart_are_told_apart(backend):
    terms = instance_f()
    price = np.array([[1e-40], [3e-37], [1e3]])
    found = solve_slot(terms.jobs[0], 2, price, terms.capacity, backend)
    assert found is not None
    assert found.workers.tolist() == [1, 1, 0]
    assert found.servers.tolist() == [1, 0, 0]
    assert found.cost == pytest.approx(3e-40 + 6e-37, rel=1e-12, abs=0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_free_machines_cost_nothing_and_get_no_more_than_asked_for(backend):
    terms = instance_f()
    price, room = np.zeros((3, 1)), terms.capacity
    found = solve_slot(terms.jobs[0], 2, price, room, backend)
    assert found is not None
    check(terms.jobs[0], 2, price, room, found)
    assert found.cost == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_little_room_has_no_optimum(backend):
    terms = instance_f()
    price = np.ones((3, 1))
    assert solve_slot(terms.jobs[0], 3, price, terms.capacity - 1, backend) is None


def test_the_model_has_a_row_for_every_machine_and_resource_and_three_more():
    terms = instance_f()
    model = build_slot(terms.jobs[0], 3, np.ones((3, 1)), terms.capacity)
    rows = [c.getname() for c in model.component_data_objects(ctype=model.workload.ctype)]
    assert len(rows) == 3 + 3
