"""Finding problems: every system, ours or a third party's, is an entry point."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from gadgetopt.declaration import Problem
from gadgetopt.errors import InputError

GROUP = "gadgetopt.problems"


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)}


def problem_names() -> list[str]:
    """Return the names of all installed problems, sorted, without importing any."""
    return list(_entries())


@cache
def problem(name: str) -> Problem:
    """Return the problem called `name`.

    Raises
    ------
    InputError
        If no installed package declares it.
    """
    if name not in _entries():
        known = ", ".join(problem_names()) or "none"
        raise InputError(f"{name!r} is not a known problem (known: {known})")
    declared = _entries()[name].load()
    if not isinstance(declared, Problem):
        raise InputError(f"entry point {name!r} of {GROUP} does not name a Problem")
    return declared


def problems() -> list[Problem]:
    """Return all installed problems, sorted by name."""
    return [problem(name) for name in problem_names()]


def declared_in(name: str) -> str | None:
    """Return the module that declares a problem; None for a problem that is not installed."""
    entry = _entries().get(name)
    return None if entry is None else entry.module
