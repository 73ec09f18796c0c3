"""The code that makes a run: versions and digests of the library's and the method's source.

The code is part of the key of a run, so a method is run again exactly when its code has changed.
For a system of the library the code is the toolkit and the system's own folder; for a third party's
method it is the third party's distribution and the whole library; for a plug-in's method its source
and the whole library.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, distributions, packages_distributions
from pathlib import Path
from typing import Any

from gadgetopt import __version__
from gadgetopt.errors import InputError
from gadgetopt.system.declaration import (
    Formulation,
    Guarantee,
    Method,
    Part,
    Problem,
)
from gadgetopt.system.methods import find_method
from gadgetopt.system.references import module_of
from gadgetopt.system.registry import declared_in, problem

LIBRARY = "gadgetopt"
MODELS = "gadgetopt.models"

#: Folders of the toolkit that take no part in a run, and folders that do not belong to it.
_NOT_TOOLKIT = frozenset({"cli", "reporting", "models", "instances"})

#: Files beside the code that no method reads: prose, and files that gadgetopt writes.
_NOT_CODE = frozenset(
    {".md", ".rst", ".txt", ".html", ".pyc", ".sqlite", ".sqlite-wal", ".sqlite-shm"}
)

#: Hexadecimal digits kept of a digest.
_DIGITS = 16


class SourceCode:
    """The code of methods; each file is read once, when it is first needed."""

    def __init__(self) -> None:
        self._methods: dict[_Asked, str] = {}
        self._packages: dict[str, str] = {}

    def of(self, problem: Problem, method: Method) -> str:
        """Return the code of a method: `name version digest`, separated by commas."""
        modules, plugins = _modules(problem, method)
        which = problem.name, method.name, plugins
        if which not in self._methods:
            self._methods[which] = ", ".join(self._told(modules, plugins))
        return self._methods[which]

    def _told(self, modules: set[str], plugins: tuple[str, ...]) -> Iterator[str]:
        yield f"{LIBRARY} {__version__} {self._digest(LIBRARY)}"
        foreign = {module for module in modules if _top(module) != LIBRARY}
        if not foreign and not plugins:
            systems = {".".join(m.split(".")[:3]) for m in modules if m.startswith(f"{MODELS}.")}
            for system in sorted(systems):
                yield f"{system} {self._digest(system)}"
            return
        # A third party's code may call any code of the library.
        yield f"{MODELS} {self._digest(MODELS)}"
        for name, version, packages in _distributions(foreign):
            own = hashlib.sha256("".join(self._digest(p) for p in packages).encode())
            yield f"{name} {version} {own.hexdigest()[:_DIGITS]}"
        yield from plugins

    def _digest(self, package: str) -> str:
        if package not in self._packages:
            self._packages[package] = _digest(package)
        return self._packages[package]


class PresentCode:
    """The present code of methods by system and label; None for methods that do not exist now."""

    def __init__(self, source: SourceCode | None = None) -> None:
        self._source = source or SourceCode()
        self._known: dict[tuple[str, str], str | None] = {}

    def of(self, system: str, label: str) -> str | None:
        """Return the code that a method of a system has now."""
        if (system, label) not in self._known:
            self._known[system, label] = self._read(system, label)
        return self._known[system, label]

    def _read(self, system: str, label: str) -> str | None:
        try:
            declared = problem(system)
            return self._source.of(declared, find_method(declared, label).method)
        except InputError:  # a system, method or file that is no longer there
            return None


#: System, method, and the plug-ins that make it.
_Asked = tuple[str, str, tuple[str, ...]]

_first_use = SourceCode()


def loaded_code(problem: Problem, method: Method) -> str:
    """Return the code of a method, each package of it as this process first needed it."""
    return _first_use.of(problem, method)


# -- modules and distributions ---------------------------------------------------------------------


def _modules(problem: Problem, method: Method) -> tuple[set[str], tuple[str, ...]]:
    """Return the modules of a method and of what judges its outcome, and the plug-ins of these."""
    formulations = [f for f in problem.formulations if f.name == method.formulation]
    theorems = [g for g in problem.guarantees if method.name in g.methods]
    declared: list[Part] = [method, *formulations, *theorems]
    plugins = sorted({d.origin.code for d in declared if d.origin and d.origin.code})
    parts = [
        problem.instance_type,
        problem.solution_type,
        problem.certificate_type,
        problem.evaluate,
        problem.check_bound,
        *(part for d in declared if not (d.origin and d.origin.code) for part in _functions(d)),
    ]
    modules = {module_of(part) for part in parts if part is not None} | {declared_in(problem.name)}
    return {m for m in modules if m and _top(m) not in sys.stdlib_module_names}, tuple(plugins)


def _functions(declared: Part) -> list[Any]:
    if isinstance(declared, Method):
        return [declared.run]
    if isinstance(declared, Formulation):
        return [declared.build, declared.decode]
    if isinstance(declared, Guarantee):
        return [declared.ratio, *(a.holds for a in declared.assumptions)]
    return []


def _top(module: str) -> str:
    return module.partition(".")[0]


def _distributions(modules: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """Return name, version and packages of each distribution that owns one of the modules."""
    found: dict[tuple[str, str], set[str]] = {}
    for package in {_outermost(module) for module in modules}:
        installed = _installed(package)
        if installed is None:
            found[package, "of no version"] = {package}
            continue
        packages = found.setdefault((installed.name, installed.version), set())
        packages.add(package)
        packages.update(p for p in _top_levels(installed) if _beside(p, package))
    return [(*named, sorted(packages)) for named, packages in sorted(found.items())]


def distribution_of(module: str) -> str | None:
    """Return the name of the distribution that a module comes from; None for a loose file."""
    installed = _installed(module)
    if installed is not None:
        return installed.name
    return min(packages_distributions().get(_top(module), ()), default=None)


def _installed(module: str) -> Distribution | None:
    """Return the distribution of a module; None if it is merely on the path."""
    top = _top(module)
    # An editable installation may list no files, but it lists its entry points.
    for installed in distributions():
        declared = (e for e in installed.entry_points if e.group.startswith(LIBRARY))
        if any(_top(entry.module) == top for entry in declared):
            return installed
    names = set(packages_distributions().get(top, ()))
    return distribution(names.pop()) if len(names) == 1 else None


def _top_levels(installed: Distribution) -> set[str]:
    """Return the top-level packages and modules of a distribution."""
    listed = (installed.read_text("top_level.txt") or "").split()
    files = [f for f in installed.files or () if f.suffix == ".py"]
    names = listed or [f.stem if len(f.parts) == 1 else f.parts[0] for f in files]
    return {name for name in names if name.isidentifier() and not name.startswith("__editable__")}


def _beside(package: str, other: str) -> bool:
    """Return True if both lie in one folder, so that neither is a namesake from elsewhere."""
    places = [_place(name) for name in (package, other)]
    return None not in places and len({place.parent for place in places if place}) == 1


def _outermost(module: str) -> str:
    """Return the outermost package or module with code that contains a module."""
    parts = module.split(".")
    names = [".".join(parts[: k + 1]) for k in range(len(parts))]
    return next((name for name in names if _place(name) is not None), module)


# -- files -----------------------------------------------------------------------------------------


def _place(name: str) -> Path | None:
    """Return the folder of a package or the file of a module; None if it has no code."""
    try:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None or not spec.has_location else spec.origin
    except (ImportError, ValueError):  # created at run time: `__main__`, or a module without a file
        origin = getattr(sys.modules.get(name), "__file__", None)
        spec = None
    if origin is None:
        return None
    package = spec is not None and spec.submodule_search_locations is not None
    return Path(origin).parent if package else Path(origin)


def _digest(package: str) -> str:
    """Return the digest of a package's or module's files."""
    place = _place(package)
    if place is None:
        return "of no source"
    if place.is_file():
        places = [(place.name, place)]
    else:
        skipped = _NOT_TOOLKIT if package == LIBRARY else frozenset()
        names = map("/".join, sorted(_files(place, skipped)))
        places = [(name, place / name) for name in names]
    digest = hashlib.sha256()
    for name, path in places:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        digest.update(f"{name}\n{len(content)}\n".encode(errors="surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]


def _files(folder: str | Path, skipped: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Yield the parts of the names of a folder's files of code."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name in skipped or name == "__pycache__":
                continue
            if entry.is_dir():
                yield from ((name, *inner) for inner in _files(entry.path, frozenset()))
            elif entry.is_file() and os.path.splitext(name)[1] not in _NOT_CODE:
                yield (name,)
