"""The instance of an entry: drawn anew by its preset, or read from the instance library."""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.records.record import Drawn, Shipped
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.generation import Draw, find_generator, generate


def instance_of(system: Problem, name: str, where: Drawn | Shipped) -> Document[Any]:
    """Return an entry's instance.

    Raises
    ------
    InputError
        A line that begins with the field, if there is no such preset, parameter or file.
    """
    if isinstance(where, Shipped):
        return _shipped(system, where)
    generator = find_generator(system, where.preset, "instance.preset")
    known = generator.parameters
    for key in where.parameters:
        if key not in known:
            raise InputError(f"instance.parameters.{key}: {where.preset} has no such parameter")
    for key in known:
        if key not in where.parameters:
            raise InputError(f"instance.parameters.{key}: missing")
    given = {key: _like(value, known[key]) for key, value in where.parameters.items()}
    draw = Draw(name, given, where.seed, where.index)
    try:
        return generate(system, generator, draw, "instance.parameters")
    except (ArithmeticError, LookupError, AttributeError, MemoryError) as error:
        raise InputError(f"instance.parameters: draw nothing: {error}") from None


def _like(value: Any, default: Any) -> Any:
    """Return a value of JSON in the form of the parameter's default: lists there are tuples."""
    return tuple(value) if isinstance(value, list) and isinstance(default, tuple) else value


def _shipped(system: Problem, where: Shipped) -> Document[Any]:
    path = library() / where.file
    if not path.is_file():
        raise InputError(f"instance.file: {where.file!r} is not in the instance library")
    document = read_instance(path)
    if document.problem.name != system.name:
        raise InputError(
            f"instance.file: {where.file!r} is of {document.problem.name}, expected {system.name}"
        )
    return document


def where_from(document: Document[Any]) -> Drawn | Shipped:
    """Return how an entry says where an instance comes from.

    Raises
    ------
    InputError
        If it comes neither from a preset nor from the instance library.
    """
    origin = document.origin
    if {"generator", "parameters", "seed", "index"} <= set(origin):
        return Drawn(
            preset=origin["generator"],
            parameters=_plain(origin["parameters"]),
            seed=origin["seed"],
            index=origin["index"],
        )
    shipped = _found_in_library(document)
    if shipped is None:
        raise InputError(
            f"{document.name}: comes neither from a preset nor from the instance library; "
            "a new entry needs its instance in instances/"
        )
    return Shipped(file=shipped)


def _plain(parameters: Any) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()}


def _found_in_library(document: Document[Any]) -> str | None:
    """Return the library's file of an instance; of errata and the system's own folder only."""
    system = document.problem.name
    for folder in (system, f"errata/{system}"):
        for path in sorted((library() / folder).rglob("*.*")):
            if not path.is_file():
                continue
            if path.stem == document.name or document.name.encode() in path.read_bytes():
                with_same = _read(path)
                if with_same is not None and with_same.fingerprint == document.fingerprint:
                    return path.relative_to(library()).as_posix()
    return None


def _read(path: Any) -> Document[Any] | None:
    try:
        return read_instance(path)
    except InputError:  # a solution, or something else
        return None
