"""Methods that damage their process, among the healthy methods of a batch."""

import itertools
import re
from contextlib import suppress

import psutil
import pytest

from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine.supervisor import supervise
from gadgetopt.runs.engine.work import Failure, Work
from gadgetopt.runs.rows import from_row
from gadgetopt.runs.store import Store
from gadgetopt.system.files import document_text, read
from gadgetopt.system.result import Limits

HEALTHY = ["greedy", "shuffled", "exact", "shuffled:pause_s=0.1"]
LIMITS = Limits(time_s=1.0, memory_mb=400)

#: What is recorded of each: status, limit, reason.
RECORDED = {
    "segfaults": ("error", None, r"crashed twice: killed by SIGSEGV"),
    "aborts": ("error", None, r"crashed twice: killed by SIGABRT \(the matrix is singular\)"),
    "leaves": ("error", None, r"crashed twice: exited with code 3"),
    "is_killed": ("error", None, r"crashed twice: killed by SIGKILL"),
    "closes_everything": ("error", None, r"crashed twice: "),
    "exits": ("error", None, r"SystemExit: that is enough \(torture.py:\d+\)"),
    "forks": ("feasible", None, None),
    "sleeps": ("no_solution", "time_s", None),
    "sleeps_deaf": ("error", "time_s", r"ignored its time limit of 1 s; stopped after \S+ s"),
    "sleeps_on_the_lock": ("error", "time_s", r"ignored its time limit of 1 s; stopped after"),
    "hands_over": ("feasible", "time_s", None),
    "eats_memory": ("error", "memory_mb", r"took more than 400 MB of memory"),
    "raises": ("error", None, r"RuntimeError: two lines, and .*\(torture.py:\d+\)"),
    "recurses": ("error", None, r"RecursionError: "),
    "prints": ("feasible", None, None),
    "too_much": ("error", None, r"the solution is infeasible: capacity at pile"),
    "answers_in_prose": ("error", None, r"returned str, expected a Solution"),
    "solves_in_prose": ("error", None, r"the solution cannot be evaluated: AttributeError"),
    "notes_what_cannot_be_written": ("error", None, r"its result cannot be stored: "),
    "boasts": ("error", None, r"its outcome cannot be judged: "),
}


def comparable(run):
    """Return all of a stored run but when and how long."""
    r = run.result
    trace = tuple((p.incumbent, p.bound) for p in r.trace)
    rest = (r.status, r.objective, r.bound, r.solution, r.evaluation, r.seed, r.reason, trace)
    return run.key, r.method, r.fingerprint, r.parameters, rest, run.promises, run.limits


def test_a_healthy_batch_finishes_right_and_every_bad_run_is_recorded_with_its_reason(
    piles, tmp_path
):
    folder, store = piles(1), tmp_path / "runs.sqlite"
    mixed = [name for pair in itertools.zip_longest(RECORDED, HEALTHY * 5) for name in pair if name]
    compare([folder], mixed, limits=LIMITS, seeds=3, grace_s=1.5, store=store)
    with Store(store, create=False) as kept:
        runs = kept.runs()
    healthy = [run for run in runs if run.result.method in HEALTHY]
    alone = tmp_path / "alone.sqlite"
    compare([folder], HEALTHY, limits=LIMITS, seeds=3, store=alone, workers=0)
    with Store(alone, create=False) as kept:
        assert sorted(map(comparable, healthy), key=str) == sorted(
            map(comparable, kept.runs()), key=str
        )
    told = {run.result.method: run.result for run in runs if run.result.method in RECORDED}
    assert set(told) == set(RECORDED)
    for name, (status, limit, reason) in RECORDED.items():
        assert (told[name].status, told[name].limit_hit) == (status, limit), name
        assert bool(reason) == bool(told[name].reason), name
        assert re.match(reason or "", told[name].reason or ""), told[name].reason
    assert told["hands_over"].objective == told["hands_over"].evaluation.objective > 0
    assert told["prints"].objective == told["forks"].objective


def test_bad_runs_are_finished_runs(piles, tmp_path):
    folder, store, done = piles(1), tmp_path / "runs.sqlite", []
    for more in ({}, {}, {"retry_errors": True}):
        compare(
            [folder],
            ["exits", "leaves"],
            store=store,
            on_result=lambda *run: done.append(run),
            **more,
        )
    assert [result.method for result, *_ in done].count("leaves") == 2
    assert len(done) == 4


@pytest.fixture
def work(piles):
    document = read(piles(1) / "pile_0.json")

    def make(spec, **limits):
        made = Work("k", "s", "torture", document.fingerprint, spec, Limits(**limits), 0, 1.0)
        return supervise(made, document_text(document))

    return make


def test_a_crash_is_tried_once_more(work, tmp_path):
    row = work(f"crashes_once:mark={tmp_path / 'mark'}")
    assert from_row(row).result.status == "feasible"


def test_what_a_crashed_method_had_started_ends_with_it(work, tmp_path):
    failure = work(f"leaves_a_child:mark={tmp_path / 'mark'}")
    assert failure.reason.startswith("crashed twice: killed by SIGABRT")
    children = [int(line) for line in (tmp_path / "mark").read_text().split()]
    assert len(children) == 2
    for child in children:
        with suppress(psutil.NoSuchProcess):
            psutil.Process(child).wait(timeout=10)


def test_a_run_that_cannot_begin_says_why(work):
    failure = work("no_such_method")
    assert isinstance(failure, Failure)
    assert "no such method" in failure.reason


def test_without_a_limit_a_solve_may_take_its_share_of_the_machine(work, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.supervisor.MEMORY_SHARE", 1e-5)
    failure = work("eats_memory")
    assert failure.limit_hit == "memory_mb"
