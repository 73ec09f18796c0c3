"""The installed systems and what others add to them.

Each system, the library's own or a third party's, is an entry point. If two distributions declare a
system of the same name, gadgetopt's own is used, otherwise that of the distribution whose name
comes first alphabetically. A warning names both.

Extensions are entry points, too, and are added in the order of their distributions' names; a
warning names what is left out. Those of plug-ins (`gadgetopt.system.plugins`) come after them.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, warn
from gadgetopt.system.declaration import Origin, Problem

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Sense
    from gadgetopt.system.extension import Extension
    from gadgetopt.system.result import Result

GROUP = "gadgetopt.problems"
EXTENSIONS = "gadgetopt.extensions"


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def _installed(group: str) -> EntryPoints:
    """Return a group's entry points; all are read at once, a file for every distribution."""
    found: EntryPoints = _on_path(tuple(sys.path)).select(group=group)
    return found


@cache
def _on_path(_: tuple[str, ...]) -> Any:
    return entry_points()  # of one type until Python 3.11 and of another one since


@cache
def _entries() -> dict[str, EntryPoint]:
    """Return the entry point of each name, sorted by name."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in _installed(GROUP):
        by_name.setdefault(entry.name, []).append(entry)
    chosen = {}
    for name, found in sorted(by_name.items()):
        if len(found) == 1:  # to learn a distribution's name its metadata is read
            chosen[name] = found[0]
            continue
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
    try:
        declared = _load(entry)
    except InputError as error:
        said = str(error)
    else:
        if isinstance(declared, Problem) and declared.name == name:
            return declared
        said = f"is of type {type(declared).__name__}, expected Problem"
        if isinstance(declared, Problem):
            said = f"name: {declared.name!r}, expected the entry point's name {name!r}"
    return f"system {name!r} of {_distribution(entry)}: {entry.value}: {said}"


def _load(entry: EntryPoint) -> Any:
    """Load an entry point; any failure of a third party's module becomes an InputError."""
    try:
        return entry.load()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        from gadgetopt.errors import failure

        raise InputError(failure(error)) from None


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
    return _extended(declared)


def problems() -> list[Problem]:
    """Return all installed problems, sorted by name; warn of those that cannot be loaded."""
    found = []
    for name in problem_names():
        declared = _loaded(name)
        if isinstance(declared, Problem):
            found.append(_extended(declared))
        else:
            warn(f"skipped: {declared}")
    return found


def sense_of(result: Result) -> Sense:
    """Return the sense of the instance that a result is of; of its problem for an old one."""
    sense = result.sense or problem(result.problem).sense
    return "max" if sense == "max" else "min"


def declared_in(name: str) -> str | None:
    """Return the module that declares a problem; None if the problem is not installed."""
    entry = _entries().get(name)
    return None if entry is None else entry.module


# -- extensions ------------------------------------------------------------------------------------

#: What plug-ins add, in order.
_plugged: tuple[Extension, ...] = ()

#: By system: as declared, extensions of distributions and of plug-ins, and all of it joined.
_joined: dict[str, tuple[Problem, tuple[Extension, ...], tuple[Extension, ...], Problem]] = {}

#: Not empty while extensions are imported, which may themselves ask for the systems.
_importing: list[bool] = []


def plug(extensions: tuple[Extension, ...]) -> None:
    """Replace what plug-ins add to the systems."""
    global _plugged  # noqa: PLW0603
    _plugged = extensions


def plugged() -> tuple[Extension, ...]:
    """Return what plug-ins add to the systems."""
    return _plugged


def _extended(declared: Problem) -> Problem:
    """Return a declared problem with all extensions.

    Raises
    ------
    InputError
        If a plug-in adds a part of a name that is taken.
    """
    added = _installed_extensions()
    if not any(e.problem in ("", declared.name) for e in (*added, *_plugged)):
        return declared  # and its parts need not be read
    from gadgetopt.system.extension import joined

    before = _joined.get(declared.name)
    if before and before[0] is declared and before[1] is added and before[2] is _plugged:
        return before[3]
    whole = declared
    for extension in (*added, *_plugged):
        if extension.problem not in ("", declared.name):
            continue
        whole, left_out = joined(whole, extension)
        place = "plug-in" if extension.origin is None else extension.origin.label
        if left_out and extension in _plugged:
            raise InputError(f"{place}: {left_out[0]}")
        for line in left_out:
            warn(f"left out of {place}: {declared.name}: {line}")
    _joined[declared.name] = declared, added, _plugged, whole
    return whole


def _installed_extensions() -> tuple[Extension, ...]:
    if _importing:
        return ()
    _importing.append(True)
    try:
        return _load_extensions()
    finally:
        _importing.clear()


@cache
def _load_extensions() -> tuple[Extension, ...]:
    """Load the extensions of all distributions; warn of those that cannot be used."""
    entries = sorted(_installed(EXTENSIONS), key=lambda e: (_distribution(e), e.name, e.value))
    if not entries:
        return ()
    from gadgetopt.system.extension import extensions_in

    found = []
    for entry in entries:
        what = f"extension {entry.name!r} of {_distribution(entry)}: {entry.value}"
        try:
            for extension in extensions_in(_load(entry)):
                if extension.problem not in _entries():
                    raise InputError(f"problem: {extension.problem!r} is not a known problem")
                found.append(extension.placed(Origin(_distribution(entry))))
        except InputError as error:
            warn(f"skipped: {what}: {error}")
    return tuple(found)
