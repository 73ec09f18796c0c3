"""One SQLite file of runs: a row is written the moment its run ends, and found again by its key."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.methods import MethodCall
from gadgetopt.numbers import Number
from gadgetopt.result import Evaluation, Limits, Result, Status, TracePoint, Violation, Voucher
from gadgetopt.theorems import Promise

#: Marks the file as ours (SQLite's application_id) and versions its tables (user_version).
APPLICATION_ID = 0x47444F50
SCHEMA_VERSION = 2

_TABLE = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    problem TEXT NOT NULL,
    instance TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    formulation TEXT,
    backend TEXT,
    parameters TEXT NOT NULL,
    seed INTEGER,
    limits TEXT NOT NULL,
    version TEXT NOT NULL,
    status TEXT NOT NULL,
    objective TEXT,
    claimed_objective TEXT,
    bound TEXT,
    bound_voucher TEXT,
    gap REAL,
    limit_hit TEXT,
    reason TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    time_s REAL NOT NULL,
    promises TEXT NOT NULL,
    solution TEXT,
    certificate TEXT,
    evaluation TEXT,
    trace TEXT NOT NULL,
    phases_s TEXT NOT NULL,
    versions TEXT NOT NULL,
    notes TEXT NOT NULL,
    finished_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT
"""

#: What turns the tables of each version into those of the next.
_MIGRATIONS = {
    1: (
        "ALTER TABLE runs ADD COLUMN certificate TEXT",
        "ALTER TABLE runs ADD COLUMN refused INTEGER NOT NULL DEFAULT 0",
    )
}


@dataclass(frozen=True)
class StoredRun:
    """A result with the theorems' promises for it and the limits it was obtained under."""

    key: str
    result: Result
    promises: tuple[Promise, ...]
    limits: Limits
    version: str


def run_key(
    fingerprint: str, call: MethodCall, limits: Limits, seed: int | None, version: str
) -> str:
    """Return the key of a run: what was asked of which version of the system."""
    parts = {
        "fingerprint": fingerprint,
        "method": call.method.name,
        "parameters": call.all_parameters,
        "limits": asdict(limits),
        "seed": seed,
        "version": version,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


class Store:
    """The runs of one file, or of none: `Store(None)` lives in memory.

    Raises
    ------
    InputError
        If the file is not a store, is damaged, or was written by a newer gadgetopt. It is then left
        as it is.
    """

    def __init__(self, path: Path | None, create: bool = True):
        self.path = path
        self.create = create
        if path is not None and not create and not path.exists():
            raise InputError(f"{path}: no such store")
        with self._clear_errors():
            self.connection = sqlite3.connect(path or ":memory:", timeout=60, isolation_level=None)
            self._prepare()

    def _prepare(self) -> None:
        execute = self.connection.execute
        ours = execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        version = execute("PRAGMA user_version").fetchone()[0]
        tables = execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if ours and version > SCHEMA_VERSION:
            raise InputError(
                f"{self.path}: store of version {version}, expected at most {SCHEMA_VERSION} "
                "(written by a newer gadgetopt)"
            )
        if not ours and (tables or not self.create):
            raise InputError(f"{self.path}: an SQLite file, but not a gadgetopt store")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        if not ours:
            # IF NOT EXISTS cannot be used with the marks: two clients that open a new file at the
            # same time are kept apart by the write lock.
            execute("BEGIN IMMEDIATE")
            if execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                execute(_TABLE)
                execute(f"PRAGMA application_id = {APPLICATION_ID}")
                execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            execute("COMMIT")
        elif version < SCHEMA_VERSION:
            execute("BEGIN IMMEDIATE")
            for step in range(execute("PRAGMA user_version").fetchone()[0], SCHEMA_VERSION):
                for statement in _MIGRATIONS[step]:
                    execute(statement)
            execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            execute("COMMIT")

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: cannot be used as a store: {error}") from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def add(self, run: StoredRun) -> None:
        """Write a run; one already there under the same key is replaced."""
        row = _to_row(run)
        marks = ", ".join(f":{name}" for name in row)
        with self._clear_errors():
            self.connection.execute(
                f"INSERT OR REPLACE INTO runs ({', '.join(row)}) VALUES ({marks})", row
            )

    def get(self, key: str) -> StoredRun | None:
        """Return the run stored under a key."""
        with self._clear_errors():
            cursor = self.connection.execute("SELECT * FROM runs WHERE key = ?", (key,))
            row = cursor.fetchone()
        return None if row is None else _from_row(_named(cursor, row))

    def runs(self) -> list[StoredRun]:
        """Return all runs in the order in which they were stored."""
        with self._clear_errors():
            cursor = self.connection.execute("SELECT * FROM runs ORDER BY rowid")
            return [_from_row(_named(cursor, row)) for row in cursor.fetchall()]


def _named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((d[0] for d in cursor.description), row, strict=True))


