"""Clients: several on one store, and messages about unusable clusters."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from gadgetopt.errors import InputError
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine import supervisor
from gadgetopt.runs.engine.client import BUNDLE_MOST, Engine
from gadgetopt.runs.engine.work import Work
from gadgetopt.runs.grid import grid
from gadgetopt.runs.pace import Pace, duration, expected, in_words
from gadgetopt.runs.progress import Lines, to_do, told
from gadgetopt.runs.store import Store
from gadgetopt.runs.tally import Tally
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.files import read
from gadgetopt.system.result import Limits


def without_times(table):
    return [{k: v for k, v in e.row().items() if k != "time_s"} for e in table]


def test_two_clients_on_one_store_share_the_work(piles, tmp_path, background):
    folder, store = piles(3), tmp_path / "runs.sqlite"
    methods = "greedy,exact,shuffled:pause_s=0.05"
    given = ("--methods", methods, "--seeds", 15, "--store", store, "--workers", 1)
    clients = [
        background(
            "gadgetopt", "compare", folder, *given, "--json", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    # Readers look on meanwhile.
    while any(client.poll() is None for client in clients):
        time.sleep(0.2)
        if store.exists() and store.stat().st_size > 0:
            assert all(entry.result.status != "error" for entry in ratios(store))
    said = [client.communicate() for client in clients]
    assert [client.returncode for client in clients] == [0, 0], said
    told = [line for _, err in said for line in err.splitlines()]
    assert len(told) == 2
    assert all(f"new store {store}" in line or f"taken from {store}" in line for line in told)
    alone = compare([folder], methods.split(","), limits=Limits(time_s=60.0), seeds=15, workers=0)
    order = lambda row: (row["instance"], row["method"], row["seed"] or 0)  # noqa: E731
    assert sorted(without_times(ratios(store)), key=order) == sorted(
        without_times(alone), key=order
    )
    with Store(store, create=False) as kept:
        assert kept._connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://127.0.0.1"])
def test_a_scheduler_that_does_not_answer_is_one_line(piles, tmp_path, cli, monkeypatch, address):
    monkeypatch.setattr("gadgetopt.runs.engine.client.CONNECT_S", 1)
    code, _, err = cli(
        "compare", piles(1), "--scheduler", address, "--store", tmp_path / "runs.sqlite"
    )
    assert code == 2
    assert err.startswith(f"gadgetopt: --scheduler: {address}: cannot be reached: ")
    assert len(err.splitlines()) == 1


def test_workers_of_another_version_are_refused_in_one_line(piles, tmp_path, cli, monkeypatch):
    from distributed import LocalCluster

    with LocalCluster(
        processes=False, n_workers=1, dashboard_address=None, protocol="tcp", memory_limit=0
    ) as cluster:
        monkeypatch.setattr(supervisor, "VERSIONS", ("0.0.1", "3.11"))
        address, store = cluster.scheduler_address, tmp_path / "runs.sqlite"
        code, _, err = cli("compare", piles(1), "--scheduler", address, "--store", store)
    assert code == 2
    assert "its workers have gadgetopt 0.0.1 on Python 3.11, expected gadgetopt" in err
    assert len(err.splitlines()) == 1


def test_a_solver_process_ends_with_whoever_started_it():
    code = (
        "import os, signal; from gadgetopt.runs.engine.process_handle import SolverProcess\n"
        "print(SolverProcess(1).popen.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    dying = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    pid, deadline = int(dying.stdout), time.monotonic() + 60
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert dying.returncode == -signal.SIGKILL


def test_short_runs_travel_in_bundles_and_unknown_ones_alone(piles):
    engine = Engine("s", None, 1)
    (document,) = grid([piles(1)]).documents
    jobs = [
        (Work(str(k), "s", "torture", document.fingerprint, "greedy", Limits(), k, 5.0), document)
        for k in range(BUNDLE_MOST + 3)
    ]
    supply = iter(jobs)
    (first,), more = engine._bundle(supply)
    assert (first, more) == (jobs[0], True)
    engine._learn(first[0], {"status": "feasible", "time_s": 0.0001})
    bundle, _ = engine._bundle(supply)
    assert bundle == jobs[1 : BUNDLE_MOST + 1]
    engine._learn(first[0], {"status": "feasible", "time_s": 10.0})
    assert [len(engine._bundle(supply)[0]) for _ in range(3)] == [1, 1, 0]


def sizes_of_bundles(piles, threads, seconds, runs):
    """Sizes of the first bundles of runs of one method, whose duration is known."""
    engine = Engine("s", None, 1)
    engine.threads, engine.left = threads, runs
    (document,) = grid([piles(1)]).documents
    jobs = [
        (Work(str(k), "s", "torture", document.fingerprint, "greedy", Limits(), k, 5.0), document)
        for k in range(min(runs, 10_000))
    ]
    engine._learn(jobs[0][0], {"status": "feasible", "time_s": seconds - 0.001})
    supply = iter(jobs)
    return [len(engine._bundle(supply)[0]) for _ in range(3)]


def test_on_a_large_cluster_bundles_are_as_long_as_its_client_needs(piles):
    # 1,000 threads: bundles of 5 s, as long as every thread has 8 of them.
    assert sizes_of_bundles(piles, 1_000, 1.0, 10**6) == [5, 5, 5]
    assert sizes_of_bundles(piles, 1_000, 0.25, 10**6) == [20, 20, 20]
    assert sizes_of_bundles(piles, 1_000, 0.01, 10**6) == [125, 125, 125]
    assert sizes_of_bundles(piles, 1_000, 1.0, 16_000) == [2, 2, 2]
    assert sizes_of_bundles(piles, 1_000, 1.0, 8_000) == [1, 1, 1]
    assert sizes_of_bundles(piles, 1_000, 60.0, 10**6) == [1, 1, 1]
    # Few threads: as before.
    assert sizes_of_bundles(piles, 8, 0.09, 10**6) == [2, 2, 2]
    assert sizes_of_bundles(piles, 8, 1.0, 10**6) == [1, 1, 1]


def test_a_bundle_that_takes_too_long_is_handed_back(piles, monkeypatch):
    monkeypatch.setattr(supervisor, "supervise", lambda work, *_: work)
    assert supervisor.supervise_all(["one", "two"], "", (), 0.0) == ["one"]
    assert supervisor.supervise_all(["one", "two"], "", (), 60.0) == ["one", "two"]


def test_the_grid_is_made_as_it_is_walked_through(piles):
    endless = iter(grid([piles(1)], ["shuffled"], seeds=10**12))
    assert [next(endless).seed for _ in range(3)] == [0, 1, 2]


def test_grace_grows_with_the_limit():
    assert [default_grace_s(t) for t in (None, 1.0, 600.0)] == [5.0, 5.0, 60.0]


# -- progress --------------------------------------------------------------------------------------


def ended(status="feasible", fingerprint="a", time_s=1.0, limit_hit=None):
    return {
        "status": status, "fingerprint": fingerprint, "time_s": time_s, "limit_hit": limit_hit,
        "method": "greedy",
    }  # fmt: skip


def test_a_tally_counts_errors_limits_and_closed_instances():
    tally = Tally(total=9, instances=3)
    for row in (
        ended(), ended("optimal"), ended("optimal"), ended("optimal", "b"), ended("error"),
        ended("not_applicable"), ended("infeasible", "c"), ended(limit_hit="time_s"),
        ended(limit_hit="gap"),
    ):  # fmt: skip
        tally.add(row)
    assert (tally.ended, tally.seconds) == (9, 9.0)
    assert (tally.errors, tally.limits, tally.closed) == (1, 1, {"a", "b", "c"})


def test_a_line_says_how_far_it_is_and_names_no_random_baseline():
    said = []
    tally = Tally(total=4, instances=2)
    batch = SimpleNamespace(done=0, total=4, tallies={"torture": tally})
    lines = Lines(said.append, every_s=0.0)
    lines.begin(batch, "http://127.0.0.1:1/status")
    batch.done = tally.done = 2
    tally.add(ended("error"))
    tally.add(ended("optimal"))
    lines.result(ended(), batch)
    lines.tick(batch, running=2)
    assert said[0].startswith("2 of 4 runs done, 1 error, 1 of 2 instances closed, ")
    assert said[0].endswith("Dask's dashboard: http://127.0.0.1:1/status")
    assert "2 running" in said[1]
    assert "dashboard" not in said[1]
    assert told(batch, None, None).endswith("closed, time left unknown")


def test_lines_come_at_growing_distances(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr("gadgetopt.runs.progress.time.monotonic", lambda: now[0])
    batch = SimpleNamespace(done=0, total=4, tallies={})
    lines = Lines(said.append)
    lines.begin(batch, None)
    for second in range(3 * 3600):
        now[0] = float(second)
        lines.tick(batch, 1)
    assert 40 < len(said) < 70  # of three hours


def ran(method, times, to_do):
    """A system's tally after some runs of one method."""
    return Tally(
        total=len(times) + to_do,
        done=len(times),
        ended=len(times),
        seconds=sum(times),
        to_do=Counter({method: to_do}),
        times={method: deque(times)} if times else {},
    )


