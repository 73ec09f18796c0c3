"""Proofs for the bounds of stored runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.runs import upkeep
from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.runs.engine.interrupts import polite_interrupt
from gadgetopt.runs.store import Store
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.ratio import cross_examine


@dataclass
class Counts:
    """Of the runs that were tried: whose bound is verified now, and whose in part."""

    runs: int = 0
    verified: int = 0
    partly: int = 0
    interrupted: bool = False


def certify_store(
    path: Path,
    within: str,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> Counts:
    """Prove the bounds of a store that nothing vouches for but a solver; keep what was proved.

    Parameters
    ----------
    within : str
        Seconds for each run, or a multiple of its time such as `10x`.
    systems, methods, instances : sequence of str
        Names or patterns; all if empty.
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
    with Store(path) as store, polite_interrupt() as asked:
        known = upkeep.facts(store)
        proved = _proved(store)
        chosen = upkeep.selected(known, systems, methods, instances, (), None, False)
        for fact in chosen:
            run = store.get(fact.key)
            if run is None or fact.key in proved or run.result.bound is None:
                continue
            document = store.instance(run.result.fingerprint)
            if document is None or run.result.status is Status.ERROR:
                continue
            if asked.is_set():
                counts.interrupted = True
                break
            counts.runs += 1
            seconds = budget_s(within, run.result.time_s)
            result = certify(document, run.result, seconds, asked.is_set)
            said = "not proved"
            if result.bound_voucher is Voucher.VERIFIED:
                counts.verified, said = counts.verified + 1, "verified"
            elif result.certificate is not None:
                counts.partly, said = counts.partly + 1, "proved in part"
            if result is not run.result:
                store.add(replace(run, result=result))
            tell(f"{result.instance}, {result.method}: {said}")
    return counts


def _proved(store: Store) -> set[str]:
    """Return the keys of runs whose bound is verified, or follows from another run's that is."""
    runs = store.runs(details=False)
    examined = cross_examine([run.result for run in runs], lambda name: problem(name).sense)
    return {
        run.key
        for run, result in zip(runs, examined, strict=True)
        if result.bound_voucher is Voucher.VERIFIED
    }
