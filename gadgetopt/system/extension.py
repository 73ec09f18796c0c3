"""What others add to a system: extensions, and functions declared as parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import (
    Checked,
    Exporter,
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Method,
    Origin,
    Part,
    Picture,
    Problem,
    Statement,
    Trainer,
)
from gadgetopt.system.declaring import check_name, declarations, described, method
from gadgetopt.system.methods import methods

#: The fields of an extension that hold parts. Guarantees come after the methods they are about.
ROOMS: dict[str, type[Part]] = {
    "formulations": Formulation,
    "methods": Method,
    "guarantees": Guarantee,
    "generators": Generator,
    "importers": Importer,
    "exporters": Exporter,
    "pictures": Picture,
    "trainers": Trainer,
    "statements": Statement,
}


@dataclass(frozen=True, kw_only=True)
class Extension(Checked):
    """Parts that are added to a system without touching it.

    Attributes
    ----------
    problem : str
        The system's name; empty for every system.
    formulations, methods, guarantees, generators, importers, exporters : tuple
    pictures, trainers, statements : tuple
        As a `Problem` declares them. A guarantee may be about the system's own methods, too.
    origin : Origin or None
        Set by the toolkit.
    """

    problem: str = dataclass_field(kw_only=False)
    formulations: tuple[Formulation, ...] = ()
    methods: tuple[Method, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
    generators: tuple[Generator, ...] = ()
    importers: tuple[Importer, ...] = ()
    exporters: tuple[Exporter, ...] = ()
    pictures: tuple[Picture, ...] = ()
    trainers: tuple[Trainer, ...] = ()
    statements: tuple[Statement, ...] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for room, kind in ROOMS.items():
            for k, part in enumerate(getattr(self, room)):
                if not isinstance(part, kind):
                    given, wanted = type(part).__name__, kind.__name__
                    raise InputError(f"{self._label}: {room}[{k}]: a {given}, expected a {wanted}")
        for part in (*self.methods, *self.formulations):
            check_name(_name(part), _noun(part))

    @property
    def _label(self) -> str:
        return f"Extension of {self.problem!r}"

    def placed(self, origin: Origin) -> Extension:
        """Return the extension with the origin of all its parts."""
        parts: dict[str, Any] = {
            room: tuple(replace(part, origin=origin) for part in getattr(self, room))
            for room in ROOMS
        }
        return replace(self, **parts, origin=origin)


def joined(problem: Problem, extension: Extension) -> tuple[Problem, list[str]]:
    """Return a problem with the parts of an extension, and a line for each part left out.

    A part is left out if the problem has one of its name, a guarantee if the problem lacks its
    method.
    """
    left_out = []
    for room in ROOMS:
        for part in getattr(extension, room):
            why = _obstacle(problem, room, part)
            if why is None:
                with_it: dict[str, Any] = {room: (*getattr(problem, room), part)}
                problem = replace(problem, **with_it)
            else:
                left_out.append(f"{_noun(part)} {_name(part)!r}: {why}")
    return problem, left_out


def _name(part: Any) -> str:
    return str(part.format if isinstance(part, Importer | Exporter) else part.name)


def _noun(part: Part) -> str:
    return type(part).__name__.lower()


def _obstacle(problem: Problem, room: str, part: Any) -> str | None:
    """Return why a part cannot be added, if so."""
    known = {m.name: m for m in methods(problem)}
    same: list[Any]
    if isinstance(part, Guarantee):
        for method in part.methods:
            if method not in known:
                return f"it is about {method!r}, and {problem.name} has no method of that name"
        same = [
            g for g in problem.guarantees if g.name == part.name and {*g.methods} & {*part.methods}
        ]
    elif isinstance(part, Method):
        same = [known[part.name]] if part.name in known else []
    else:
        same = [p for p in getattr(problem, room) if _name(p) == _name(part)]
    if not same:
        return None
    origin = same[0].origin
    return f"{problem.name if origin is None else origin.label} has one of that name"


def merged(extensions: Iterable[Extension]) -> tuple[Extension, ...]:
    """Return one extension for each system, so that a guarantee finds its methods."""
    found: dict[str, Extension] = {}
    for extension in extensions:
        before = found.setdefault(extension.problem, extension)
        if before is not extension:
            both: dict[str, Any] = {
                room: (*getattr(before, room), *getattr(extension, room)) for room in ROOMS
            }
            found[extension.problem] = replace(before, **both)
    return tuple(found.values())


def extensions_in(value: Any) -> tuple[Extension, ...]:
    """Return what an entry point or a plug-in declares.

    Parameters
    ----------
    value : Extension, tuple of Extension, or module
        Of a module the functions after `gadgetopt.method` and the like, and its `EXTENSION`.

    Raises
    ------
    InputError
        If it declares nothing, or something else.
    """
    if inspect.ismodule(value):
        names = vars(value)
        functions = {id(f): f for f in names.values() if declarations(f)}
        found = [e for f in functions.values() for e in _declared_above(f, value.__name__)]
        given = names.get("EXTENSION", ())
    else:
        found, given = [], value
    for extension in given if isinstance(given, tuple | list) else (given,):
        if not isinstance(extension, Extension):
            raise InputError(f"is of type {type(extension).__name__}, expected Extension")
        found.append(extension)
    if not found:
        raise InputError(
            'declares nothing, expected a function after @gadgetopt.method("SYSTEM") or EXTENSION'
        )
    return merged(found)


# -- functions as parts ----------------------------------------------------------------------------


def as_method(function: Callable[..., Any] | Method) -> tuple[str, Method]:
    """Return the system and the method that a function stands for.

    The system is empty for a function without `gadgetopt.method`, which is tried on any.

    Raises
    ------
    InputError
        If the function cannot be a method.
    """
    if isinstance(function, Method):
        return "", function
    declared = next((d for d in declarations(function) if d.kind == "method"), method())
    made: Method = declared.part(described(function, "method"))
    return declared.system, made


def extension_of(function: Callable[..., Any] | Method) -> Extension:
    """Return the extension that adds a function as a method."""
    system, declared = as_method(function)
    return Extension(system, methods=(declared,))


def _declared_above(function: Callable[..., Any], module: str) -> Iterator[Extension]:
    """Yield an extension for each part that is declared above a function.

    What a system of the library declares, and a module merely imports, is not repeated.
    """
    for declared in declarations(function):
        part = declared.part(described(function, declared.kind))
        if declared.system:
            more: dict[str, Any] = {f"{declared.kind}s": (part,)}
            yield Extension(declared.system, **more)
        elif function.__module__ == module:
            raise InputError(
                f"{declared.kind} {_name(part)!r}: names no system, expected "
                f'@gadgetopt.{declared.kind}("SYSTEM")'
            )
