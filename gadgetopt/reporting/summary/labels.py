"""Names that tell apart runs of one method under different conditions."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.runs.comparison import Entry


def labels(table: Sequence[Entry]) -> list[str]:
    """Return the name of each entry's method in tables.

    It is followed by the tolerance within which the rows of its instance hold, if there is one: its
    numbers are those of another model. Then by limits and version if these differ within the
    system, and by the code if that differs between the method's runs.
    """
    told = [_conditions(entry) for entry in table]
    values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    codes: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    for entry, conditions in zip(table, told, strict=True):
        codes[entry.result.problem, entry.result.method].add(entry.code)
        for name, value in conditions.items():
            values[entry.result.problem, name].add(value)
    out = []
    for entry, conditions in zip(table, told, strict=True):
        system, method = entry.result.problem, entry.result.method
        parts = [method, *_tolerance(entry)]
        parts += [v for n, v in conditions.items() if len(values[system, n]) > 1]
        if len(codes[system, method]) > 1:
            parts.append(_short(entry.code))
        out.append(" ".join(parts))
    return out


def _conditions(entry: Entry) -> dict[str, str]:
    limits = entry.limits
    return {
        "time": "no time limit" if limits.time_s is None else f"{limits.time_s:g} s",
        "threads": f"{limits.threads} threads",
        "memory": "no memory limit" if limits.memory_mb is None else f"{limits.memory_mb:g} MB",
        "gap": f"gap {limits.rel_gap:g}",
        "no improvement": "no criterion"
        if limits.no_improvement_s is None
        else f"no improvement {limits.no_improvement_s:g} s",
        "target": "no target" if limits.target is None else f"target {limits.target:g}",
        "version": f"v{entry.version}",
    }


def _tolerance(entry: Entry) -> list[str]:
    origins = () if entry.stored is None else entry.stored.origins
    found = {origin.within for origin in origins if origin.within is not None}
    return [f"within {_tell(float(Fraction(tolerance)))}" for tolerance in sorted(found)]


def _tell(tolerance: float) -> str:
    return f"{tolerance:g}".replace("e-0", "e-")  # as it is given: 1e-6


def _short(code: str | None) -> str:
    if code is None:
        return "code unknown"
    return f"code {hashlib.sha256(code.encode()).hexdigest()[:8]}"
