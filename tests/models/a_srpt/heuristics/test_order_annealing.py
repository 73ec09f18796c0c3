"""List schedules on the servers: feasible, and worth what the evaluator says."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import (
    low_load,
    quickstart,
)
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.heuristics import order_annealing
from gadgetopt.models.a_srpt.heuristics.order_annealing import (
    ServerLists,
    pool_lists,
)
from gadgetopt.models.a_srpt.proving.bounds.list_schedule import listed
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.models.a_srpt.subproblems.mapper import Mapper
from gadgetopt.search.clock import Clock

from ..hand_checked import H3, H4, small
from ..rigid_jobs import instance_of


def rng(seed=0):
    return np.random.default_rng(seed)


def lists_of(instance):
    return ServerLists(instance, Mapper(instance, "best_of"))


@pytest.mark.parametrize("seed", range(8))
def test_every_list_is_a_schedule_of_its_value(seed):
    instance = small(rng(seed), jobs=12) if seed % 2 else quickstart(rng(seed))
    lists, order = lists_of(instance), rng(seed).permutation(len(instance.jobs))
    evaluation = evaluate(instance, lists.solution(order))
    assert evaluation.violations == ()
    assert evaluation.objective * instance.weight_scale == lists.value(order)


def test_servers_of_different_sizes_hold_all_parts():
    instance = low_load(rng(3), jobs=40, servers=2)
    mixed = instance.model_copy(
        update={"gpus_per_server": (*instance.gpus_per_server, 2, 1, 3, 4), "jobs": instance.jobs}
    )
    evaluation = evaluate(mixed, lists_of(mixed).solution(rng(1).permutation(40)))
    assert evaluation.violations == ()


@pytest.mark.parametrize("load", [0.5, 1.5])
def test_packed_schedules_are_those_of_the_pool(load):
    found = 0
    for seed in range(12):
        instance = small(rng(seed), jobs=12, load=load)
        lists, order = lists_of(instance), rng(seed).permutation(12)
        solution = lists.packed(order)
        if solution is not None:
            found += 1
            evaluation = evaluate(instance, solution)
            assert evaluation.violations == ()
            assert evaluation.objective * instance.weight_scale == lists.pool.value(order)
    assert found


def test_jobs_that_end_late_share_a_server():
    """In order of arrival the short and the long job would share one, and no server be empty."""
    jobs = [(0, 1, 9, 1), (0, 1, 3, 1), (0, 1, 9, 1), (0, 1, 3, 1), (3, 2, 5, 1)]
    instance = instance_of((2, 2), jobs)
    lists, order = lists_of(instance), np.arange(5)
    assert evaluate(instance, lists.packed(order)).objective == lists.pool.value(order) == 32
    too_many = instance_of((3, 3), [(0, 2, 5, 1)] * 3, gradient=4)
    assert lists_of(too_many).packed(np.arange(3)) is None


@pytest.mark.parametrize("limit", ["MOST_PLACES", "MOST_CELLS"])
def test_none_are_packed_where_servers_and_moments_are_too_many(limit, monkeypatch):
    lists = lists_of(instance_of((2, 2), [(0, 1, 9, 1), (0, 1, 3, 1), (3, 2, 5, 1)]))
    assert lists.packed(np.arange(3)) is not None
    monkeypatch.setattr(order_annealing, limit, 1)
    assert lists.packed(np.arange(3)) is None


@pytest.mark.parametrize(("instance", "optimum"), [(H3, 13), (H4, 32)])
def test_hand_checked_optima(instance, optimum):
    lists = lists_of(instance)
    value, order = lists.anneal(np.arange(len(instance.jobs)), 300, 0.1, rng(), Clock())
    assert value == lists.value(order) == optimum


def test_annealing_returns_the_best_list_it_met_and_repeats_itself():
    instance = low_load(rng(1), jobs=40)
    lists, start = lists_of(instance), np.argsort(instance.release_ticks, kind="stable")
    value, order = lists.anneal(start, 1500, 0.1, rng(), Clock())
    again, same = lists.anneal(start, 1500, 0.1, rng(), Clock())
    assert value == again == lists.value(order) <= lists.value(start)
    assert (order == same).all()


@pytest.mark.parametrize("seed", range(4))
def test_in_the_order_of_its_starts_a_schedule_of_the_pool_gets_no_worse(seed):
    pool = pool_of(small(rng(seed), jobs=15))
    starts = listed(pool, rng(seed).random(15))
    value = pool_lists(pool).value(np.argsort(starts, kind="stable"))
    assert value <= int(pool.weight @ (starts + pool.duration))
