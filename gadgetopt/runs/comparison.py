"""Run every method on every instance with every seed, and store each run as soon as it ends."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gadgetopt.errors import SchedulerLost
from gadgetopt.numbers.compiling import listening
from gadgetopt.runs.code.functions import named
from gadgetopt.runs.engine.batch import Batch
from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.runs.engine.searches import following
from gadgetopt.runs.engine.waiting import every
from gadgetopt.runs.grid import Grid, grid
from gadgetopt.runs.others import Others, Where, count_others, other_runs
from gadgetopt.runs.progress import Watch
from gadgetopt.runs.rows import (
    DETAILS,
    Row,
    StoredRun,
    from_row,
)
from gadgetopt.runs.store import Store, StoredInstance
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.display import DisplayedResult
from gadgetopt.system.files import Document
from gadgetopt.system.plugins import in_use, plugged
from gadgetopt.system.registry import problem, sense_of
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.infeasibility import Infeasible, proved_infeasible
from gadgetopt.trust.proving import PROOF
from gadgetopt.trust.ratio import Ratio, cross_examine, ratios
from gadgetopt.trust.theorems import Promise, of_result, proven_ratio

logger: logging.Logger = logging.getLogger(__name__)

#: Seconds between two looks at a run in this very process.
TICK_S = 0.25


@dataclass(frozen=True, repr=False)
class Entry(DisplayedResult):
    """One line of the ratio table: a result, its ratio interval, and the theorems about it.

    Attributes
    ----------
    net_ratio : Ratio or None
        The ratio without the problem's `fixed_part`, where there is one.
    limits : Limits
        What the run was allowed to use.
    version, code : str
        The version and the source code that made it; empty or None if unknown.
    stored : StoredInstance or None
        Size and features of its instance.
    others : Others
        How many runs of the store, that are not in the table, count in the instance's ratios.
    infeasible : Infeasible or None
        The proof, by this or another run, that the instance has no solution.
    """

    result: Result
    ratio: Ratio | None
    promises: tuple[Promise, ...] = ()
    net_ratio: Ratio | None = None
    limits: Limits = field(default_factory=Limits)
    version: str = ""
    code: str | None = None
    stored: StoredInstance | None = None
    others: Others = field(default_factory=Others)
    infeasible: Infeasible | None = None

    def row(self) -> dict[str, Any]:
        """Return the row with the keys of `ROW_KEYS`, its numbers as JSON can represent them."""
        return {key: value(self) for key, value in _ROW.items()}


def plain(x: Any) -> int | float | None:
    """Return a number for JSON: an int if it is an exact integer, else a float."""
    if x is None or abs(x) > sys.float_info.max:  # other programs cannot read it
        return None
    return int(x) if x == int(x) and not isinstance(x, float) else float(x)


def _of_proof(entry: Entry, what: str) -> Any:
    """Return what is known of the proof that a run has of its bound, or of a part of it."""
    told = entry.result.notes.get(PROOF)
    return told.get(what) if isinstance(told, dict) else None


_ROW: dict[str, Callable[[Entry], Any]] = {
    "instance": lambda entry: entry.result.instance,
    "problem": lambda entry: entry.result.problem,
    "method": lambda entry: entry.result.method,
    "kind": lambda entry: entry.result.kind,
    "status": lambda entry: str(entry.result.status),
    "objective": lambda entry: plain(entry.result.objective),
    "bound": lambda entry: plain(entry.result.bound),
    "bound_voucher": lambda entry: _text(entry.result.bound_voucher),
    "gap": lambda entry: plain(entry.result.gap),
    "ratio_low": lambda entry: plain(entry.ratio.low) if entry.ratio else None,
    "ratio_high": lambda entry: plain(entry.ratio.high) if entry.ratio else None,
    "net_ratio_low": lambda entry: plain(entry.net_ratio.low) if entry.net_ratio else None,
    "net_ratio_high": lambda entry: plain(entry.net_ratio.high) if entry.net_ratio else None,
    "guarantee": lambda entry: plain(proven_ratio(entry.promises)),
    "limit_hit": lambda entry: entry.result.limit_hit,
    "time_s": lambda entry: entry.result.time_s,
    "seed": lambda entry: entry.result.seed,
    "proof_kind": lambda entry: _of_proof(entry, "kind"),
    "proof_formulation": lambda entry: _of_proof(entry, "formulation"),
    "proof_method": lambda entry: _of_proof(entry, "method"),
    "proof_leaves": lambda entry: _of_proof(entry, "leaves"),
    "proof_steps": lambda entry: _of_proof(entry, "steps"),
    "proof_bytes": lambda entry: _of_proof(entry, "bytes"),
    "proof_s": lambda entry: _of_proof(entry, "prove_s"),
    "proof_check_s": lambda entry: _of_proof(entry, "check_s"),
}

#: The keys of a row of the ratio table, in order.
ROW_KEYS = tuple(_ROW)


def _text(x: Any) -> str | None:
    return None if x is None else str(x)


def compare(
    paths: Iterable[Path | str],
    methods: Sequence[str | Callable[..., Any]] = (),
    *,
    plugins: Iterable[Path | str] = (),
    limits: Limits | None = None,
    seeds: int = 1,
    first_seed: int = 0,
    store: Path | str | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    grace_s: float | None = None,
    certify: str | None = None,
    within: str | None = None,
    details: bool = True,
    on_result: Callable[[Result, int, int], None] | None = None,
    watch: Watch | None = None,
    further: Callable[[Sequence[Document]], Sequence[StoredRun]] | None = None,
) -> list[Entry]:
    """Run methods on instances and return the ratio table.

    Parameters
    ----------
    paths : iterable of paths
        Instance files, directories or globs.
    methods : sequence of str or callable
        Names, kinds, "all", or "default", what each system declares as its main comparison and what
        an empty sequence means; or functions of yours, as `gadgetopt.method` takes them. They, too,
        run in processes of their own.
    plugins : iterable of paths
        Files of Python whose methods and other parts may be used (`gadgetopt.load_plugin`).
    limits : Limits
        For each run. Time and memory are enforced from outside the method.
    seeds, first_seed : int
        Stochastic methods run once for each of `seeds` seeds from `first_seed` on.
    store : path, optional
        SQLite file; finished runs found in it are not repeated. Without it nothing is kept.
    fresh : bool
        Repeat runs that the store holds.
    retry_errors : bool
        Repeat runs that the store holds as errors.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the runs.
    workers : int, optional
        Runs at a time on this machine; default as many as its cores allow. 0 does them in this very
        process, where nothing is enforced and a method that crashes ends everything: for debugging.
    grace_s : float, optional
        Seconds beyond its time limit that a run may take at most, judging included: a method is
        interrupted after half of it; default the larger of 5 s and a tenth of the limit.
    certify : str, optional
        Seconds such as "30", or a multiple of each run's such as "10x", for proving its bound.
    within : str, optional
        A tolerance such as "1e-6" within which rows of model files may hold: the relaxed models are
        solved, as instances of their own (`Document.within`).
    details : bool
        True if the results include their solutions, certificates and traces.
    on_result : callable, optional
        Called as `on_result(result, done, total)` after each run, without those details.
    watch : Watch, optional
        Notified of everything that happens.
    further : callable, optional
        Returns runs on the instances that count in the ratios beside those of the store, such as
        the records (`gadgetopt.records.known.runs_of`).

    Raises
    ------
    InputError
        If a path, single file or method name is wrong, or the scheduler cannot be used.
    SchedulerLost
        If the scheduler is lost; finished runs are in the store.

    Notes
    -----
    A method that does not support an instance has no row for it, unless it was named explicitly.

    A file among several that cannot be read is warned of, and the others are solved; `watch` is
    told of it. A single such file is an error.

    Ratios are those to the best solution and bound of all runs of the store on an instance, also of
    methods that are not compared; `Entry.others` counts them.

    Ctrl-C ends the comparison early; the table of the finished runs is returned, and a warning says
    how many there are.
    """
    limits = limits or Limits()
    names, functions = named(methods)
    if certify is not None:
        budget_s(certify, 0.0)
    grace_s = default_grace_s(limits.time_s) if grace_s is None else grace_s
    watch = watch or Watch()
    with contextlib.ExitStack() as opened:
        opened.enter_context(plugged(plugins, functions))
        runs = grid(paths, names, limits, seeds, first_seed, within or "0")
        watch.cannot_read(runs.unreadable)
        kept = opened.enter_context(Store(None if store is None else Path(store)))
        batch = Batch(runs, kept, grace_s, fresh, retry_errors, certify or "")
        kept.add_origins(runs.documents)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                for row in _execute(batch, scheduler, workers, watch):
                    watch.result(row, batch)
                    logger.info(
                        "%s, %s: %s in %.2f s",
                        row["instance"],
                        row["method"],
                        row["status"],
                        row["time_s"],
                    )
                    if on_result is not None:
                        on_result(from_row(_without_details(row)).result, batch.done, batch.total)
        except SchedulerLost as lost:
            raise SchedulerLost(
                f"{lost}; {batch.done} of {batch.total} runs are done; "
                "repeat the command to continue"
            ) from None
        if batch.done < batch.total:
            logger.warning("interrupted: %d of %d runs are done", batch.done, batch.total)
            watch.interrupted(batch)
        known = () if further is None else further(runs.documents)
        return _table(runs, kept, details, watch, known)


def _execute(
    batch: Batch, scheduler: str | None, workers: int | None, watch: Watch
) -> Iterator[Row]:
    """Do the missing runs of a batch; yield each row once it is stored."""
    if batch.done == batch.total:
        watch.opened(batch)
        return
    with listening(watch.compiling), following(batch.session) as watch.searches:
        yield from _executed(batch, scheduler, workers, watch)


def _executed(
    batch: Batch, scheduler: str | None, workers: int | None, watch: Watch
) -> Iterator[Row]:
    if workers == 0 and scheduler is None:
        from gadgetopt.runs.engine.finish import run_here  # loads what runs methods

        watch.opened(batch)
        watch.begin(batch, None)
        for job in batch.jobs():
            if job is None:
                time.sleep(0.1)
                continue
            with every(TICK_S, lambda: watch.tick(batch, 1)):
                made = run_here(*job)
            row = batch.record(*job, made)
            if row is not None:
                yield row
            if row is not None and row["limit_hit"] == "interrupted":
                return
        return
    from gadgetopt.runs.engine.client import Engine, local_workers

    if workers is None:
        workers = local_workers(batch.grid.limits.threads)
    with Engine(batch.session, scheduler, workers, in_use()) as engine:
        watch.opened(batch)
        watch.begin(batch, engine.dashboard)

        def tick() -> None:
            batch.keep_claims()
            watch.tick(batch, engine.running)

        runs = batch.total - batch.done
        for work, document, outcome in engine.results(batch.jobs(), tick, runs):
            row = batch.record(work, document, outcome)
            if row is not None:
                yield row


def _without_details(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in DETAILS}


def _table(
    runs: Grid, store: Store, details: bool, watch: Watch, further: Sequence[StoredRun] = ()
) -> list[Entry]:
    """Return the table of a grid's runs that are in the store."""
    keys = list({task.key: None for task in runs})
    found = store.runs_of(keys, details)
    kept = [(t, found[t.key]) for t in runs if t.key in found]
    left_out = {
        (t.document.problem.name, t.spec, t.document.fingerprint): None
        for t, run in kept
        if run.result.refused and not t.named
    }
    watch.leave_out(dict(Counter((system, method) for system, method, _ in left_out)))
    kept = [(t, run) for t, run in kept if t.named or not run.result.refused]
    # A row names the file that was given, even if the same data was solved under another name.
    named = [
        replace(run, result=replace(run.result, instance=t.document.name, document=t.document))
        for t, run in kept
    ]
    others = other_runs(store, runs, keys)
    return entries(named, store.instances, [*others, *further], count_others(others, runs))


