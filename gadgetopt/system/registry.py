"""The installed systems: each, the library's own or a third party's, is an entry point.

If two distributions declare a system of the same name, gadgetopt's own is used, otherwise that of
the distribution whose name comes first alphabetically. A warning names both.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from gadgetopt.errors import InputError, warn
from gadgetopt.system.declaration import Problem

GROUP = "gadgetopt.problems"


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


@cache
def _entries() -> dict[str, EntryPoint]:
    """Return the entry point of each name, sorted by name."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        by_name.setdefault(entry.name, []).append(entry)
    chosen = {}
    for name, found in sorted(by_name.items()):
        used, *others = sorted(
            found, key=lambda e: (_distribution(e) != "gadgetopt", _distribution(e), e.value)
        )
        chosen[name] = used
        for other in others:
            ours = _distribution(used)
            warn(
                f"system {name!r} is declared by {ours} and by {_distribution(other)}; "
                f"that of {ours} is used"
            )
    return chosen


def problem_names() -> list[str]:
    """Return the names of all installed problems, sorted, without importing any."""
    return list(_entries())


@cache
def _loaded(name: str) -> Problem | str:
    """Return a problem, or a line that says why its entry point cannot be loaded."""
    entry = _entries()[name]
    what = f"system {name!r} of {_distribution(entry)}: {entry.value}"
    try:
        declared = entry.load()
    except InputError as error:
        return f"{what}: {error}"
    except (Exception, SystemExit) as error:  # a third party's module may do anything
        from gadgetopt.errors import failure

        return f"{what}: {failure(error)}"
    if not isinstance(declared, Problem):
        return f"{what}: is of type {type(declared).__name__}, expected Problem"
    if declared.name != name:
        return f"{what}: name: {declared.name!r}, expected the entry point's name {name!r}"
    return declared


def problem(name: str) -> Problem:
    """Return the problem called `name`.

    Raises
    ------
    InputError
        If no installed package declares it, or its declaration cannot be loaded.
    """
    if name not in _entries():
        known = ", ".join(problem_names()) or "none"
        raise InputError(f"{name!r} is not a known problem (known: {known})")
    declared = _loaded(name)
    if isinstance(declared, str):
        raise InputError(declared)
    return declared


def problems() -> list[Problem]:
    """Return all installed problems, sorted by name; warn of those that cannot be loaded."""
    found = []
    for name in problem_names():
        declared = _loaded(name)
        if isinstance(declared, Problem):
            found.append(declared)
        else:
            warn(f"skipped: {declared}")
    return found


def declared_in(name: str) -> str | None:
    """Return the module that declares a problem; None if the problem is not installed."""
    entry = _entries().get(name)
    return None if entry is None else entry.module
