"""The rule that waits for a good place."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.queueing.data.learning.worlds import World
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.heuristics.greedy_jct import greedy_jct
from gadgetopt.models.marl.queueing.heuristics.patient import patient
from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.subproblems.cluster import Job, Server
from gadgetopt.system.result import Limits

WORLD = World(cluster=0, jobs=6, servers=2, gpus=2, slots=12, slots_between=0.5)


def test_two_jobs_that_disturb_each_other_run_one_after_the_other():
    # Together each takes 3 s an iteration: 100 in each of three slots, 900 s. One after the other
    # they end after 300 and 600 s.
    job = Job(
        type=0, num_tasks=1, gpus_per_task=1, cpus_per_task=1, iterations=300, base_iteration_s=1
    )
    instance = QueueingInstance(
        servers=(Server(gpus=2, cpus=8),), jobs=(job, job), interference=((2,),), slot_s=300,
        num_slots=6, migration=False,
    )  # fmt: skip
    assert evaluate(instance, greedy_jct(instance, Limits()).solution).objective == 900
    assert evaluate(instance, patient(instance, Limits()).solution).objective == 450


def test_with_much_patience_it_is_the_rule_itself_and_else_all_jobs_end():
    for seed in range(10):
        instance = WORLD.draw(np.random.default_rng(seed))
        rule = greedy_jct(instance, Limits(), order="srpt").solution
        assert patient(instance, Limits(), patience=1e9).solution == rule
        for patience in (1.0, 1.2, 2.0):
            found = patient(instance, Limits(), patience=patience).solution
            assert evaluate(instance, found).feasible


@pytest.mark.parametrize("patience", [0.5, float("nan")])
def test_patience_is_at_least_one(patience):
    with pytest.raises(InputError, match=r"patience: .*, expected at least 1"):
        patient(WORLD.draw(np.random.default_rng(0)), Limits(), patience=patience)
