"""The main job: instances x methods x seeds, each run stored the moment it ends."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gadgetopt import __version__
from gadgetopt.declaration import KINDS
from gadgetopt.errors import InputError
from gadgetopt.files import Document, find_instances, read_instance
from gadgetopt.methods import MethodCall, knows, select
from gadgetopt.ratio import Ratio, cross_examine, ratios
from gadgetopt.registry import problem
from gadgetopt.result import Limits, MethodOutcome, Result, Status
from gadgetopt.rows import StoredRun, run_key
from gadgetopt.run import judge, solve
from gadgetopt.store import Store
from gadgetopt.theorems import Promise, promises, proven_ratio

logger = logging.getLogger(__name__)

#: The keys of a row of the ratio table, in order.
ROW_KEYS = (
    "instance",
    "problem",
    "method",
    "kind",
    "status",
    "objective",
    "bound",
    "bound_voucher",
    "gap",
    "ratio_low",
    "ratio_high",
    "guarantee",
    "limit_hit",
    "time_s",
    "seed",
)


@dataclass(frozen=True)
class Task:
    """One run to be done: plain data, so that it can travel to another process."""

    document: Document
    spec: str
    limits: Limits
    seed: int
    named: bool = False  # asked for by its name, not by kind or default
    key: str = field(default="", compare=False)


@dataclass(frozen=True)
class Entry:
    """One line of the ratio table: a result, its ratio interval, and the theorems about it."""

    result: Result
    ratio: Ratio | None
    promises: tuple[Promise, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the row with the keys of `ROW_KEYS`, numbers as JSON can hold them."""
        r, proven = self.result, proven_ratio(self.promises)
        values = (
            r.instance,
            r.problem,
            r.method,
            r.kind,
            str(r.status),
            plain(r.objective),
            plain(r.bound),
            None if r.bound_voucher is None else str(r.bound_voucher),
            r.gap,
            plain(self.ratio.low) if self.ratio else None,
            plain(self.ratio.high) if self.ratio else None,
            plain(proven),
            r.limit_hit,
            r.time_s,
            r.seed,
        )
        return dict(zip(ROW_KEYS, values, strict=True))


def plain(x: Any) -> int | float | None:
    """Return an exact number as JSON holds it: an int where it is one, else a float."""
    if x is None or (isinstance(x, float) and x in (float("inf"), float("-inf"))):
        return None
    return int(x) if x == int(x) and not isinstance(x, float) else float(x)


def grid(
    paths: Iterable[Path | str],
    methods: Sequence[str] = (),
    limits: Limits | None = None,
    seeds: int = 1,
    first_seed: int = 0,
) -> list[Task]:
    """Return the runs that `compare` would do, in order.

    Raises
    ------
    InputError
        If a path, file or method name is wrong.
    """
    limits = limits or Limits()
    documents = [read_instance(path) for path in find_instances(paths)]
    systems = {d.problem.name: d.problem for d in documents}
    for spec in methods:
        if not any(knows(system, spec) for system in systems.values()):
            select(next(iter(systems.values())), [spec])  # says what is known
    tasks = []
    for document in documents:
        system = document.problem
        wanted = [s for s in methods or system.default_methods if knows(system, s)]
        by_name = [s for s in methods if knows(system, s) and s not in ("all", *KINDS)]
        named = {call.label for call in select(system, by_name)}
        for call in select(system, wanted):
            for seed in range(first_seed, first_seed + (seeds if call.method.stochastic else 1)):
                key = run_key(document.fingerprint, call, limits, seed, __version__)
                tasks.append(Task(document, call.label, limits, seed, call.label in named, key))
    return tasks