def test_the_time_left_of_a_system_is_that_of_its_own_runs():
    quick, slow = ran("a", [0.1] * 50, 50), ran("b", [10.0] * 5, 5)
    nothing = ran("c", [], 1)
    pace = Pace()
    pace.started_s -= 57.75  # one run at a time
    left = pace.left({"quick": quick, "slow": slow, "nothing": nothing})
    assert left["quick"].seconds == pytest.approx(7.5, rel=0.01)
    assert left["slow"].seconds == pytest.approx(50.25, rel=0.01)
    assert str(left["nothing"]) == "unknown"
    assert in_words(left) == "at least 58 s left"
    assert in_words({"quick": left["quick"], "slow": left["slow"]}) == "58 s left"
    assert pace.left({"nothing": nothing}) is None
    assert in_words(None) == in_words({"nothing": left["nothing"]}) == "time left unknown"


def test_the_time_left_is_the_median_of_each_method():
    """One run that took its whole limit does not make the others long."""
    tally = ran("a", [1.0] * 8 + [600.0], 10)
    tally.to_do["b"], tally.times["b"] = 2, deque([20.0])  # known from the store
    assert expected(tally.to_do, tally.times).seconds == pytest.approx(10 * 1.05 + 2 * 20.05)


def test_the_start_of_the_processes_is_not_expected_again():
    tally = ran("a", [2.0], 10)
    pace = Pace()
    pace.started_s -= 30.0  # until the first process was ready, 28 s
    pace.ended(2.0)
    assert pace.left({"mine": tally})["mine"].seconds == pytest.approx(10 * 2.05, rel=0.01)


