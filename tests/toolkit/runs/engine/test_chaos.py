"""SIGKILL at random moments: whatever dies, the final store is the same."""

import json
import random
import re
import sqlite3
import subprocess
import time
from contextlib import closing, suppress

import psutil
import pytest

from gadgetopt.runs.comparison import compare
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Limits

METHODS = "greedy,exact,shuffled:pause_s=0.05"
SEEDS = 20
PATIENCE_S = 120


def comparable(store):
    """Return all that a store holds of its runs but when and how long."""
    with Store(store, create=False) as kept:
        runs = kept.runs()
    out = {}
    for run in runs:
        r = run.result
        told = (r.method, r.fingerprint, r.parameters, r.seed, r.status, r.objective, r.bound)
        made = (r.solution, r.certificate, r.evaluation, r.reason, r.limit_hit, run.promises)
        out[run.key] = (told, made, [(p.incumbent, p.bound) for p in r.trace])
    return out


def finished(store):
    """Return when each run of a store ended."""
    if not store.exists():
        return {}
    with closing(sqlite3.connect(store, timeout=60)) as connection:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            return {}
        return dict(connection.execute("SELECT key, finished_at FROM runs"))


def killed_twice(store):
    """Return the keys of runs that were given up because they were killed twice."""
    with closing(sqlite3.connect(store, timeout=60)) as connection:
        asked = "SELECT key FROM runs WHERE status = 'error' AND reason LIKE 'crashed twice%'"
        return {key for (key,) in connection.execute(asked)}


def address_in(file):
    """Return the address in a scheduler's file; None until all of it is written."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return None


class Chaos:
    """A comparison that is killed piece by piece, and taken up again."""

    def __init__(self, folder, tmp_path, background, external):
        self.folder, self.tmp_path, self.background = folder, tmp_path, background
        self.store = tmp_path / "runs.sqlite"
        self.external = external
        self.dice = random.Random(7)
        self.seen = {}
        self.starts = 0
        if external:
            self.start_cluster()
        self.start_client()

    def start_client(self, *more):
        where = ["--scheduler", self.address] if self.external else ["--workers", 2]
        given = ["--methods", METHODS, "--seeds", SEEDS, "--store", self.store]
        self.client = self.background(
            "gadgetopt", "compare", self.folder, *given, *where, *more, "--json",
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def start_cluster(self):
        self.starts += 1
        file = self.tmp_path / f"scheduler_{self.starts}.json"
        given = ("--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
        self.scheduler = self.background("distributed.cli.dask_scheduler", *given)
        wait_until(lambda: address_in(file) is not None)
        self.address = address_in(file)
        self.workers = [self.start_worker(), self.start_worker()]

    def start_worker(self):
        given = ("--no-nanny", "--nthreads", 1, "--no-dashboard")
        more = ("--local-directory", self.tmp_path)
        return self.background("distributed.cli.dask_worker", self.address, *given, *more)

    def kill(self, victim):
        """Kill something at a random moment of a comparison that is getting on."""
        goal = len(finished(self.store)) + self.dice.randint(3, 5)
        wait_until(lambda: len(finished(self.store)) >= goal or self.client.poll() is not None)
        assert self.client.poll() is None, self.client.stderr.read()
        time.sleep(self.dice.uniform(0, 0.1))
        self.seen |= finished(self.store)
        getattr(self, f"kill_{victim}")()

    def kill_client(self):
        solvers = self.solvers()
        self.client.kill()
        self.client.communicate()
        # Nobody is left who waits for these: they end of themselves.
        wait_until(lambda: self.external or not any(s.is_running() for s in solvers))
        self.start_client()

    def kill_solver(self):
        wait_until(self.solvers)
        oldest = min(self.solvers(), key=lambda process: process.create_time())
        oldest.kill()

    def kill_worker(self):
        k = self.dice.randrange(2)
        self.workers[k].kill()
        self.workers[k].communicate()
        self.workers[k] = self.start_worker()

    def kill_scheduler(self):
        self.scheduler.kill()
        self.scheduler.communicate()
        _, err = self.client.communicate(timeout=PATIENCE_S)
        assert self.client.returncode == 1
        told = without_store(err)
        said = rf"gadgetopt: the scheduler at {self.address} was lost; \d+ of \d+ runs are done; "
        assert re.fullmatch(said + "repeat the command to continue", "\n".join(told)), err
        for worker in self.workers:
            worker.kill()
        self.start_cluster()
        self.start_client()

    def solvers(self):
        owners = self.workers if self.external else [self.client]
        found = []
        for owner in owners:
            with suppress(psutil.Error):
                children = psutil.Process(owner.pid).children()
                found += [
                    c for c in children if "gadgetopt.runs.engine.solver_process" in c.cmdline()
                ]
        return found

    def end(self):
        _, err = self.client.communicate(timeout=PATIENCE_S)
        killed = killed_twice(self.store)
        if killed:  # its second try was hit by chance: an error, which is repeated if asked for
            assert self.client.returncode == 1
            self.start_client("--retry-errors")
            _, err = self.client.communicate(timeout=PATIENCE_S)
        assert (self.client.returncode, without_store(err)) == (0, [])
        ended = finished(self.store)
        for key in self.seen.keys() - killed:
            assert ended[key] == self.seen[key]  # nothing was run twice


def without_store(err):
    """Return the lines but those that say which store is used."""
    return [x for x in err.splitlines() if not re.search("new store|runs taken from", x)]


def wait_until(ready):
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline, "nothing happens any more"
        time.sleep(0.02)


@pytest.fixture
def undisturbed(piles, tmp_path):
    folder, store = piles(4), tmp_path / "undisturbed.sqlite"
    limits = Limits(time_s=60.0)  # what the command line takes where it is not told
    compare([folder], METHODS.split(","), limits=limits, seeds=SEEDS, store=store, workers=2)
    return folder, comparable(store)


def shuffled(victims):
    random.Random(1).shuffle(victims)
    return victims


@pytest.mark.parametrize(
    ("external", "victims"),
    [
        (False, shuffled(["client"] * 4 + ["solver"] * 6)),
        (
            True,
            shuffled(["worker"] * 3 + ["solver"] * 4 + ["scheduler"] * 2 + ["client"]),
        ),
    ],
    ids=["local", "external"],
)
def test_the_store_ends_as_that_of_an_undisturbed_run(
    undisturbed, tmp_path, background, external, victims
):
    folder, expected = undisturbed
    chaos = Chaos(folder, tmp_path, background, external)
    for victim in victims:
        chaos.kill(victim)
    chaos.end()
    assert comparable(chaos.store) == expected
