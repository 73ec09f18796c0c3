"""A run as one row of plain values: what the store writes and what solver processes send."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gadgetopt.methods import MethodCall
from gadgetopt.numbers import Number
from gadgetopt.result import Evaluation, Limits, Result, Status, TracePoint, Violation, Voucher
from gadgetopt.theorems import Promise

#: One value per column of the table of runs.
Row = dict[str, Any]

#: The columns that only a look at a single run needs.
DETAILS = ("solution", "certificate", "evaluation", "trace")


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
        "limits": vars(limits),  # not a copy: a grid asks for millions of keys
        "seed": seed,
        "version": version,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


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


def to_row(run: StoredRun) -> Row:
    """Return a run as the values of its columns."""
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


#: Bytes of text in a row beyond which it is refused; SQLite's own limit is a thousand million.
MOST_BYTES = 200_000_000


def checked_row(run: StoredRun) -> Row:
    """Return a run's row if the store can hold it.

    Raises
    ------
    ValueError
        If a value is none that a table can hold, which only a method's own doing can be.
    """
    row, length = to_row(run), 0
    for name, value in row.items():
        if isinstance(value, str):
            try:
                length += len(value.encode())
            except UnicodeEncodeError:
                raise ValueError(f"{name} is not text that can be written in UTF-8") from None
        elif isinstance(value, int) and not isinstance(value, bool):
            if abs(value) >= 2**63:
                raise ValueError(f"{name} is an integer beyond 64 bits")
        elif value is not None and not isinstance(value, float):
            raise ValueError(f"{name} is a {type(value).__name__}")
    if length > MOST_BYTES:
        raise ValueError(f"it takes {length / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}")
    return row


def from_row(row: Row) -> StoredRun:
    """Return the run of a row; what of `DETAILS` the row has not got, the run has not either."""
    from gadgetopt.files import record_type
    from gadgetopt.registry import problem

    voucher = row["bound_voucher"]
    records = {}
    for kind in ("solution", "certificate"):
        text = row.get(kind)
        if text is not None:
            record = record_type(problem(row["problem"]), kind, json.loads(text))
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
        evaluation=_evaluation(row.get("evaluation")),
        reason=row["reason"],
        refused=bool(row["refused"]),
        trace=tuple(
            TracePoint(t, decode_number(i), decode_number(b))
            for t, i, b in json.loads(row.get("trace", "[]"))
        ),
        phases_s=json.loads(row["phases_s"]),
        versions=_mapping(row["versions"]),
        notes=json.loads(row["notes"]),
    )
    made, limits = _promises(row["promises"]), _limits(row["limits"])
    return StoredRun(row["key"], result, made, limits, sys.intern(row["version"]))


# The same few texts in all the rows of a batch; a table of a million runs holds each once.
@lru_cache(maxsize=10_000)
def _mapping(text: str) -> Mapping[str, Any]:
    plain: dict[str, Any] = json.loads(text)
    return plain


@lru_cache(maxsize=10_000)
def _promises(text: str) -> tuple[Promise, ...]:
    return tuple(
        Promise(**{**p, "ratio": decode_number(p["ratio"]), "failing": tuple(p["failing"])})
        for p in json.loads(text)
    )


@lru_cache(maxsize=100)
def _limits(text: str) -> Limits:
    return Limits(**json.loads(text))


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
