"""A campaign of many runs on a Dask cluster, simulated: how many workers one client keeps busy.

No study measures the client, the scheduler and the store apart from the methods.

Grid, client, scheduler, messages and store are the real ones; only the runs are not. Each worker is
a thread that sleeps as long as its method would take and returns the row of one run, done before,
under the key that was asked for. So a thousand workers fit on two cores.

    python benchmarks/campaign.py --runs 10000 --workers 100 --seconds 0.01 1

Printed for every duration are the runs of a task, the processor time per run in the client, in
Dask's scheduler and in the store's writes, the part of the time that the workers were busy, and the
workers that the client would keep busy if it had a core of its own: seconds of a run over its
seconds per run. The last columns are what comes before and after the runs, planning and the ratio
table, and the store's size.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.runs.comparison import _table
from gadgetopt.runs.engine import client
from gadgetopt.runs.engine.batch import Batch
from gadgetopt.runs.engine.finish import run_here
from gadgetopt.runs.engine.work import Work
from gadgetopt.runs.grid import grid
from gadgetopt.runs.progress import Watch
from gadgetopt.runs.rows import Row
from gadgetopt.runs.store import Store
from gadgetopt.system.files import Document, write
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

#: A method that takes a seed, so that every instance has as many runs as are wanted.
SYSTEM, METHOD = "parallel_machines", "local_search"
INSTANCES = 100
#: Scheduler and workers speak to nobody but this machine.
LOCAL = ("--host", "127.0.0.1")
COLUMNS = (
    "s of a run",
    "workers",
    "runs",
    "runs a task",
    "client ms a run",
    "store ms a run",
    "scheduler ms a run",
    "busy",
    "runs a second",
    "workers kept busy",
    "planning ms a run",
    "table ms a run",
    "kB a run",
)


# -- what the workers do --------------------------------------------------------------------------


@functools.cache
def pattern() -> Row:
    """Return the row that every run has, but for its key and seed."""
    row: Row = json.loads(Path(os.environ["CAMPAIGN_ROW"]).read_text())
    return row


def sleep_all(works: Sequence[Work], document: str, plugins: Any, patience_s: float) -> list[Row]:
    """Sleep in the place of runs, as `supervise_all` does them."""
    seconds = float(os.environ["CAMPAIGN_SECONDS"])
    works = works[: max(1, math.ceil(patience_s / seconds))]
    time.sleep(seconds * len(works))
    same = {"fingerprint": works[0].fingerprint, "time_s": seconds}
    return [pattern() | same | {"key": work.key, "seed": work.seed} for work in works]


# -- the cluster ----------------------------------------------------------------------------------


@contextmanager
def cluster(workers: int, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Start a scheduler and workers, threads of one process; yield the address and its process."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        told = Path(folder) / "scheduler.json"
        here = {**os.environ, **environment, "PYTHONPATH": str(Path(__file__).parent)}

        def start(*command: str) -> int:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]],
                env=here,
                **quiet,  # type: ignore[call-overload]
            )
            running.callback(process.wait)
            running.callback(process.terminate)
            return process.pid

        scheduler = start(
            "dask_scheduler", *LOCAL, "--port", "0", "--no-dashboard", "--scheduler-file", str(told)
        )
        while not told.exists():
            time.sleep(0.1)
        address = json.loads(told.read_text())["address"]
        threads = ("--nthreads", str(workers), "--memory-limit", "0", "--no-nanny")
        start(
            "dask_worker", address, *LOCAL, *threads, "--no-dashboard", "--local-directory", folder
        )
        yield address, scheduler


def processor_s(process: int) -> float:
    """Return the processor time of another process so far."""
    import psutil

    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


# -- one campaign ---------------------------------------------------------------------------------


def instances(folder: Path) -> list[Path]:
    system = problem(SYSTEM)
    quickstart = next(g for g in system.generators if g.name == "quickstart")
    paths = []
    for k in range(INSTANCES):
        data = quickstart.generate(np.random.default_rng(k))
        paths.append(folder / f"{k}.json")
        write(Document(system, "instance", f"{k}", data), paths[-1])
    return paths


class TimedStore(Store):
    """A store that adds up the processor time of its writes."""

    writing_s = 0.0

    def add_row(self, *args: Any, **options: Any) -> None:
        """Add a row, timed."""
        began = time.thread_time()
        super().add_row(*args, **options)
        self.writing_s += time.thread_time() - began


def campaign(runs: int, workers: int, seconds: float, table: bool) -> dict[str, Any]:
    """Do one campaign and return what is printed of it."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        paths = instances(folder)
        clock = time.process_time()
        planned = grid(paths, [METHOD], Limits(time_s=60.0), seeds=runs // INSTANCES)
        store = opened.enter_context(TimedStore(folder / "runs.sqlite"))
        batch = Batch(planned, store, 5.0, rerun=False, retry_errors=False)
        planning_s = time.process_time() - clock
        jobs = batch.jobs()
        first = next(jobs)
        assert first is not None, "nobody else has claimed a run"
        row = folder / "row.json"
        row.write_text(json.dumps(run_here(*first)))
        environment = {"CAMPAIGN_ROW": str(row), "CAMPAIGN_SECONDS": str(seconds)}
        address, scheduler = opened.enter_context(cluster(workers, environment))
        engine = opened.enter_context(client.Engine(batch.session, address, workers))
        while not sum(engine.client.nthreads().values()):
            time.sleep(0.1)
        before, others, began = time.process_time(), processor_s(scheduler), time.monotonic()
        for work, document, outcome in engine.results(
            _all(first, jobs), batch.keep_claims, batch.total
        ):
            batch.record(work, document, outcome)
        wall_s, client_s = time.monotonic() - began, time.process_time() - before
        scheduler_s = processor_s(scheduler) - others
        assert (batch.done, batch.failed) == (batch.total, 0), "each run is in the store"
        clock = time.process_time()
        if table:
            _table(planned, store, False, Watch())
        table_s = time.process_time() - clock
        size = (folder / "runs.sqlite").stat().st_size
    done = batch.total
    return {
        "s of a run": f"{seconds:g}",
        "workers": f"{workers:,}",
        "runs": f"{done:,}",
        "runs a task": f"{done / engine.given:.1f}",
        "client ms a run": f"{1e3 * client_s / done:.2f}",
        "store ms a run": f"{1e3 * store.writing_s / done:.3f}",
        "scheduler ms a run": f"{1e3 * scheduler_s / done:.2f}",
        "busy": f"{100 * seconds * done / (wall_s * workers):.0f} %",
        "runs a second": f"{done / wall_s:,.0f}",
        "workers kept busy": f"{seconds * done / max(client_s, scheduler_s):,.0f}",
        "planning ms a run": f"{1e3 * planning_s / done:.3f}",
        "table ms a run": f"{1e3 * table_s / done:.3f}" if table else "-",
        "kB a run": f"{size / 1e3 / done:.2f}",
    }


def _all(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[100])
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.01, 1.0])
    parser.add_argument("--no-table", action="store_true", help="leave out the ratio table")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    import campaign as importable  # under its own name, so that workers find its function

    client.supervise_all = importable.sleep_all
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---:" * len(COLUMNS) + "|")
    for workers in given.workers:
        for seconds in given.seconds:
            found = campaign(given.runs, workers, seconds, not given.no_table)
            print("| " + " | ".join(found[column] for column in COLUMNS) + " |", flush=True)


if __name__ == "__main__":
    main()
