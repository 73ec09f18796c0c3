"""Names and values formatted for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Units at the end of an objective's name.
_UNITS = {"slots": "slots", "gbyte_per_s": "GB/s", "s": "s"}


def quantity(name: str) -> str:
    """Return the name of an objective with its unit in brackets: "makespan (slots)"."""
    for suffix, unit in _UNITS.items():
        if name.endswith(f"_{suffix}"):
            return f"{spaced(name.removesuffix(f'_{suffix}'))} ({unit})"
    return spaced(name)


def spaced(name: Any) -> str:
    """Return a name without underscores."""
    return str(name).replace("_", " ")


def in_words(value: Any) -> str:
    """Return a value as one line of plain text, without Python's brackets and quotes."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{spaced(k)} {in_words(v)}" for k, v in value.items()) or "none"
    if _listed(value):
        parted = "; " if any(isinstance(v, Mapping) or _listed(v) for v in value) else ", "
        return parted.join(map(in_words, value)) or "none"
    return str(value)


def lines_of(value: Any) -> list[str]:
    """Return a value as lines: one per record of a list of records, else one."""
    if _listed(value) and value and all(isinstance(v, Mapping) for v in value):
        return [in_words(v) for v in value]
    return [in_words(value)]


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
