"""Rules choose as their definitions do, which look at every server."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.marl.placement.data.generate import presets
from gadgetopt.models.marl.subproblems import jct_rule
from gadgetopt.models.marl.subproblems.jct_rule import JctPlacer
from gadgetopt.models.marl.subproblems.occupancy import Occupancy
from gadgetopt.models.marl.subproblems.orders import ORDERS, in_order
from gadgetopt.models.marl.subproblems.placers import placer_of
from gadgetopt.models.marl.subproblems.rules import RULES

from ..placement.brute_force import small_instance

DETERMINISTIC = [rule for rule in RULES if rule != "random"]


def by_definition(rule, o, j):
    """The server that a rule takes, from its definition, looking at all of them."""
    best = None
    for s, server in enumerate(o.instance.servers):
        if not o.room(j, s):
            continue
        there = s in o.servers_of[j]
        if rule == "lb":
            score = (-o.free_gpus[s], -o.free_cpus[s])
        elif rule == "pack":
            score = (not there, o.free_gpus[s])
        elif rule == "tetris":
            gpus = o.gpus[j] * o.free_gpus[s] / max(1, server.gpus) ** 2
            cpus = o.cpus[j] * o.free_cpus[s] / max(1, server.cpus) ** 2
            score = (-round(gpus + cpus, 9),)
        elif rule == "lif":
            score = (round(added_interference(o, j, s), 9), not there)
        else:
            before = o.total()
            o.put(j, s)
            score = (round(o.total() - before, 6),)
            o.put(j, s, -1)
        if best is None or (score, s) < best:
            best = score, s
    return None if best is None else best[1]


def added_interference(o, j, s):
    alpha, a = o.alpha, o.kind[j]
    total = 0.0
    for k, n in o.jobs_on[s].items():
        if k != j:
            b, times = o.kind[k], n if o.instance.per_task else 1
            further = alpha[b][a] * times if o.instance.per_task else 0.0
            total += further if s in o.servers_of[j] else (alpha[a][b] + alpha[b][a]) * times
    return total


def naive(instance, rule, order):
    """Place all jobs that find room, by definition."""
    o = Occupancy(instance)
    for j in in_order(instance, order):
        for _ in range(instance.jobs[j].num_tasks):
            s = by_definition(rule, o, j)
            if s is None:
                o.clear(j)
                break
            o.put(j, s)
    return o


@pytest.mark.parametrize("rule", DETERMINISTIC)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), order=st.sampled_from(ORDERS))
def test_a_rule_takes_the_server_that_its_definition_names(rule, seed, order):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    if rng.random() < 0.5:
        instance = presets.leaf_spine(rng, jobs=12, racks=2, servers_per_rack=3)
        instance = instance.model_copy(update={"per_task": bool(rng.random() < 0.3)})
    o = Occupancy(instance)
    placer = placer_of(rule, o, rng)
    for j in in_order(instance, order):
        placer.place(j)
    assert o.servers_of == naive(instance, rule, order).servers_of


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_jobs_come_and_go_and_what_is_left_is_as_if_they_had_never_been(rule, seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    o = Occupancy(instance)
    placer = placer_of(rule, o, rng)
    for _ in range(20):
        if not instance.jobs:
            return
        j = int(rng.integers(len(instance.jobs)))
        where = dict(o.servers_of[j])
        if not where:
            placer.place(j)
        else:
            placer.remove(j)
            if rng.random() < 0.3:
                placer.put_back(j, where)
        pairs = [tuple(servers.items()) for servers in o.servers_of]
        assert Occupancy.of(instance, pairs).free_gpus == o.free_gpus
        fresh = placer_of(rule, Occupancy.of(instance, pairs), np.random.default_rng(0))
        for k in range(len(instance.jobs)):
            if rule != "random" and not o.servers_of[k]:
                assert placer.choose(k) == fresh.choose(k)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6))
def test_groups_of_servers_change_no_choice_of_greedy_jct(seed):
    rng = np.random.default_rng(seed)
    instance = presets.leaf_spine(rng, jobs=40, racks=int(rng.integers(1, 4)), servers_per_rack=8)
    even = rng.random() < 0.5  # then many costs are equal
    jobs = [j.model_copy(update={"iterations": 1000} if even else {}) for j in instance.jobs]
    per_task = bool(rng.random() < 0.3)
    instance = instance.model_copy(update={"jobs": tuple(jobs), "per_task": per_task})
    plain, grouped = (JctPlacer(Occupancy(instance)) for _ in range(2))
    for j in [*range(len(jobs)), *rng.integers(len(jobs), size=40).tolist()]:
        there = dict(plain.occupancy.servers_of[j])
        for placer, many in ((plain, 10**6), (grouped, 0)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(jct_rule, "_MANY", many)
                if there:
                    placer.remove(j)
                else:
                    placer.place(j)
        assert plain.occupancy.jobs_on == grouped.occupancy.jobs_on


@pytest.mark.parametrize("rule", RULES)
def test_a_gang_that_finds_no_room_is_nowhere(rule):
    instance = presets.single_rack(np.random.default_rng(0), jobs=40, servers=2)
    largest = instance.jobs[0].model_copy(update={"num_tasks": 4})
    instance = instance.model_copy(update={"jobs": (*instance.jobs, largest)})
    o = Occupancy(instance)
    placer = placer_of(rule, o, np.random.default_rng(0))
    placed = [placer.place(j) for j in range(len(instance.jobs))]
    assert not placed[-1]
    for job, servers, there in zip(instance.jobs, o.servers_of, placed, strict=True):
        assert sum(servers.values()) == (job.num_tasks if there else 0)


def test_orders_sort_by_what_they_are_named_after():
    instance = presets.leaf_spine(np.random.default_rng(3), jobs=12)
    jobs = instance.jobs
    big = [jobs[j].num_tasks for j in in_order(instance, "big")]
    assert big == sorted(big, reverse=True)
    alone = [jobs[j].iterations * jobs[j].base_iteration_s for j in in_order(instance, "srpt")]
    assert alone == sorted(alone)
    shares = [
        max(
            jobs[j].num_tasks * jobs[j].gpus_per_task / instance.total_gpus,
            jobs[j].num_tasks * jobs[j].cpus_per_task / instance.total_cpus,
        )
        for j in in_order(instance, "drf")
    ]
    assert shares == pytest.approx(sorted(shares))
    assert in_order(instance, "fifo") == in_order(instance, "las") == list(range(len(jobs)))
