"""Rows of files that could not be read: each with its line, the reason, and what stood there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

#: Reasons that an error message lists; of more it says how many. By definition.
_MOST_REASONS = 3
_MOST_CHARACTERS = 60


@dataclass(frozen=True)
class Rejection:
    """A row that could not be read, and the value that was not as the reason expects."""

    file: str
    line: int
    reason: str
    value: str


def by_reason(rejected: Iterable[Rejection], first_lines: int = 5) -> list[dict[str, Any]]:
    """Return for each file and reason the number of rows, the first lines and the first value."""
    groups: dict[tuple[str, str], list[Rejection]] = {}
    for row in rejected:
        groups.setdefault((row.file, row.reason), []).append(row)
    return [
        {
            "file": file,
            "reason": reason,
            "rows": len(rows),
            "first_lines": [row.line for row in rows[:first_lines]],
            "first_value": rows[0].value[:_MOST_CHARACTERS],
        }
        for (file, reason), rows in groups.items()
    ]


def in_one_line(rejected: Iterable[Rejection]) -> str:
    """Return the number of rows by reason for an error message, the most frequent ones first."""
    groups = sorted(by_reason(rejected), key=lambda group: -group["rows"])
    if not groups:
        return "none"
    shown = [
        f"{group['rows']} {group['reason']} (line {group['first_lines'][0]} "
        f"has {group['first_value']!r})"
        for group in groups[:_MOST_REASONS]
    ]
    rest = sum(group["rows"] for group in groups[_MOST_REASONS:])
    return "; ".join([*shown, f"{rest} for other reasons"] if rest else shown)
