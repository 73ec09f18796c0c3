"""What may improve an entry: solutions and proofs, of the runs of a store or of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gadgetopt import __version__
from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.runs.rows import decode_number
from gadgetopt.runs.store import Store
from gadgetopt.system.data import Certificate, Solution
from gadgetopt.system.files import Document, read, read_instance, read_solution
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Voucher

#: Runs of a store on one instance of which the solution, or the proof, is looked at: the best may
#: be damaged or unproved here, and whatever many say is wrong is not looked at for hours.
#: By definition.
MOST_TRIED = 3

_RUNS = """
SELECT key, objective, bound, bound_voucher, status, certificate IS NOT NULL AS proved, finished_at
FROM runs WHERE problem = ? AND fingerprint = ? AND status <> 'error' ORDER BY position
"""


@dataclass(frozen=True)
class Candidate:
    """A solution or a proof, and what its step in the history will say.

    `claimed` is the objective or bound that a store has of it; None if it is not known.
    """

    data: Solution | Certificate
    told: Mapping[str, Any]
    claimed: Number | None = None


@dataclass(frozen=True)
class Candidates:
    """All that may improve the entry of one instance, the best first."""

    document: Document[Any]
    solutions: Sequence[Candidate] = ()
    proofs: Sequence[Candidate] = field(default=())


def of_store(store: Store, by: str) -> Iterator[Candidates]:
    """Yield what the runs of a store have found, instance by instance."""
    for fingerprint, stored in store.instances().items():
        runs = list(store.query(_RUNS, (stored.problem, fingerprint)))
        if not runs:
            continue
        document = store.instance(fingerprint)
        if document is None or "within" in document.origin:
            continue
        solved = [r for r in runs if r["objective"] is not None]
        minimise = document.sense == "min"
        solved.sort(key=lambda r: _key(r["objective"], minimise))
        proved = [
            r
            for r in runs
            if r["proved"] and (r["bound_voucher"] == str(Voucher.VERIFIED) or r["bound"] is None)
        ]
        proved.sort(key=lambda r: _key(r["bound"], not minimise))
        yield Candidates(
            document,
            [c for r in solved[:MOST_TRIED] if (c := _of_run(store, r, "solution", by))],
            [c for r in proved[:MOST_TRIED] if (c := _of_run(store, r, "certificate", by))],
        )


def _key(text: str | None, least_first: bool) -> Any:
    """Return what sorts the best first; a proof without a number is one of infeasibility."""
    if text is None:
        return (0, 0)
    value = decode_number(text)
    assert value is not None
    return (1, value if least_first else -value)


def _of_run(store: Store, row: Mapping[str, Any], what: str, by: str) -> Candidate | None:
    run = store.get(row["key"])
    if run is None:
        return None
    result = run.result
    data = result.solution if what == "solution" else result.certificate
    if data is None:
        return None
    told = {
        "date": str(row["finished_at"])[:10],
        "by": by,
        "method": result.method,
        "ours": True,
        "seed": result.seed,
        "time_s": round(result.time_s, 3),
        "time_limit_s": run.limits.time_s,
        "version": run.version,
    }
    claimed = result.objective if what == "solution" else result.bound
    return Candidate(data, told, claimed)


def of_files(
    paths: Sequence[Path], by: str, method: str, version: str, seed: int | None
) -> Candidates:
    """Return what files hold: an instance, and solutions and certificates of it.

    Raises
    ------
    InputError
        If there is not one instance, or nothing beside it.
    """
    instance = read_instance(paths[0])
    system = instance.problem
    try:
        ours = not version and bool(find_method(system, method))
    except InputError:
        ours = False
    told = {
        "date": today(),
        "by": by,
        "method": method,
        "ours": ours,
        "seed": seed,
        "version": version or __version__,
    }
    solutions: list[Candidate] = []
    proofs: list[Candidate] = []
    for path in paths[1:]:
        document = read_solution(path, instance) if path.suffix == ".sol" else read(path)
        if document.problem.name != system.name:
            raise InputError(
                f"{path}: problem: {document.problem.name!r}, expected {system.name!r} "
                f"as in {paths[0]}"
            )
        if document.kind == "instance":
            raise InputError(f"{path}: kind: 'instance', expected a solution or a certificate")
        (solutions if document.kind == "solution" else proofs).append(
            Candidate(document.data, told)
        )
    if not solutions and not proofs:
        raise InputError(f"{paths[0]}: is alone, expected a solution or a certificate beside it")
    return Candidates(instance, solutions, proofs)


def today() -> str:
    """Return this day, as histories write it."""
    return datetime.now(UTC).date().isoformat()