def entries(
    runs: Sequence[StoredRun],
    stored: Callable[[], Mapping[str, StoredInstance]],
    others: Sequence[StoredRun] = (),
    numbers: Mapping[Where, Others] | None = None,
) -> list[Entry]:
    """Compare stored runs with each other and attach ratio intervals.

    Parameters
    ----------
    runs : sequence of StoredRun
    stored : callable
        Returns the instances of the runs' store, by fingerprint.
    others : sequence of StoredRun
        Runs that have no entry, but whose bounds and solutions count.
    numbers : mapping, optional
        How many of these there are on each instance.
    """
    results = cross_examine([run.result for run in (*runs, *others)], sense_of)
    instances, lent, nothing = stored(), numbers or {}, Others()
    hopeless = proved_infeasible(results)

    def fixed(result: Result) -> float | None:
        name, instance = _fixed_part(result.problem), instances.get(result.fingerprint)
        return instance.features.get(name) if name and instance is not None else None

    both = zip(ratios(results, sense_of), ratios(results, sense_of, fixed), strict=True)
    # Those of the other runs come last, and are left out.
    return [
        Entry(
            result,
            ratio,
            of_result(run.promises, result),
            net,
            run.limits,
            run.version,
            run.code,
            instances.get(result.fingerprint),
            lent.get((result.problem, result.fingerprint), nothing),
            hopeless.get((result.problem, result.fingerprint)),
        )
        for run, result, (ratio, net) in zip(runs, results, both, strict=False)
    ]


def _fixed_part(name: str) -> str:
    return problem(name).fixed_part
