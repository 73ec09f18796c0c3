"""An entry's instance, solution and proof as files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.records.checking import file_name
from gadgetopt.records.drawing import instance_of
from gadgetopt.records.keeping import data_of
from gadgetopt.records.shelf import Entry
from gadgetopt.system.files import Document, record_type, validate, write
from gadgetopt.system.registry import problem


def instance(entry: Entry) -> Document[Any]:
    """Return the instance of an entry, drawn anew or read from the instance library."""
    system = problem(entry.record.problem)
    try:
        return instance_of(system, entry.record.name, entry.record.instance)
    except InputError as error:
        raise InputError(f"{entry.path}: {error}") from None


def part(entry: Entry, what: str) -> Document[Any] | None:
    """Return an entry's `solution` or `certificate`, unchecked; None if it has none."""
    kept = getattr(entry.record, what)
    if kept is None:
        return None
    system = problem(entry.record.problem)
    try:
        data = data_of(kept, file_name(entry.record.name, what), entry.beside)
    except InputError as error:
        raise InputError(f"{entry.path}: {what}{error}") from None
    kind = record_type(system, what, data)
    record = validate(kind, data, f"{entry.path}: {what}", prefix="")
    return Document(system, what, entry.record.name, record)  # type: ignore[arg-type]


def write_parts(
    entry: Entry, to_instance: Path | None, to_solution: Path | None, to_certificate: Path | None
) -> None:
    """Write the parts of an entry for which a path is given.

    Raises
    ------
    InputError
        If it has no such part, or a file cannot be written.
    """
    if to_instance is not None:
        write(instance(entry), to_instance)
    for what, path in (("solution", to_solution), ("certificate", to_certificate)):
        if path is None:
            continue
        document = part(entry, what)
        if document is None:
            raise InputError(f"{entry.label}: has no {what}")
        write(document, path)
