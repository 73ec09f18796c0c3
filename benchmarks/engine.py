"""Overhead of the engine per run, compared with a process pool and plain Dask.

No study measures what a study costs beside other ways to run it.

The grid is 100 tiny instances x 10 methods x 10 seeds, solved on 2 cores in the same run by

- ours: `gadgetopt.compare` with a store: supervised solver processes, limits, each row in SQLite as
  soon as its run ends;
- executor: `concurrent.futures.ProcessPoolExecutor.map`, results in a list;
- Dask: a `LocalCluster` of processes and `Client.map`, results in a list.

The other two store nothing, enforce nothing, and lose the batch with the first method that crashes.
Each is timed from its start to its last result; the overhead per run is

    (workers * seconds from start to end - seconds in methods) / runs

once with the start-up time and once without (from the first result on). On a busy machine the
processor time per run, methods included, is more meaningful.

Run `python benchmarks/engine.py` (`--seeds 2` for a fifth of the runs). It exits with 1 if our
overhead is more than 10 ms per run without start-up.
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gadgetopt.runs.comparison import compare
from gadgetopt.system.files import Document, read, write
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

MOST_MS = 10.0
LIMITS = Limits(time_s=60.0)
METHODS = (
    "random_placement",
    "random_placement:availability=queue",
    "random_placement:rand_mode=server",
    "random_placement:availability=queue:rand_mode=server",
    "lpt_ils:restarts=6",
    "lpt_ils:restarts=1",
    "lpt_ils:restarts=2",
    "lpt_ils:restarts=3",
    "lpt_ils:restarts=4",
    "lpt_ils:restarts=5",
)


@dataclass
class Taken:
    """Seconds to the end, to the first result, and in the methods themselves."""

    wall_s: float
    first_s: float
    methods_s: float
    runs: int
    cpu_s: float = 0.0

    def overhead_ms(self, workers: int, getting_going: bool) -> float:
        """Return the overhead per run, with or without the time before the first result."""
        wall_s = self.wall_s - (0 if getting_going else self.first_s)
        return 1e3 * (workers * wall_s - self.methods_s) / self.runs


def instances(count: int, folder: Path) -> list[Document]:
    system = problem("sjf_bco")
    quickstart = next(g for g in system.generators if g.name == "quickstart")
    out = []
    for k in range(count):
        data = quickstart.generate(np.random.default_rng(k), jobs=4)
        path = folder / f"tiny_{k}.json"
        write(Document(system, "instance", path.stem, data), path)
        out.append(read(path))
    return out


def ours(folder: Path, seeds: int, workers: int, store: Path) -> Taken:
    begin, seen = time.perf_counter(), []

    def on_result(result: Result, *_: int) -> None:
        seen.append((time.perf_counter() - begin, result.time_s))

    table = compare(
        [folder],
        METHODS,
        limits=LIMITS,
        seeds=seeds,
        store=store,
        workers=workers,
        details=False,
        on_result=on_result,
    )
    assert len(table) == len(seen)
    return taken(seen, len(table))


def taken(seen: list[tuple[float, float]], runs: int) -> Taken:
    assert len(seen) == runs
    return Taken(seen[-1][0], seen[0][0], sum(s for _, s in seen), runs)


@functools.cache
def opened(path: str) -> Document:
    return read(path)


def one(job: tuple[str, str, int]) -> Result:
    """Do one run for the process pool or plain Dask; each process reads an instance once."""
    path, spec, seed = job
    return solve(opened(path), spec, LIMITS, seed)


def jobs(documents: list[Document], seeds: int) -> Iterator[tuple[str, str, int]]:
    for document in documents:
        for spec in METHODS:
            for seed in range(seeds):
                yield str(document.path), spec, seed


def executor(documents: list[Document], seeds: int, workers: int) -> Taken:
    begin = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        done = pool.map(one, jobs(documents, seeds))
        seen = [(time.perf_counter() - begin, result.time_s) for result in done]
    return taken(seen, len(seen))


def dask(documents: list[Document], seeds: int, workers: int) -> Taken:
    from distributed import Client, LocalCluster, as_completed

    begin, seen = time.perf_counter(), []
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        futures = client.map(one, list(jobs(documents, seeds)), pure=False)
        for _, result in as_completed(futures, with_results=True):
            seen.append((time.perf_counter() - begin, result.time_s))
    return taken(seen, len(seen))


def cpu_s() -> float:
    """Return the processor time of this process and of its finished child processes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def measured(way: Callable[[], Taken]) -> Taken:
    before = cpu_s()
    out = way()
    out.cpu_s = cpu_s() - before
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {given.workers} workers")
    with tempfile.TemporaryDirectory() as folder:
        documents = instances(given.instances, Path(folder) / "instances")
        found = {
            "ours": measured(
                lambda: ours(
                    Path(folder) / "instances",
                    given.seeds,
                    given.workers,
                    Path(folder) / "s.sqlite",
                )
            ),
            "executor": measured(lambda: executor(documents, given.seeds, given.workers)),
            "Dask": measured(lambda: dask(documents, given.seeds, given.workers)),
        }
    print(
        f"{'':10} {'runs':>6} {'wall':>8} {'first':>8} {'methods':>9} {'ms per run':>11} {'all':>8}"
        f" {'processor':>11}"
    )
    for name, t in found.items():
        beyond, whole = (t.overhead_ms(given.workers, going) for going in (False, True))
        print(
            f"{name:10} {t.runs:6} {t.wall_s:6.1f} s {t.first_s:6.2f} s {t.methods_s:7.1f} s"
            f" {beyond:8.2f} ms {whole:5.2f} ms"
            f" {1e3 * t.cpu_s / t.runs:8.2f} ms"
        )
    return int(found["ours"].overhead_ms(given.workers, False) > MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
