"""Tables and traces keep the GPUs that a plan names: what is read back has its objective."""

import re

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.instance import QueueingSolution, Running
from gadgetopt.pieces.exporting import Exported, find_exporter
from gadgetopt.system.files import library, read_instance

from ..brute_force import best_plan, small_architecture

FORMATS = ("gantt", "chrome-trace")
HEADER = "job,start_slot,end_slot,resource,count,units,detail\n"


def exporter(form):
    return find_exporter(gadgetopt.problem("marl_queueing"), form)


def sockets():
    return read_instance(library() / "marl_queueing" / "tiny" / "sockets.json").data


def pair_on(gpus):
    """The second job for two slots, then the first: GPUs named, or all left to the evaluator."""
    pair = Running(job=1, tasks=((0, 2),), gpus=(gpus,) if gpus else ())
    three = Running(job=0, tasks=((0, 3),), gpus=((0, 1, 3),) if gpus else ())
    return QueueingSolution(slots=((pair,), (pair,), (three,)))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("gpus", "mean_s"),
    [
        # 1.2 GBytes at 12 GBytes/s are 0.1 s: 1 s an iteration, done in the first slot. (10 + 30)/2
        ((0, 1), 20),
        # At 6 GBytes/s between the sockets 0.2 s: 1.1 s, 9 iterations a slot. (20 + 30)/2
        ((0, 2), 25),
        ((3, 0), 25),
        # Nothing is named: the evaluator takes the fastest pair.
        ((), 20),
    ],
)
def test_which_gpus_a_job_has_comes_back(form, gpus, mean_s):
    instance, plan = sockets(), pair_on(gpus)
    assert evaluate(instance, plan).objective == mean_s
    again = exporter(form).read_back(instance, exporter(form).write(instance, plan))
    assert evaluate(instance, again).objective == mean_s
    assert again == plan


def test_the_table_names_them():
    table = exporter("gantt").write(sockets(), pair_on((0, 2))).text(".csv")
    assert table == (
        HEADER + "job 1,0,2,server 0 GPUs 0+2,2,,\n" + "job 0,2,3,server 0 GPUs 0+1+3,3,,\n"
    )
    table = exporter("gantt").write(sockets(), pair_on(())).text(".csv")
    assert table == HEADER + "job 1,0,2,server 0,2,,\njob 0,2,3,server 0,3,,\n"


def test_a_job_that_changes_its_gpus_has_a_line_for_each():
    pairs = [Running(job=1, tasks=((0, 2),), gpus=(gpus,)) for gpus in ((0, 2), (1, 2))]
    three = Running(job=0, tasks=((0, 3),), gpus=((0, 1, 2),))
    plan = QueueingSolution(slots=((pairs[0],), (pairs[1],), (three,)))
    for form in FORMATS:
        assert exporter(form).read_back(sockets(), exporter(form).write(sockets(), plan)) == plan


def test_a_job_without_gpus_has_none_by_name():
    base = sockets()
    jobs = (base.jobs[0], base.jobs[1].model_copy(update={"gpus_per_task": 0}))
    instance = base.model_copy(update={"jobs": jobs})
    plan = QueueingSolution(
        slots=(
            (
                Running(job=0, tasks=((0, 3),), gpus=((0, 1, 2),)),
                Running(job=1, tasks=((0, 2),), gpus=((),)),
            ),
        )
    )
    assert evaluate(instance, plan).feasible
    for form in FORMATS:
        assert exporter(form).read_back(instance, exporter(form).write(instance, plan)) == plan


def test_best_plans_of_random_boards_come_back():
    """Optimal plans by enumeration, which name their GPUs, on boards and networks."""
    done = named = 0
    for seed in range(40):
        instance = small_architecture(np.random.default_rng(seed))
        best = best_plan(instance)
        if best is None:
            continue
        objective, plan = best
        for form in FORMATS:
            again = exporter(form).read_back(instance, exporter(form).write(instance, plan))
            evaluation = evaluate(instance, again)
            assert evaluation.feasible
            assert evaluation.objective == objective
        done += 1
        named += any(running.gpus for slot in plan.slots for running in slot)
    assert done >= 20
    assert named >= 10


@pytest.mark.parametrize(
    "resource",
    [
        "server",
        "server 0 GPUs 0,2",
        "server 0 GPUs 0+",
        "server 0 GPUs 00+2",
        "server 0 GPUs -1",
        f"server 0 GPUs 0+{'9' * 5_000}",
    ],
)
def test_other_names_are_refused(resource):
    table = f'{HEADER}job 1,0,2,"{resource}",2,,\njob 0,2,3,server 0 GPUs 0+1+2,3,,\n'
    with pytest.raises(InputError, match=re.escape("expected server 0, or server 0 GPUs 0+1")):
        exporter("gantt").read_back(sockets(), Exported({".csv": table}))


@pytest.mark.parametrize(
    ("first", "second", "constraint"),
    [
        ("server 0 GPUs 0+2", "server 0", "gpu_sets"),  # one job names its GPUs, the other does not
        ("server 0 GPUs 0", "server 0 GPUs 0+1+2", "gpu_set"),
        ("server 0 GPUs 0+4", "server 0 GPUs 0+1+2", "gpu_set"),
    ],
)
def test_gpus_that_a_job_cannot_have_are_the_evaluators_violations(first, second, constraint):
    table = f"{HEADER}job 1,0,2,{first},2,,\njob 0,2,3,{second},3,,\n"
    plan = exporter("gantt").read_back(sockets(), Exported({".csv": table}))
    assert {v.constraint for v in evaluate(sockets(), plan).violations} == {constraint}


def test_one_server_with_two_sets_of_gpus_is_refused():
    table = HEADER + "job 1,0,2,server 0 GPUs 0+1,2,,\njob 1,0,2,server 0 GPUs 2+3,2,,\n"
    with pytest.raises(InputError, match="job 1: is on server 0 twice in slot 0"):
        exporter("gantt").read_back(sockets(), Exported({".csv": table}))
