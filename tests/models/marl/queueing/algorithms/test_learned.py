"""The learned scheduler at work: it sees nothing of what comes, and it always ends."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.queueing.algorithms.learned import learned
from gadgetopt.models.marl.queueing.data.generate.topologies import boards, fat_tree
from gadgetopt.models.marl.queueing.data.learning.worlds import World
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES, PolicyQueue
from gadgetopt.models.marl.queueing.subproblems.slots import plan
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

WORLD = World(cluster=0, jobs=6, servers=2, gpus=2, slots=12, slots_between=0.5)


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


@pytest.mark.parametrize("seed", range(8))
def test_jobs_that_have_not_arrived_change_no_decision(seed):
    instance = WORLD.draw(np.random.default_rng(seed))
    slot = sorted(instance.first_slots)[len(instance.jobs) // 2]
    other = tuple(
        job.model_copy(update={"type": 3 - job.type, "iterations": 2 * job.iterations})
        if first > slot
        else job
        for job, first in zip(instance.jobs, instance.first_slots, strict=True)
    )
    plans = [
        plan(changed, PolicyQueue(changed, weights(seed), Team(2, "srpt")), Clock())
        for changed in (
            instance.model_copy(update={"num_slots": 200}),
            instance.model_copy(update={"jobs": other, "num_slots": 200}),
        )
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