# -- exact numbers in text -------------------------------------------------------------------------


def encode_number(x: Number | None) -> str | None:
    """Write a number so that it comes back the same: `5`, `10/3`, `0.25`."""
    if x is None:
        return None
    return repr(float(x)) if isinstance(x, float) else str(Fraction(x))


def decode_number(text: str | None) -> Number | None:
    """Read what `encode_number` wrote."""
    if text is None:
        return None
    if "/" in text:
        return Fraction(text)
    try:
        return int(text)
    except ValueError:
        return float(text)


# -- rows ------------------------------------------------------------------------------------------


def _to_row(run: StoredRun) -> dict[str, Any]:
    r = run.result
    return {
        "key": run.key,
        "problem": r.problem,
        "instance": r.instance,
        "fingerprint": r.fingerprint,
        "method": r.method,
        "kind": r.kind,
        "formulation": r.formulation,
        "backend": r.backend,
        "parameters": _json(dict(r.parameters)),
        "seed": r.seed,
        "limits": _json(asdict(run.limits)),
        "version": run.version,
        "status": str(r.status),
        "objective": encode_number(r.objective),
        "claimed_objective": encode_number(r.claimed_objective),
        "bound": encode_number(r.bound),
        "bound_voucher": None if r.bound_voucher is None else str(r.bound_voucher),
        "gap": r.gap,
        "limit_hit": r.limit_hit,
        "reason": r.reason,
        "refused": int(r.refused),
        "time_s": r.time_s,
        "promises": _json([asdict(p) | {"ratio": encode_number(p.ratio)} for p in run.promises]),
        "solution": None if r.solution is None else r.solution.model_dump_json(exclude_none=True),
        "certificate": None
        if r.certificate is None
        else r.certificate.model_dump_json(exclude_none=True),
        "evaluation": _evaluation_json(r.evaluation),
        "trace": _json(
            [[p.time_s, encode_number(p.incumbent), encode_number(p.bound)] for p in r.trace]
        ),
        "phases_s": _json(dict(r.phases_s)),
        "versions": _json(dict(r.versions)),
        "notes": _json(dict(r.notes)),
    }


def _from_row(row: dict[str, Any]) -> StoredRun:
    from gadgetopt.files import record_type
    from gadgetopt.registry import problem

    voucher = row["bound_voucher"]
    records = {}
    for kind in ("solution", "certificate"):
        text = row[kind]
        if text is not None:
            record = record_type(problem(row["problem"]), kind, json.loads(text))
            records[kind] = record.model_validate_json(text)
    result = Result(
        problem=row["problem"],
        instance=row["instance"],
        fingerprint=row["fingerprint"],
        method=row["method"],
        kind=row["kind"],
        parameters=json.loads(row["parameters"]),
        formulation=row["formulation"],
        backend=row["backend"],
        status=Status(row["status"]),
        objective=decode_number(row["objective"]),
        claimed_objective=decode_number(row["claimed_objective"]),
        bound=decode_number(row["bound"]),
        bound_voucher=None if voucher is None else Voucher(voucher),
        gap=row["gap"],
        limit_hit=row["limit_hit"],
        time_s=row["time_s"],
        seed=row["seed"],
        solution=records.get("solution"),
        certificate=records.get("certificate"),
        evaluation=_evaluation(row["evaluation"]),
        reason=row["reason"],
        refused=bool(row["refused"]),
        trace=tuple(
            TracePoint(t, decode_number(i), decode_number(b))
            for t, i, b in json.loads(row["trace"])
        ),
        phases_s=json.loads(row["phases_s"]),
        versions=json.loads(row["versions"]),
        notes=json.loads(row["notes"]),
    )
    made = tuple(
        Promise(**{**p, "ratio": decode_number(p["ratio"]), "failing": tuple(p["failing"])})
        for p in json.loads(row["promises"])
    )
    limits = Limits(**json.loads(row["limits"]))
    return StoredRun(row["key"], result, made, limits, row["version"])


def _evaluation_json(evaluation: Evaluation | None) -> str | None:
    if evaluation is None:
        return None
    return _json(
        {
            "objective": encode_number(evaluation.objective),
            "violations": [
                [v.constraint, v.where, encode_number(v.amount)] for v in evaluation.violations
            ],
            "components": {k: encode_number(v) for k, v in evaluation.components.items()},
        }
    )


def _evaluation(text: str | None) -> Evaluation | None:
    if text is None:
        return None
    plain = json.loads(text)
    return Evaluation(
        decode_number(plain["objective"]),
        tuple(Violation(c, w, decode_number(a) or 0) for c, w, a in plain["violations"]),
        {k: decode_number(v) or 0 for k, v in plain["components"].items()},
    )


def _json(value: Any) -> str:
    return json.dumps(value, default=str)