def test_a_line_names_the_systems_that_are_not_finished():
    tallies = {name: Tally(total=5, done=k) for k, name in enumerate("bcdefa")}
    assert to_do(tallies) == ", to do: b 5, c 4, d 3 and 2 more"
    assert to_do({"a": Tally(total=5)}) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.4, "4 s"), (61, "1 min 01 s"), (7265, "2 h 01 min")],
)
def test_times_are_written_as_people_say_them(seconds, text):
    assert duration(seconds) == text


def test_the_live_view_shows_each_system(piles, tmp_path):
    import io

    from rich.console import Console

    from gadgetopt.runs.progress import Live

    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    live, batches = Live(console), []
    live.begin_was, live.begin = live.begin, lambda batch, link: (
        batches.append(batch), live.begin_was(batch, link)
    )  # fmt: skip
    compare([piles(2)], ["greedy", "exact"], workers=0, watch=live)
    live.tick(batches[0], running=1)
    live.end()
    shown = console.file.getvalue()
    assert "4/4" in shown
    for word in ("torture", "errors", "limits hit", "closed", "left"):
        assert word in shown
    assert "worst ratio" not in shown


def test_instances_closed_in_an_earlier_session_are_counted(piles, tmp_path):
    from gadgetopt.runs.engine.batch import Batch

    folder, path = piles(2), tmp_path / "runs.sqlite"
    compare([folder], ["exact"], store=path, workers=0)
    with Store(path) as store:
        batch = Batch(grid([folder], ["exact", "greedy"]), store, 5.0, False, False)
    (tally,) = batch.tallies.values()
    assert (tally.total, tally.done, tally.instances, len(tally.closed)) == (4, 2, 2, 2)


