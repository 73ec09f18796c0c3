"""The learned scheduler at work: it sees nothing of what comes, and it always ends."""

from dataclasses import replace

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.queueing.algorithms.learned import learned
from gadgetopt.models.marl.queueing.data.generate.topologies import boards, fat_tree
from gadgetopt.models.marl.queueing.data.learning.worlds import World
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.heuristics.patient import PatientQueue
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES, PolicyQueue
from gadgetopt.models.marl.queueing.subproblems.queue import JobQueue
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

WORLD = World(cluster=0, jobs=6, servers=2, gpus=2, slots=12, slots_between=0.5)


def world_of(kind):
    if kind == "pair":
        return WORLD
    if kind == "boards":
        return replace(WORLD, gpus=4, board="nvlink_pairs")
    return replace(WORLD, servers=4, topology=kind)


def weights(seed):
    found = network.start(np.random.default_rng(seed), SHAPES)
    return {name: 3 * array for name, array in found.items()}


@pytest.mark.parametrize("agents", [1, 2, 4])
def test_all_jobs_end_with_any_weights(agents):
    for seed in range(10):
        instance = WORLD.draw(np.random.default_rng(seed))
        queue = PolicyQueue(instance, weights(seed), Team(agents, "fifo"))
        solution = plan(instance, queue, Clock())
        assert evaluate(instance, solution).feasible


def waits(_logits, _sight, allowed, _j, _agent):
    """Wait wherever that is allowed, else take the last server, or forward to the last agent."""
    return int(np.flatnonzero(allowed)[-1])


def forwards(_logits, sight, allowed, _j, _agent):
    """Forward wherever that is allowed, never wait."""
    agents = allowed[len(sight.fit) : -1]
    return len(sight.fit) + int(agents.argmax()) if agents.any() else int(allowed.argmax())


@pytest.mark.parametrize("choose", [waits, forwards])
@pytest.mark.parametrize("agents", [1, 2, 4])
@pytest.mark.parametrize("kind", ["pair", "fat_tree", "bcube", "boards"])
def test_no_deadlock_whatever_the_agents_choose(kind, agents, choose):
    """Identical tasks that fit into an empty cluster fit in any order, so something always runs."""
    for seed in range(4):
        instance = world_of(kind).draw(np.random.default_rng(seed))
        instance = instance.model_copy(update={"num_slots": 200})
        queue = PolicyQueue(instance, weights(seed), Team(agents, "srpt"), choose)
        solution = plan(instance, queue, Clock())
        assert evaluate(instance, solution).feasible
        last = {r.job: slot for slot, running in enumerate(solution.slots) for r in running}
        for slot, running in enumerate(solution.slots):
            there = [j for j, first in enumerate(instance.first_slots) if first <= slot <= last[j]]
            assert running or not there


def changed_later(rng, instance, slot):
    """Return an instance with other jobs in the place of those that arrive after a slot."""

    def other(job):
        longer = int(rng.integers(1, 4))
        later_s = job.arrival_s + int(rng.integers(0, 3)) * instance.slot_s
        return job.model_copy(
            update={
                "type": int(rng.integers(instance.num_types)),
                "num_tasks": 3 - job.num_tasks,
                "iterations": longer * job.iterations,
                "base_iteration_s": 2 * job.base_iteration_s,
                "rack_comm_s": job.rack_comm_s / longer,
                "gradient_gbytes": 3 * job.gradient_gbytes,
                "arrival_s": later_s,
            }
        )

    jobs = tuple(
        other(job) if first > slot else job
        for job, first in zip(instance.jobs, instance.first_slots, strict=True)
    )
    return instance.model_copy(update={"jobs": jobs})


@pytest.mark.parametrize("agents", [1, 2, 4])
@pytest.mark.parametrize("kind", ["pair", "fat_tree", "bcube", "boards"])
def test_jobs_that_have_not_arrived_change_no_decision(kind, agents):
    """Neither what an agent sees, nor what it may do, nor what it does; whatever comes later."""
    for seed in range(4):
        rng = np.random.default_rng([seed, 1])
        instance = world_of(kind).draw(np.random.default_rng(seed))
        instance = instance.model_copy(update={"num_slots": 200})
        slot = sorted(instance.first_slots)[len(instance.jobs) // 2]
        ways = (instance, changed_later(rng, instance, slot))
        decided = []
        for way in ways:
            told = []
            queue = PolicyQueue(way, weights(seed), Team(agents, "srpt"), tell=told.append)
            assert plan(way, queue, Clock()) is not None
            decided.append([choice for choice in told if choice.slot <= slot])
        assert decided[0]
        for one, same in zip(*decided, strict=True):
            assert (one.slot, one.job, one.agent) == (same.slot, same.job, same.agent)
            assert one.chosen == same.chosen
            assert (one.allowed == same.allowed).all()
            for part in ("ends", "queue", "who"):
                assert (getattr(one.view, part) == getattr(same.view, part)).all()
            for part in ("nodes", "servers", "job", "fit"):
                assert (getattr(one.view.sight, part) == getattr(same.view.sight, part)).all()


@pytest.mark.parametrize("rule", ["lif", "greedy_jct", "patient"])
@pytest.mark.parametrize("order", ["fifo", "srpt"])
def test_rules_do_not_know_what_comes_either(rule, order):
    for seed in range(8):
        instance = WORLD.draw(np.random.default_rng(seed))
        instance = instance.model_copy(update={"num_slots": 200})
        slot = sorted(instance.first_slots)[len(instance.jobs) // 2]
        other = changed_later(np.random.default_rng([seed, 1]), instance, slot)
        plans = [
            plan(
                way,
                PatientQueue(way, order, 1.5)
                if rule == "patient"
                else JobQueue(way, rule, order, np.random.default_rng(0)),
                Clock(),
            )
            for way in (instance, other)
        ]
        assert plans[0].slots[: slot + 1] == plans[1].slots[: slot + 1]


def test_the_policy_of_the_library_serves_every_kind_of_cluster():
    rng = np.random.default_rng(0)
    for instance in (WORLD.draw(rng), boards(rng, slots=40), fat_tree(rng, jobs=4, slots=40)):
        outcome = learned(instance, Limits())
        assert evaluate(instance, outcome.solution).feasible


def test_agents_are_not_negative():
    with pytest.raises(InputError, match="agents: -1"):
        learned(WORLD.draw(np.random.default_rng(0)), Limits(), agents=-1)
