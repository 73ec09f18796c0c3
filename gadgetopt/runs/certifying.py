"""Proofs for the bounds of stored runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.runs import upkeep
from gadgetopt.runs.engine.interrupts import polite_interrupt
from gadgetopt.runs.engine.prover import proving
from gadgetopt.runs.rows import Row, StoredRun, from_row, to_row
from gadgetopt.runs.store import Store
from gadgetopt.system.files import Document
from gadgetopt.system.registry import sense_of
from gadgetopt.system.result import Result, Status
from gadgetopt.trust.infeasibility import is_verified
from gadgetopt.trust.proving import failed, why_unproved
from gadgetopt.trust.ratio import cross_examine


@dataclass
class Counts:
    """Of the runs that were tried: whose bound is verified now, and whose in part.

    `failed` counts searches that ended by an error that nobody expected.
    """

    runs: int = 0
    verified: int = 0
    partly: int = 0
    failed: int = 0
    interrupted: bool = False


def certify_store(
    path: Path,
    within: str,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    memory_mb: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Counts:
    """Prove the bounds of a store that nothing vouches for but a solver; keep what was proved.

    Each search is made in a process that is stopped at its limits. Ctrl-C ends the search at work
    within seconds; what it had proved by then is kept, too.

    Parameters
    ----------
    within : str
        Seconds for each run, or a multiple of its time such as `10x`.
    systems, methods, instances : sequence of str
        Names or patterns; all if empty.
    memory_mb : float, optional
        Memory that a search may take; default a share of the machine's.
    tell : callable
        Called with a line for each run.

    Raises
    ------
    InputError
        If there is no such store, or it cannot be used.
    """
    counts = Counts()
    if not path.exists():
        raise InputError(f"{path}: no such store")
    with (
        Store(path) as store,
        polite_interrupt() as asked,
        proving(within, memory_mb, asked) as prover,
    ):
        known = upkeep.facts(store)
        proved = _proved(store)
        chosen = upkeep.selected(known, systems, methods, instances, (), None, False)
        for fact in chosen:
            try:
                found = None if fact.key in proved else _to_prove(store, fact.key)
            except InputError as error:  # one damaged row is no reason to leave out the others
                tell(f"{fact.instance}, {fact.method}: left out: {error}")
                continue
            if found is None:
                continue
            if asked.is_set():
                break
            run, document = found
            counts.runs += 1
            result, said = _kept(store, run, prover.proved(run, document))
            if is_verified(result):
                counts.verified += 1
            elif result.certificate is not None:
                counts.partly += 1
            counts.failed += failed(result) is not None
            tell(f"{result.instance}, {result.method}: {said or _said(result)}")
        counts.interrupted = asked.is_set()
    return counts


def _to_prove(store: Store, key: str) -> tuple[StoredRun, Document] | None:
    """Return a run and its instance; None if there is nothing of it to prove."""
    run = store.get(key)
    if run is None or run.result.status in (Status.ERROR, Status.NOT_APPLICABLE):
        return None
    if is_verified(run.result):  # that there is no optimum, which `_proved` does not see
        return None
    if run.result.objective is not None and run.result.bound is None:
        return None
    document = store.instance(run.result.fingerprint)
    return None if document is None else (run, document)


def _kept(store: Store, run: StoredRun, row: Row) -> tuple[Result, str]:
    """Write what was proved of a run; return the result that the store has now, and why not this.

    Somebody else may have done or proved the run meanwhile, which is then left as it is.
    """
    before = to_row(run)
    if row == before:
        return run.result, ""
    now = store.get(run.key)
    if now is None or to_row(now) != before:
        return (run if now is None else now).result, "changed meanwhile by another process"
    store.add_row(row)
    return from_row(row).result, ""


def _said(result: Result) -> str:
    if is_verified(result):
        return "verified"
    how = "not proved" if result.certificate is None else "proved in part"
    return f"{how}: {why_unproved(result)}"


def _proved(store: Store) -> set[str]:
    """Return the keys of runs whose bound is verified, or follows from another run's that is."""
    runs = store.runs(details=False)
    examined = cross_examine([run.result for run in runs], sense_of)
    return {run.key for run, result in zip(runs, examined, strict=True) if is_verified(result)}
