"""A run as one row of plain values, as stored and as sent by solver processes."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.methods import MethodCall
from gadgetopt.system.reading import read_bytes
from gadgetopt.system.result import (
    Evaluation,
    Limits,
    Result,
    Status,
    TracePoint,
    Violation,
    Voucher,
)
from gadgetopt.trust.theorems import Promise

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Sense

#: One value per column of the table of runs.
Row = dict[str, Any]

#: Columns that are needed only to look at a single run.
DETAILS = ("solution", "certificate", "evaluation", "trace")


@dataclass(frozen=True)
class StoredRun:
    """A result with the limits of its run and the ratios that theorems promise for it.

    `code` identifies the source code that made it (`gadgetopt.runs.code`); None if unknown.
    """

    key: str
    result: Result
    promises: tuple[Promise, ...]
    limits: Limits
    version: str
    code: str | None = None


@dataclass(frozen=True)
class RunExtras:
    """Further parts of a run for the report, read without rebuilding its solution."""

    trace: tuple[TracePoint, ...]
    components: Mapping[str, Number]
    finished_at: str
    solution_digest: str | None


def run_key(fingerprint: str, call: MethodCall, limits: Limits, seed: int | None, code: str) -> str:
    """Return the key of a run: a digest of what was asked, of which code."""
    parts = {
        "fingerprint": fingerprint,
        "method": call.method.name,
        "parameters": call.all_parameters,
        "limits": limits.asked(),
        "seed": seed,
        "code": code,
    }
    files = {name: _content(call.all_parameters[name]) for name in call.method.files}
    if files:
        parts["files"] = files
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _content(path: str) -> str | None:
    """Return the digest of a file; None if there is none, which the method then says."""
    try:
        stat = os.stat(path)
        return _digest(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, InputError):
        return None


@lru_cache(maxsize=64)
def _digest(path: str, _changed_ns: int, _bytes: int) -> str:
    return hashlib.sha256(read_bytes(Path(path))).hexdigest()


# -- exact numbers in text -------------------------------------------------------------------------


def encode_number(x: Number | None) -> str | None:
    """Return a number as text that reads back as the same number: `5`, `10/3`, `0.25`."""
    if x is None:
        return None
    return repr(float(x)) if isinstance(x, float) else str(Fraction(x))


def decode_number(text: str | None) -> Number | None:
    """Read what `encode_number` wrote.

    Raises
    ------
    ValueError
        If the text is no number.
    """
    if text is None:
        return None
    try:
        if "/" in text:
            return Fraction(text)
        return int(text)
    except ZeroDivisionError:
        raise ValueError(f"{text[:20]!r} is not a number") from None
    except ValueError:
        number = float(text)
    if math.isnan(number) or (math.isinf(number) and text not in ("inf", "-inf")):
        raise ValueError(f"{text[:20]!r} is not a number")
    return number


# -- rows ------------------------------------------------------------------------------------------


def to_row(run: StoredRun) -> Row:
    """Return a run as a row of the table of runs."""
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
        "limits": _json(run.limits.asked()),
        "version": run.version,
        "code": run.code,
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
        "sense": r.sense,
    }


#: Most bytes of text in a row; SQLite's own limit is 10^9.
MOST_BYTES = 200_000_000


def checked_row(run: StoredRun) -> Row:
    """Return a run's row if the store can hold it.

    Raises
    ------
    ValueError
        If a value does not fit into the table, which only a faulty method can cause.
    """
    row, length = to_row(run), 0
    for name, value in row.items():
        if isinstance(value, str):
            try:
                length += len(value.encode())
            except UnicodeEncodeError:
                raise ValueError(f"{name} cannot be encoded in UTF-8") from None
        elif isinstance(value, int) and not isinstance(value, bool):
            if abs(value) >= 2**63:
                raise ValueError(f"{name} is an integer beyond 64 bits")
        elif value is not None and not isinstance(value, float):
            raise ValueError(f"{name} is a {type(value).__name__}")
    if length > MOST_BYTES:
        raise ValueError(f"it takes {length / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}")
    return row


def from_row(row: Row) -> StoredRun:
    """Return the run of a row. Columns of `DETAILS` missing from the row are left empty in the run.

    Raises
    ------
    ValueError, TypeError or KeyError
        If the row holds values that no run produces.
    InputError
        If its system is not installed.
    """
    from gadgetopt.system.files import record_type
    from gadgetopt.system.registry import problem

    check_values(row)
    system, voucher = problem(row["problem"]), row["bound_voucher"]
    records = {}
    for kind in ("solution", "certificate"):
        text = row.get(kind)
        if text is not None:
            # Parsing takes long for large certificates, which mostly have no such key.
            told = any(key in text for key in ('"row_duals"', '"proof"'))
            record = record_type(system, kind, json.loads(text) if told else None)
            records[kind] = record.model_validate_json(text)
    result = Result(
        problem=sys.intern(row["problem"]),
        instance=sys.intern(row["instance"]),
        fingerprint=sys.intern(row["fingerprint"]),
        method=sys.intern(row["method"]),
        kind=sys.intern(row["kind"]),
        parameters=_mapping(row["parameters"]),
        formulation=row["formulation"],
        backend=row["backend"],
        status=status_of(row),
        objective=decode_number(row["objective"]),
        claimed_objective=decode_number(row["claimed_objective"]),
        bound=decode_number(row["bound"]),
        bound_voucher=None if voucher is None else Voucher(voucher),
        gap=row["gap"],
        limit_hit=row["limit_hit"],
        time_s=_seconds(row["time_s"]),
        seed=row["seed"],
        solution=records.get("solution"),
        certificate=records.get("certificate"),
        evaluation=evaluation_of(row.get("evaluation")),
        reason=row["reason"],
        trace=trace_of(row.get("trace", "[]")),
        phases_s=_object(row["phases_s"]),
        versions=_mapping(row["versions"]),
        notes=_object(row["notes"]),
        sense=_sense(row.get("sense")),
    )
    if (voucher is None) != (result.bound is None):
        raise ValueError("expected both of bound and bound_voucher, or neither")
    made, limits = _promises(row["promises"]), _limits(row["limits"])
    code = row.get("code")  # absent in older tables
    code = None if code is None else sys.intern(code)
    return StoredRun(row["key"], result, made, limits, sys.intern(row["version"]), code)


def _sense(text: str | None) -> Sense | None:
    """Return the sense of a row, which older tables do not have."""
    if text not in ("min", "max", None):
        raise ValueError(f"sense: {text!r}, expected 'min' or 'max'")
    return cast("Sense | None", text)


def status_of(row: Row) -> Status:
    """Return the status of a row; older stores called a method that does not apply an error."""
    return Status.NOT_APPLICABLE if row["refused"] else Status(row["status"])


def extras_of(row: Row) -> RunExtras:
    """Return the further parts of a row.

    Raises
    ------
    ValueError, TypeError or KeyError
        If the row holds values that no run produces.
    """
    check_values(row)
    evaluation, solution = evaluation_of(row["evaluation"]), row["solution"]
    digest = None
    if solution is not None:
        text = f"{row['fingerprint']}\n{solution}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    components = {} if evaluation is None else evaluation.components
    return RunExtras(trace_of(row["trace"]), components, row["finished_at"], digest)


#: Columns that hold numbers; all others hold text, and any may hold nothing.
_NUMBERS = ("gap", "time_s", "seed", "refused", "position", "age_days")


#: Columns of names, which are one line of characters that can be seen.
_NAMES = frozenset(
    [
        "key",
        "problem",
        "instance",
        "name",
        "fingerprint",
        "method",
        "kind",
        "formulation",
        "backend",
        "version",
        "code",
        "status",
        "limit_hit",
        "sense",
        "finished_at",
    ]
)


def check_values(row: Row) -> None:
    """Raise a ValueError if a column holds what is not of its type, or bytes that are not text.

    The store reads such bytes as lone surrogates, which valid text never contains.
    """
    for name, value in row.items():
        kind = type(value)
        if kind not in ((int, float) if name in _NUMBERS else (str,)) and value is not None:
            raise ValueError(f"{name}: is of type {kind.__name__}")
        if name in _NAMES and kind is str and not value.isprintable():
            raise ValueError(f"{name}: is not a name: {value[:20]!a}")
        if kind is str and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError(f"{name}: is not UTF-8 text") from None


def numbers_of(text: str) -> dict[str, float]:
    """Return a JSON object of finite numbers.

    Raises
    ------
    ValueError
        If the text is none.
    """
    plain = _object(text)
    for name, value in plain.items():
        if not _is_number(value):
            raise ValueError(f"{name}: {value!r} is not a finite number")
    return plain


def _object(text: str) -> dict[str, Any]:
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise ValueError(f"{text[:40]!r} is not a JSON object")
    return plain


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # False for NaN


def _seconds(value: Any) -> float:
    if not _is_number(value):
        raise ValueError(f"{value!r} is not a number of seconds")
    return float(value)


# All rows of a batch share a few texts; a table of a million runs holds each of them once.
@lru_cache(maxsize=10_000)
def _mapping(text: str) -> Mapping[str, Any]:
    return _object(text)


@lru_cache(maxsize=10_000)
def _promises(text: str) -> tuple[Promise, ...]:
    return tuple(_promise(**plain) for plain in json.loads(text))


def _promise(
    theorem: str, reference: str, standing: str, ratio: str | None, failing: list[str]
) -> Promise:
    texts = (theorem, reference, standing, *failing)
    if not all(isinstance(text, str) for text in texts) or standing not in ("proven", "claimed"):
        raise ValueError("promises: expected theorem, reference, standing, ratio and failing")
    return Promise(theorem, reference, standing, decode_number(ratio), tuple(failing))


@lru_cache(maxsize=100)
def _limits(text: str) -> Limits:
    limits = Limits(**_object(text))
    given = (limits.time_s, limits.memory_mb, limits.no_improvement_s, limits.target)
    numbers = (limits.threads, limits.rel_gap, *(x for x in given if x is not None))
    if not all(map(_is_number, numbers)):
        raise ValueError(f"limits: {text[:60]!r}, expected numbers")
    return limits


def trace_of(text: str) -> tuple[TracePoint, ...]:
    """Return the trace that a row holds."""
    return tuple(
        TracePoint(_seconds(t), decode_number(i), decode_number(b)) for t, i, b in json.loads(text)
    )


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


def evaluation_of(text: str | None) -> Evaluation | None:
    """Return the evaluation that a row holds."""
    if text is None:
        return None
    plain = _object(text)
    violations = [(str(c), str(w), decode_number(a) or 0) for c, w, a in plain["violations"]]
    return Evaluation(
        decode_number(plain["objective"]),
        tuple(Violation(*violation) for violation in violations),
        {k: decode_number(v) or 0 for k, v in plain["components"].items()},
    )


def _json(value: Any) -> str:
    return json.dumps(value, default=str)
