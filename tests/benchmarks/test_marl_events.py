"""Continuous time: hand-checked runs, and the same as small steps of time."""

import importlib
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.marl.queueing.data.generate import presets
from gadgetopt.models.marl.queueing.subproblems.policy_queue import SHAPES
from gadgetopt.models.marl.queueing.subproblems.queue import JobQueue
from gadgetopt.models.marl.subproblems.learned import network
from gadgetopt.models.marl.subproblems.learned.policies import Team
from gadgetopt.models.marl.subproblems.occupancy import Occupancy

from ..models.marl.queueing.brute_force import small_instance
from ..models.marl.queueing.test_evaluate import tiny

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(BENCHMARKS))
    marl_events = importlib.import_module("marl_events")


def runs_of(instance, rule="lif", order="fifo"):
    return marl_events.simulate(instance, JobQueue(instance, rule, order, np.random.default_rng(0)))


def test_jobs_end_between_slots():
    (run,) = runs_of(tiny("whole_iterations"))
    # From 5 s on, four iterations of 3 s.
    assert (run.start_s, run.end_s, run.completion_s) == (5, 17, 12)


def test_interference_ends_with_the_neighbour():
    instance = tiny("one_after_the_other")
    jobs = (instance.jobs[0], instance.jobs[1].model_copy(update={"iterations": 5}))
    first, second = runs_of(instance.model_copy(update={"jobs": jobs}))
    # Both at half speed until 10 s; then the five iterations left of the first take 5 s.
    assert (first.end_s, second.end_s) == (15, 10)


def test_first_come_first_served_in_continuous_time():
    first, second = runs_of(tiny("shortest_first"))
    assert (first.end_s, second.start_s, second.end_s) == (15, 15, 20)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(("lif", "tetris", "pack")))
def test_all_iterations_are_done_at_the_rates_of_the_moment(seed, rule):
    """Replay: between two events every running job does its share of iterations."""
    instance = small_instance(np.random.default_rng(seed))
    queue = JobQueue(instance, rule, "fifo", np.random.default_rng(0))
    where = {}
    placing = queue._placer.place

    def noted(j):
        placed = placing(j)
        where[j] = dict(queue.occupancy.servers_of[j])
        return placed

    queue._placer.place = noted
    runs = marl_events.simulate(instance, queue)
    times = sorted({t for run in runs for t in (run.start_s, run.end_s)})
    done = [0.0] * len(runs)
    for begin, end in itertools.pairwise(times):
        o = Occupancy(instance)
        running = [j for j, run in enumerate(runs) if run.start_s <= begin and end <= run.end_s]
        for j in running:
            o.restore(j, where[j])
        assert min(o.free_gpus) >= 0
        for j in running:
            done[j] += (end - begin) / o.iteration_s(j)
    assert done == pytest.approx([job.iterations for job in instance.jobs])


@pytest.mark.parametrize("order", ["fifo", "srpt", "las", "drf", "big"])
def test_every_job_ends_and_none_begins_before_it_arrives(order):
    instance = presets.poisson(
        np.random.default_rng(4), jobs=60, slots=200, slots_per_job=20, slots_between=0.5
    )
    runs = runs_of(instance, "lif", order)
    assert len(runs) == len(instance.jobs)
    for run, job in zip(runs, instance.jobs, strict=True):
        assert run.start_s >= job.arrival_s
        alone_s = float(job.iterations * job.base_iteration_s)
        assert run.end_s - run.start_s >= alone_s * (1 - 1e-9)


@pytest.mark.parametrize("agents", [1, 2, 4])
def test_a_policy_decides_by_what_has_arrived(agents):
    """Other jobs in the place of those to come change no decision before they are there."""
    for seed in range(4):
        instance = presets.poisson(
            np.random.default_rng(seed), jobs=12, slots=60, slots_between=0.5, migration=False
        )
        now_s = sorted(job.arrival_s for job in instance.jobs)[len(instance.jobs) // 2]
        later = tuple(
            job.model_copy(update={"num_tasks": 1, "type": 3 - job.type, "iterations": 7})
            if job.arrival_s > now_s
            else job
            for job in instance.jobs
        )
        weights = network.start(np.random.default_rng(seed), SHAPES)
        decided = []
        for way in (instance, instance.model_copy(update={"jobs": later})):
            told = []
            queue = marl_events.TimedQueue(way, weights, Team(agents, "srpt"), tell=told.append)
            noted = []
            see_time = queue.see_time

            def seen(time_s, see_time=see_time, noted=noted, told=told):
                noted.append((time_s, len(told)))
                see_time(time_s)

            queue.see_time = seen
            assert marl_events.simulate(way, queue) is not None
            until = next(known for time_s, known in noted if time_s > now_s)
            decided.append(
                [(c.job, c.agent, c.chosen, c.view.queue.tolist()) for c in told[:until]]
            )
        assert decided[0] == decided[1] != []
