"""Instances from logs of arrivals: when jobs came and how urgent they were.

The paper took both from a Google trace, mapping its scheduling classes to the three classes of
utility (reconstructed: recalled). A log of another cluster serves as well: a CSV file with a header
and the columns `arrival_s`, seconds on any clock, and `class`, which is `insensitive`, `sensitive`,
`critical`, or a scheduling class of Google from 0 to 3, of which 0 counts as insensitive and 3 as
critical (reconstructed). Everything else of a job is drawn as in the preset `paper`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.rejections import Rejection, by_reason, in_one_line
from gadgetopt.system.declaring import importer

from ...instance import PdOrsInstance
from ..generate.presets import (
    SLOT_S,
    paper_job,
    paper_machines,
)

#: What each value of the column `class` means, as the preset's (insensitive, critical).
CLASSES = {
    "insensitive": (1.0, 0.0),
    "sensitive": (0.0, 0.0),
    "critical": (0.0, 1.0),
    "0": (1.0, 0.0),
    "1": (0.0, 0.0),
    "2": (0.0, 0.0),
    "3": (0.0, 1.0),
}
_COLUMNS = ("arrival_s", "class")


@dataclass
class _Log:
    """Arrivals of one or several files, and what became of the other rows."""

    arrivals: list[tuple[float, str]] = field(default_factory=list)
    files: list[dict[str, str]] = field(default_factory=list)
    rows: int = 0
    rejected: list[Rejection] = field(default_factory=list)


@importer(name="arrivals-csv")
def arrivals_csv(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    jobs: int = 50,
    count: int = 1,
    machines: int = 100,
    horizon_slots: int = 20,
    slot_s: float = SLOT_S,
    start_s: float | None = None,
    work_scale: float = 1.0,
    capacity_workers: float = 18.0,
    largest_batch: int = 200,
    bandwidth_ratio: float | None = None,
) -> ImportOutcome:
    """Logs of arrivals with the columns arrival_s and class.

    Make instances of logs with the columns `arrival_s` and `class`.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
    jobs : int, default 50
        Jobs drawn for each instance from those that arrive within the horizon.
    count : int, default 1
        Number of instances; each draws its own jobs.
    horizon_slots, slot_s : int, float
        Arrivals are taken from a window of this many slots of this many seconds.
    start_s : float, optional
        Start of the window on the log's clock; by default the first arrival.
    machines, work_scale, capacity_workers, largest_batch, bandwidth_ratio
        Of the preset `paper`.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or fewer jobs remain than are asked for.
    """
    if not files:
        raise InputError("files: none given, expected at least one log")
    if slot_s <= 0:
        raise InputError(f"slot_s: {slot_s:g}, expected a positive number")
    if count < 1:
        raise InputError(f"count: {count}, expected at least 1")
    log = _Log()
    for path in files:
        _read(Path(path), log)
    slots, left_out = _slots(log, start_s, slot_s, horizon_slots)
    if not 1 <= jobs <= len(slots):
        lost = ", ".join(f"{rows} {reason}" for reason, rows in left_out.items()) or "none"
        raise InputError(
            f"jobs: {jobs} asked for, expected 1 to {len(slots)}, which arrive within the horizon "
            f"(left out: {lost}; rejected: {in_one_line(log.rejected)})"
        )
    instances, details = [], []
    stem = Path(files[0]).stem
    for k in range(count):
        # In the order of arrival, as the problem has it.
        chosen = sorted(rng.choice(len(slots), size=jobs, replace=False).tolist())
        made = []
        for row in chosen:
            slot, kind = slots[row]
            insensitive, critical = CLASSES[kind]
            made.append(
                paper_job(
                    rng,
                    slot,
                    work_scale=work_scale,
                    largest_batch=largest_batch,
                    insensitive=insensitive,
                    critical=critical,
                    bandwidth_ratio=bandwidth_ratio,
                )
            )
        instance = PdOrsInstance(
            horizon_slots=horizon_slots,
            slot_s=slot_s,
            machines=paper_machines(machines, capacity_workers),
            jobs=tuple(made),
        )
        name = drawn_name(f"{stem}_{jobs}x{machines}", rng, k)
        instances.append((name, instance))
        details.append({"name": name, "jobs_used": jobs, "classes": _tally(slots, chosen)})
    report: dict[str, Any] = {
        "rows_read": log.rows,
        "rows_rejected": len(log.rejected),
        "rejected": by_reason(log.rejected),
        "left_out": left_out,
        "jobs_eligible": len(slots),
        "units": {"slot_s": slot_s, "arrival_slot": "1 + (arrival_s - start_s) / slot_s, down"},
        "instances": details,
    }
    origin = {
        "format": "arrivals-csv",
        "files": log.files,
        "options": {
            "jobs": jobs,
            "machines": machines,
            "horizon_slots": horizon_slots,
            "slot_s": slot_s,
            "start_s": start_s,
            "work_scale": work_scale,
            "capacity_workers": capacity_workers,
            "largest_batch": largest_batch,
            "bandwidth_ratio": bandwidth_ratio,
        },
    }
    return ImportOutcome(list(instances), report, origin)


def _read(path: Path, log: _Log) -> None:
    """Add the rows of a file to the log; what cannot be read is kept with its line and reason."""
    read = read_rows(path, _COLUMNS)
    where = [read.header.index(column) for column in _COLUMNS]
    log.files.append({"name": path.name, "sha256": read.sha256})
    for line, row in read.rows:
        log.rows += 1
        if len(row) != len(read.header):
            reason, value = f"expected {len(read.header)} fields", f"{len(row)} fields"
            log.rejected.append(Rejection(path.name, line, reason, value if row else "blank line"))
            continue
        arrival, kind = (row[k] for k in where)
        arrival_s = _seconds(arrival)
        if arrival_s is None:
            reason = "arrival_s: expected a number"
            log.rejected.append(Rejection(path.name, line, reason, arrival))
        elif kind.lower() not in CLASSES:
            reason = f"class: expected one of {', '.join(CLASSES)}"
            log.rejected.append(Rejection(path.name, line, reason, kind))
        else:
            log.arrivals.append((arrival_s, kind.lower()))


def _seconds(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _slots(
    log: _Log, start_s: float | None, slot_s: float, horizon_slots: int
) -> tuple[list[tuple[int, str]], dict[str, int]]:
    """Return slot and class of the arrivals within the window, in order, and how many are not."""
    arrivals = sorted(log.arrivals, key=lambda a: a[0])
    if start_s is None:
        start_s = arrivals[0][0] if arrivals else 0.0
    slots = [(1 + math.floor((arrival - start_s) / slot_s), kind) for arrival, kind in arrivals]
    early = sum(slot < 1 for slot, _ in slots)
    late = sum(slot > horizon_slots for slot, _ in slots)
    left_out = {"before the window": early, "after the horizon": late}
    kept = [(slot, kind) for slot, kind in slots if 1 <= slot <= horizon_slots]
    return kept, {reason: number for reason, number in left_out.items() if number}


def _tally(slots: list[tuple[int, str]], chosen: list[int]) -> dict[str, int]:
    return dict(sorted(Counter(slots[row][1] for row in chosen).items()))
