"""What the records know of an instance: for `best`, and for the ratios of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gadgetopt.records.record import Record
from gadgetopt.records.shelf import Entry, read_entry, shelf
from gadgetopt.runs.rows import StoredRun, decode_number
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Result, Status, Voucher
from gadgetopt.trust.judgement import relative_gap

#: The name under which an entry takes part in a comparison.
RECORDS = "records"


def best(instance: Document[Any], folder: Path | None = None) -> Entry | None:
    """Return the entry of an instance, whatever it is called; None if there is none."""
    top = shelf() if folder is None else folder
    wanted = f'"fingerprint": "{instance.fingerprint}"'.encode()
    for path in sorted((top / instance.problem.name).glob("*.json")):
        if wanted in path.read_bytes():
            return read_entry(path)
    return None


def runs_of(documents: Sequence[Document[Any]], folder: Path | None = None) -> list[StoredRun]:
    """Return the entries of instances as runs that count in the ratios of others.

    Their bounds are verified, as `check` says and as they were when they were taken over; they are
    not proved again here.
    """
    found = {(d.problem.name, d.fingerprint): d for d in documents}
    entries = [(document, best(document, folder)) for document in found.values()]
    return [_run(document, entry.record) for document, entry in entries if entry is not None]


def _run(document: Document[Any], record: Record) -> StoredRun:
    objective, bound = decode_number(record.best_objective), decode_number(record.best_bound)
    statuses = {"closed": Status.OPTIMAL, "open": Status.FEASIBLE, "infeasible": Status.INFEASIBLE}
    status = statuses[record.status]
    if objective is None and status is Status.FEASIBLE:
        status = Status.NO_SOLUTION
    finite = bound if status is not Status.INFEASIBLE else None
    result = Result(
        problem=record.problem,
        instance=document.name,
        fingerprint=record.fingerprint,
        method=RECORDS,
        kind="exact",
        parameters={},
        formulation=None,
        backend=None,
        status=status,
        objective=objective,
        claimed_objective=None,
        bound=finite,
        bound_voucher=None if finite is None else Voucher.VERIFIED,
        gap=relative_gap(objective, finite),
        limit_hit=None,
        time_s=0.0,
        seed=None,
        sense=document.sense,
    )
    return StoredRun(RECORDS, result, (), Limits(), "")
