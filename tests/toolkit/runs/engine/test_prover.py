"""Searches for proofs end within their time and memory and at a signal, and say why."""

import signal
import subprocess
import time
from functools import partial

import pytest

from gadgetopt.runs.certifying import certify_store
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine.waiting import said_while_waiting
from gadgetopt.runs.store import Store
from gadgetopt.system import registry
from gadgetopt.system.files import Document, write


@pytest.fixture
def troubles(torture, tmp_path, monkeypatch):
    """Return a function that writes instances of kinds of trouble, and the mark of a build."""
    monkeypatch.setenv("ENDLESS_MARK", str(tmp_path / "mark"))
    endless = registry.problem("endless")

    def make(*kinds):
        paths = []
        for kind in kinds:
            name = kind.replace(" ", "_")
            data = endless.instance_type(what=kind)
            paths.append(tmp_path / f"{name}.json")
            write(Document(endless, "instance", name, data), paths[-1])
        return paths

    return make, tmp_path / "mark"


@pytest.fixture
def stored(troubles, tmp_path):
    """Return a function that makes a store of runs whose bounds are claims."""

    def make(*kinds):
        path = tmp_path / "runs.sqlite"
        compare(troubles[0](*kinds), ["claims"], store=path, workers=0)
        return path

    return make


def wait_for(there):
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("how", "kind"),
    [(signal.SIGINT, "is deaf"), (signal.SIGTERM, "sleeps"), (signal.SIGINT, "compiles")],
)
def test_a_signal_ends_certify_within_seconds(stored, troubles, background, how, kind):
    path = stored(kind)
    command = background(
        *("gadgetopt", "certify", path, "--budget", 500),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for(troubles[1].exists)
    command.send_signal(how)
    began = time.monotonic()
    out, err = command.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert (command.returncode, "Traceback" in err) == (130, False)
    assert "not proved: " in out
    assert "interrupted while building model" in out
    with Store(path) as store:
        (run,) = store.runs()
    assert run.result.bound == 1
    assert "interrupted" in run.result.notes["proof"]["ended"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_proof_of_a_solve_keeps_the_run(troubles, background, how):
    (path,) = troubles[0]("sleeps")
    command = background(
        *("gadgetopt", "solve", path, "--method", "claims", "--certify", 500),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for(troubles[1].exists)
    command.send_signal(how)
    began = time.monotonic()
    out, err = command.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert "1 (solver)" in out
    assert "not proved: " in err
    assert "interrupted while building model" in err


def test_after_a_signal_in_the_solve_no_proof_is_searched_for(troubles, background):
    (path,) = troubles[0]("sleeps")
    command = background(
        *("gadgetopt", "solve", path, "--method", "claims_late", "--certify", 500),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert command.stderr.readline() == "at work\n"
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert "interrupted" in out
    assert "interrupted before the search for a proof" in err
    assert not troubles[1].exists()


CLAIM = "the bound 1 rests on the word of claims alone; "


def test_each_search_says_why_there_is_no_proof_and_harms_no_other(stored):
    told = []
    path = stored("eats", "dies", "raises")
    counts = certify_store(path, "60", memory_mb=400, tell=told.append)
    assert (counts.runs, counts.verified, counts.interrupted) == (3, 0, False)
    said = dict(line.split(", claims: not proved: ") for line in told)
    step = " while building model"
    assert said["eats"] == f"{CLAIM}the search for a proof took more than 400 MB of memory{step}"
    assert said["dies"] == f"{CLAIM}the search for a proof crashed{step}: killed by SIGABRT"
    failed = "the proof failed by an unexpected error: ValueError: there is no such model (endless"
    assert said["raises"].startswith(CLAIM + failed)
    assert counts.failed == 1
    with Store(path) as store:
        assert {run.result.bound for run in store.runs()} == {1}


def test_a_search_without_end_is_ended_in_its_time_and_says_what_it_does(
    stored, monkeypatch, capsys
):
    often = partial(said_while_waiting, every_s=0.2)
    monkeypatch.setattr("gadgetopt.runs.engine.waiting.said_while_waiting", often)
    told = []
    certify_store(stored("sleeps"), "3", tell=told.append)
    assert told == [f"sleeps, claims: not proved: {CLAIM}time was up while building model"]
    assert "proving sleeps, claims: building model, 3 s of 3 s\n" in capsys.readouterr().err


def test_a_search_that_heeds_no_time_is_stopped_after_its_grace(stored, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.supervisor.default_grace_s", lambda _: 0.4)
    told = []
    certify_store(stored("is deaf"), "3", tell=told.append)
    assert f"{CLAIM}the search for a proof was stopped after 3 s while " in told[0]
