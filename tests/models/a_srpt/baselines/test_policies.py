"""Baselines: H3 and H4 to the digit, a second implementation, and what each may not do."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4, small
from ..plain_policies import estimated_ticks, plain_policy

POLICIES = {
    m.name: m.run
    for m in problem("a_srpt").methods
    if m.kind == "baseline" and "predictor" in m.parameters
}

KEYS = {
    "fifo": (lambda p, j: 0, True),
    "spjf": (estimated_ticks, True),
    "spwf": (lambda p, j: p.g(j) * estimated_ticks(p, j), True),
    "wcs_duration": (estimated_ticks, False),
    "wcs_workload": (lambda p, j: p.g(j) * estimated_ticks(p, j), False),
    "wcs_subtime": (lambda p, j: 0, False),
}


def rng(seed=0):
    return np.random.default_rng(seed)


def run(instance, name, **parameters):
    return POLICIES[name](instance, Limits(), rng(), **parameters).solution


def total(instance, solution):
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible
    return evaluation.objective


@pytest.mark.parametrize("name", POLICIES)
def test_h3_and_h4(name):
    """J1 of H3 alone is there at 0; J4 of H4 is split at 6."""
    assert total(H3, run(H3, name)) == 16
    assert total(H4, run(H4, name)) == 40


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("seed", range(15))
def test_the_schedule_is_that_of_a_plain_implementation(name, seed):
    instance = small(rng(seed))
    plain = plain_policy(instance, *KEYS[name])
    fast = run(instance, name)
    assert total(instance, fast) == total(instance, plain)
    assert {(j.job, j.start_microtick) for j in fast.jobs} == {
        (j.job, j.start_microtick) for j in plain.jobs
    }


@pytest.mark.parametrize("seed", range(15))
def test_easy_delays_no_job_at_the_head_of_the_queue_beyond_fifo_order(seed):
    """On one server durations do not depend on the place: the head starts when it was promised."""
    draw = rng(seed)
    instance = small(draw, jobs=15, load=3.0)
    one = instance.model_copy(update={"gpus_per_server": (8,)})
    easy = {job.job: job.start_microtick for job in run(one, "easy").jobs}
    fifo = {job.job: job.start_microtick for job in run(one, "fifo").jobs}
    first_blocked = next((j for j in range(15) if fifo[j] > one.jobs[j].release_tick * 8), None)
    if first_blocked is not None:
        assert easy[first_blocked] <= fifo[first_blocked]


def test_easy_backfills_what_ends_in_time_only():
    """Two of four GPUs are busy until 4, then four are wanted: 3 ticks fit before it, 5 do not."""
    from gadgetopt.models.a_srpt.instance import Job

    from ..hand_checked import cluster, one_stage

    def starts(length):
        instance = cluster(
            (4,),
            10,
            2,
            (one_stage(2), one_stage(4)),
            (
                Job(job_type=0, num_iterations=4),
                Job(job_type=1, num_iterations=1),
                Job(job_type=0, num_iterations=length),
            ),
        )
        return [
            job.start_microtick // 4
            for job in sorted(run(instance, "easy").jobs, key=lambda s: s.job)
        ]

    assert starts(3) == [0, 4, 0]
    assert starts(5) == [0, 4, 5]
