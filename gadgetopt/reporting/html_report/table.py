"""The table of runs in the page: one array per column, unpacked in the browser."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from gadgetopt.numbers.tolerance import Number
from gadgetopt.reporting.html_report.figure import thinned
from gadgetopt.reporting.html_report.pictures import Album, packed
from gadgetopt.reporting.html_report.reading import Line, System, number
from gadgetopt.reporting.html_report.words import proof
from gadgetopt.trust.proving import PROOF
from gadgetopt.trust.theorems import Verdict, proven_ratio, verdict

#: Runs whose details are packed together.
CHUNK = 50

#: Most points of a trace that the page keeps.
_MOST_EVENTS = 100


def in_order(systems: Sequence[System]) -> list[Line]:
    """Return all runs in the order of the table."""
    return [line for system in systems for line in system.lines]


def short_keys(lines: Sequence[Line]) -> list[str]:
    """Return the shortest beginnings of the keys, all of one length, that are distinct."""
    length = 10
    while length < 64 and len({line.key[:length] for line in lines}) < len(lines):
        length += 2
    return [line.key[:length] for line in lines]


def columns(lines: Sequence[Line], album: Album) -> dict[str, list[Any]]:
    """Return the columns that the table shows, sorts and filters."""
    rows = []
    for key, line in zip(short_keys(lines), lines, strict=True):
        r = line.entry.result
        rows.append(
            {
                "key": key,
                "system": r.problem,
                "instance": r.instance,
                "method": line.label,
                "kind": r.kind,
                "seed": r.seed,
                "status": r.state,
                "limit": r.limit_hit,
                "objective": _finite(r.objective),
                "bound": _finite(r.bound),
                "voucher": None if r.bound_voucher is None else str(r.bound_voucher),
                "proof": _proof(line),
                "gap": _finite(r.gap),
                "low": _end(line.low),
                "high": _end(line.high),
                "certified": line.certified,
                "rests_on": None if line.rests_on is None else str(line.rests_on),
                "theorem": _finite(proven_ratio(line.entry.promises)),
                "exceeded": _exceeded(line),
                "time_s": float(f"{r.time_s:.6g}"),
                "picture": album.of_run.get(line.key),
            }
        )
    names = rows[0] if rows else ()
    return {name: [row[name] for row in rows] for name in names}


def details(lines: Sequence[Line], album: Album) -> list[str]:
    """Return the details of single runs, packed in chunks of `CHUNK` runs."""
    told = [_detail(line, album) for line in lines]
    return [packed(told[k : k + CHUNK]) for k in range(0, len(told), CHUNK)]


def _detail(line: Line, album: Album) -> dict[str, Any]:
    r = line.entry.result
    all_of_it: dict[str, Any] = {
        "key": line.key,
        "fingerprint": r.fingerprint,
        "reason": r.reason,
        "parameters": _texts(r.parameters),
        "formulation": r.formulation,
        "backend": r.backend,
        "claimed": _finite(r.claimed_objective),
        "limits": _texts(
            {
                "time limit": f"{line.limits.time_s:g} s" if line.limits.time_s else None,
                "threads": line.limits.threads,
                "memory limit": f"{line.limits.memory_mb:g} MB" if line.limits.memory_mb else None,
                "gap limit": line.limits.rel_gap or None,
                "no improvement": f"{line.limits.no_improvement_s:g} s"
                if line.limits.no_improvement_s
                else None,
                "target": line.limits.target,
            }
        ),
        "version": line.version,
        "code": line.code or "unknown",
        "finished_at": line.finished_at,
        "solved": line.solution_id is not None and r.objective is not None,
        "no_picture": album.missing.get(line.key),
        "theorems": [
            {
                "name": p.theorem,
                "reference": p.reference,
                "standing": p.standing,
                "ratio": _finite(p.ratio),
                "failing": list(p.failing),
                "verdict": str(verdict(p, line.entry.ratio)),
            }
            for p in line.entry.promises
        ],
        "trace": [[_short(x) for x in line.events[i]] for i in _kept(len(line.events))],
        **{name: _texts(value) for name, value in line.details.items()},
    }
    return {name: value for name, value in all_of_it.items() if value not in (None, [], {})}


def _proof(line: Line) -> str | None:
    """Return in words what a run's notes say of its proof."""
    told = line.entry.result.notes.get(PROOF)
    return proof(told) if isinstance(told, dict) and told else None


def _exceeded(line: Line) -> str | None:
    """Return the standing of the theorem that a run exceeds; "proven" if any of several is."""
    standings = {
        p.standing for p in line.entry.promises if verdict(p, line.entry.ratio) is Verdict.EXCEEDED
    }
    return "proven" if "proven" in standings else min(standings, default=None)


def _kept(events: int) -> list[int]:
    """Return the indices of the events that the page keeps, including the first and the last."""
    return sorted({*thinned(range(events), _MOST_EVENTS), *range(max(0, events - 1), events)})


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:397]}..."


def _short(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(f"{x:.7g}")


def _finite(x: Number | None) -> float | None:
    """Return a number for JSON, None if it is beyond the range of doubles."""
    near = number(x)
    return near if near is not None and math.isfinite(near) else None


def _end(x: float | None) -> float | str | None:
    """Return an end of a ratio; infinity becomes text, as JSON cannot represent it."""
    return "∞" if x is not None and math.isinf(x) else x