def compare(
    paths: Iterable[Path | str],
    methods: Sequence[str] = (),
    *,
    limits: Limits | None = None,
    seeds: int = 1,
    first_seed: int = 0,
    store: Path | str | None = None,
    rerun: bool = False,
    scheduler: str | None = None,
    workers: int = 1,
    on_result: Callable[[Result, int, int], None] | None = None,
) -> list[Entry]:
    """Run methods on instances and return the ratio table.

    Parameters
    ----------
    paths : iterable of paths
        Instance files, directories or globs.
    methods : sequence of str
        Names, kinds or "all"; default: what each system declares as its main comparison.
    limits : Limits
        For each run.
    seeds, first_seed : int
        Stochastic methods run once for each of `seeds` seeds from `first_seed` on.
    store : path, optional
        SQLite file; finished runs found in it are not repeated. Without it nothing is kept.
    rerun : bool
        Repeat runs that the store holds.
    scheduler : str, optional
        Address of a Dask scheduler that runs the solves.
    workers : int
        Local processes; 1 solves in this process.
    on_result : callable, optional
        Called as `on_result(result, done, total)` after each run.

    Notes
    -----
    A method that is not made for an instance makes no row there, unless it was asked for by name.

    Ctrl-C ends the comparison early; the table of what was finished is returned, and a warning says
    how much that is.
    """
    tasks = grid(paths, methods, limits, seeds, first_seed)
    with Store(None if store is None else Path(store)) as runs:
        # The same data may lie under several names; it is solved once.
        wanted = {t.key: t for t in tasks if rerun or not _finished(runs.get(t.key))}
        missing = list(wanted.values())
        total = len({t.key for t in tasks})
        done = total - len(missing)
        with contextlib.suppress(KeyboardInterrupt):
            for task, result in _execute(missing, scheduler, workers):
                done += 1
                runs.add(_stored(task, result))
                if on_result is not None:
                    on_result(result, done, total)
                if result.limit_hit == "interrupted":
                    break
        if done < total:
            logger.warning("interrupted: %d of %d runs are done", done, total)
        kept = [(t, run) for t in tasks if (run := runs.get(t.key)) is not None]
        left_out = sorted({t.spec for t, run in kept if run.result.refused and not t.named})
        if left_out:
            logger.warning("left out where they do not apply: %s", ", ".join(left_out))
        kept = [(t, run) for t, run in kept if t.named or not run.result.refused]
        # A row speaks of the file that was asked for, whatever name its data had when solved.
        named = [replace(r, result=replace(r.result, instance=t.document.name)) for t, r in kept]
    return entries(named)


def entries(runs: Sequence[StoredRun]) -> list[Entry]:
    """Hold stored runs against each other and attach ratio intervals."""
    results = cross_examine([run.result for run in runs], _sense)
    intervals = ratios(results, _sense)
    return [
        Entry(result, ratio, run.promises)
        for result, ratio, run in zip(results, intervals, runs, strict=True)
    ]


def _finished(run: StoredRun | None) -> bool:
    """Whether a stored run need not be repeated: an error may have been the environment's."""
    if run is None:
        return False
    failed = run.result.status is Status.ERROR and not run.result.refused
    return run.result.limit_hit != "interrupted" and not failed


def _stored(task: Task, result: Result) -> StoredRun:
    made = promises(task.document.problem, task.document.data, _call(task), result)
    return StoredRun(task.key, result, made, task.limits, __version__)


def _call(task: Task) -> MethodCall:
    return select(task.document.problem, [task.spec])[0]


def _sense(name: str) -> Any:
    return problem(name).sense


def _execute(
    tasks: Sequence[Task], scheduler: str | None, workers: int
) -> Iterator[tuple[Task, Result]]:
    if scheduler is None and workers == 1:
        for task in tasks:
            yield task, solve(task.document, _call(task), task.limits, task.seed)
    elif tasks:
        yield from _distribute(tasks, scheduler, workers)


def _distribute(
    tasks: Sequence[Task], scheduler: str | None, workers: int
) -> Iterator[tuple[Task, Result]]:
    """Run tasks on a Dask cluster, local or given, in the order in which they end."""
    from distributed import Client, LocalCluster, as_completed

    with contextlib.ExitStack() as stack:
        if scheduler is None:
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
            )
            stack.enter_context(cluster)
            client = stack.enter_context(Client(cluster))
        else:
            try:
                client = stack.enter_context(Client(scheduler, timeout="10s"))
            except (OSError, ValueError) as error:
                raise InputError(f"--scheduler: {scheduler}: cannot be reached: {error}") from None
        plain_tasks = [_packed(task) for task in tasks]
        futures = client.map(_run_packed, plain_tasks, pure=False, retries=1)
        by_key = {f.key: task for f, task in zip(futures, tasks, strict=True)}
        for future in as_completed(futures):
            task = by_key[future.key]
            failure = future.exception()
            if failure is None:
                yield task, future.result()
            else:
                reason = f"the worker failed: {type(failure).__name__}: {failure}"
                reason = reason.replace("\n", " ")
                document, limits = task.document, task.limits
                lost = MethodOutcome()
                yield task, judge(document, _call(task), lost, limits, task.seed, 0.0, reason)


def _packed(task: Task) -> tuple[str, str, Any, str, Limits, int]:
    d = task.document
    return d.problem.name, d.name, d.data, task.spec, task.limits, task.seed


def _run_packed(packed: tuple[str, str, Any, str, Limits, int]) -> Result:
    name, instance, data, spec, limits, seed = packed
    document = Document(problem(name), "instance", instance, data)
    return solve(document, spec, limits, seed)