def test_a_million_unanswered_questions_are_asked_in_pieces(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        assert store.finished([str(k) for k in range(3000)]) == set()


def test_bad_files_are_refused_before_anything_runs(piles, tmp_path):
    folder = piles(1)
    (folder / "broken.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        compare([folder / "broken.json"], ["greedy"], store=tmp_path / "runs.sqlite")
    assert not (tmp_path / "runs.sqlite").exists()
    assert read(folder / "pile_0.json").problem.name == "torture"


def test_runs_whose_workers_died_are_tried_one_by_one_and_then_recorded(piles):
    from distributed import KilledWorker

    engine = Engine("s", "tcp://elsewhere", 1)
    (document,) = grid([piles(1)]).documents
    job = (Work("k", "s", "torture", document.fingerprint, "greedy", Limits(), 0, 5.0), document)
    died = KilledWorker("run", SimpleNamespace(address="tcp://there"), 3)
    future = SimpleNamespace(status="error")
    assert engine._outcomes(future, (KilledWorker, died, None), [job, job]) == []
    (failure,) = engine._outcomes(future, (KilledWorker, died, None), [job])
    assert failure.reason.startswith("its workers died: ")
    assert engine._bundle(iter([job, job]))[0] == [job]


def test_that_there_are_no_workers_is_said_once_each_time(caplog):
    engine, threads = Engine("s", "tcp://elsewhere", 1), {}
    engine.client = SimpleNamespace(nthreads=lambda: threads)
    engine.flying = {"future": []}
    for now in ({}, {}, {}, {"tcp://there": 2}, {}, {"tcp://there": 2}, {}, {}):
        threads = now
        engine._count_threads()
    assert caplog.messages == ["the scheduler at tcp://elsewhere has no workers; waiting"] * 2


def test_what_has_arrived_counts_though_its_worker_died_since():
    engine, rows = Engine("s", "tcp://elsewhere", 1), [{"key": "k"}]
    assert engine._outcomes(SimpleNamespace(status="lost"), rows, []) == rows


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_what_a_cluster_is_doing_and_keeps_incumbents(
    piles, tmp_path, background, how
):
    from distributed import LocalCluster

    store = tmp_path / "runs.sqlite"
    with LocalCluster(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None, protocol="tcp",
        memory_limit=0,
    ) as cluster:  # fmt: skip
        client = background(
            "gadgetopt", "compare", piles(1), "--methods", "greedy,hands_over,sleeps_deaf",
            "--store", store, "--scheduler", cluster.scheduler_address, stderr=subprocess.PIPE,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while not (store.exists() and store.stat().st_size and len(ratios(store)) == 1):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1.0)  # into the other two
        client.send_signal(how)
        _, err = client.communicate(timeout=60)
    assert "interrupted: 1 of 3 runs are done\n" in err
    assert "Traceback" not in err
    kept = {entry.result.method: entry.result for entry in ratios(store)}
    assert kept["greedy"].limit_hit is None
    assert "sleeps_deaf" not in kept
    # Whoever had begun and listens has handed its incumbent over.
    assert "hands_over" not in kept or kept["hands_over"].limit_hit == "interrupted"
