"""The bounds by formula: by hand, and as certificates."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.queueing.proving.bounds.relaxations import (
    alone,
    srpt,
)
from gadgetopt.models.marl.queueing.proving.certificate.check import (
    QueueingCertificate,
    check_bound,
)
from gadgetopt.models.marl.subproblems.cluster import Job, Server
from gadgetopt.system.result import Limits

from ...brute_force import (
    best_plan,
    small_instance,
)


def job(tasks, iterations, arrival_s=0, gpus=1, cpus=0):
    return Job(
        type=0,
        num_tasks=tasks,
        gpus_per_task=gpus,
        cpus_per_task=cpus,
        iterations=iterations,
        base_iteration_s=Fraction(1),
        arrival_s=Fraction(arrival_s),
    )


def cluster(*jobs, servers=1, slots=20):
    return QueueingInstance(
        servers=(Server(gpus=2, cpus=4),) * servers,
        jobs=jobs,
        interference=((Fraction(0),),),
        slot_s=Fraction(10),
        num_slots=slots,
    )


def bounds(instance):
    found = [called(method, instance, Limits(), None) for method in (alone, srpt)]
    for outcome in found:
        assert check_bound(instance, outcome.certificate) == outcome.dual_bound
    return [outcome.dual_bound for outcome in found]


def test_the_shorter_of_two_gangs_goes_first():
    """Two GPUs; gangs of two need all of them, for 3 slots and for 1. Alone they end after 30 s and
    10 s, mean 20. One after the other, the shorter first: 10 s and 40 s, mean 25, which is what the
    best plan takes."""
    instance = cluster(job(2, 30), job(2, 10))
    assert bounds(instance) == [20, 25]
    assert best_plan(instance)[0] == 25


def test_a_job_that_arrives_interrupts_a_longer_one():
    """A gang of 4 slots begins; after 15 s, so in slot 2, one of 1 slot arrives and goes first. It
    ends after 30 s, 15 s after its arrival; the first ends after 50 s. Mean 32.5."""
    instance = cluster(job(2, 40), job(2, 10, arrival_s=15))
    assert bounds(instance)[1] == Fraction(65, 2)
    assert best_plan(instance)[0] == Fraction(65, 2)


def test_portions_of_a_slot_end_with_the_slot():
    """Three single tasks of one slot on two GPUs: 1/2, 1 and 3/2 slots of the machine, so one slot,
    one and two: (10 + 10 + 20) / 3."""
    instance = cluster(job(1, 10), job(1, 10), job(1, 10))
    assert bounds(instance) == [10, Fraction(40, 3)]
    assert best_plan(instance)[0] == Fraction(40, 3)


def test_cpus_may_be_what_is_short():
    """Three tasks that need 4 CPUs each, of 4 there are: one after the other."""
    instance = cluster(*(job(1, 10, gpus=0, cpus=4) for _ in range(3)))
    assert bounds(instance) == [10, 20]
    gpus = QueueingCertificate(kind="srpt", resource="gpus")
    assert check_bound(instance, gpus) == 10


def test_without_jobs_the_bounds_are_0():
    assert bounds(cluster()) == [0, 0]


@pytest.mark.parametrize("seed", range(30))
def test_no_plan_is_better(seed):
    instance = small_instance(np.random.default_rng(1000 + seed))
    best = best_plan(instance)
    if best is not None:
        assert max(bounds(instance)) <= best[0]
