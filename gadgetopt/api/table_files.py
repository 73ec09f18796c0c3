"""`import table`: an instance of a CSV file, for every system whose instances have a list."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gadgetopt.api.own_data import by_own_names, check_known, instance_of
from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Problem, resolved
from gadgetopt.system.files import Document, validate
from gadgetopt.system.reading import decoded, read_bytes
from gadgetopt.system.reading.tables import (
    ListField,
    check_columns,
    grouped,
    lists_of,
    value_of,
)

#: The format's name on the command line.
TABLE = "table"


@dataclass(frozen=True)
class CsvTable:
    """A CSV file with a header.

    Attributes
    ----------
    path : Path
    header : list of str
    rows : list of (int, list of str)
        The line on which each row ends, and its cells.
    sha256 : str
        Of the file's bytes.
    """

    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]
    sha256: str


def import_table(
    path: Path,
    system: Problem,
    list_name: str | None = None,
    columns: Iterable[str] = (),
    values: Iterable[str] = (),
    like: Path | str | None = None,
) -> tuple[Document[Any], dict[str, Any]]:
    """Return the instance that a CSV file and further values make, and what is to be said of it.

    That is the columns not used, and the fields taken from the example.

    Parameters
    ----------
    path : Path
        A row for each entry of a list of the instance.
    system : Problem
    list_name : str, optional
        The list; default the system's only list of records, or its only list.
    columns : iterable of str
        `field=column` for those fields of the entries that are not named as their columns.
    values : iterable of str
        `field=value` for further fields of the instance.
    like : path or str, optional
        An instance or a preset for the fields that are not given.

    Raises
    ------
    InputError
        If the file, a column or a value is not what the system expects; it names file and line.
    """
    field = chosen_list(system, list_name)
    fields = _values(system, field, values)
    table = read_table(path)
    column_of = _columns(table, field, columns)
    rows = [_row(table, line, cells, field, column_of) for line, cells in table.rows]
    fields[field.name] = grouped(rows, field, str(path))
    try:
        made = instance_of(system, fields, path.stem, like)
    except InputError as error:
        raise InputError(_with_line(str(error), table, field, column_of)) from None
    origin = {
        **made.origin,
        "format": TABLE,
        "files": [{"name": path.name, "sha256": table.sha256}],
    }
    made = replace(made, origin=origin)
    report: dict[str, Any] = {"instance": made.name}
    if unused := [name for name in table.header if name not in column_of.values()]:
        report["columns_not_used"] = unused
    if taken := made.origin.get("taken_fields"):
        report |= {"taken_from": made.origin["taken_from"], "taken_fields": taken}
    return made, report


def chosen_list(system: Problem, name: str | None) -> ListField:
    """Return the list of a system's instances that a table fills.

    Raises
    ------
    InputError
        If there is no such list, or none is named of several.
    """
    lists = lists_of(resolved(system.instance_type))
    if not lists:
        raise InputError(f"--system: instances of {system.name} have no list that a table could be")
    known = ", ".join(lists)
    if name is not None:
        if name not in lists:
            raise InputError(f"--list: {name!r} is no list of {system.name} (it has: {known})")
        return lists[name]
    of_records = [field for field in lists.values() if field.of_records]
    found = of_records or list(lists.values())
    if len(found) != 1:
        names = ", ".join(field.name for field in found)
        raise InputError(f"--list: is missing, the lists of {system.name} are: {names}")
    return found[0]


def read_table(path: Path) -> CsvTable:
    """Read a CSV file; cells with commas are in double quotes.

    Raises
    ------
    InputError
        If it cannot be read, has no header or no row, or a row has not as many cells as the header.
    """
    content = read_bytes(path)
    text = decoded(path, content)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}") from None
    if len(rows) < 2:
        raise InputError(f"{path}: has {len(rows)} rows, expected a header and rows")
    (_, header), *body = rows
    header = [name.strip() for name in header]
    for line, cells in body:
        if len(cells) != len(header):
            raise InputError(
                f"{path}: line {line}: has {len(cells)} cells, expected {len(header)} as the header"
            )
    return CsvTable(path, header, body, hashlib.sha256(content).hexdigest())


def _columns(table: CsvTable, field: ListField, mapped: Iterable[str]) -> dict[str, str]:
    """Return the column of each field that has one."""
    given = _assignments(mapped, "--map", "field=column")
    for name, column in given.items():
        if name not in field.types:
            known = ", ".join(field.types)
            raise InputError(f"--map: {name!r} is no field of {field.name} (they are: {known})")
        if column not in table.header:
            known = ", ".join(table.header)
            raise InputError(f"{table.path}: no column {column!r} for {name} (it has: {known})")
    same = {name: name for name in field.types if name in table.header}
    found = {**same, **given}
    for column in found.values():
        if table.header.count(column) > 1:
            raise InputError(f"{table.path}: header: column {column!r} occurs twice")
    missing = [name for name in field.required if name not in found]
    if missing:
        _refuse_columns(table, field, list(found), missing)
    return found


def _refuse_columns(
    table: CsvTable, field: ListField, found: Sequence[str], missing: Sequence[str]
) -> None:
    """Refuse a file without columns for some fields."""
    try:
        check_columns(found, field, f"{table.path}: {field.name}")
    except InputError as error:
        known = ", ".join(table.header)
        hint = f"--map {missing[0]}=COLUMN names one of: {known}"
        raise InputError(f"{error}; {hint}") from None


def _row(
    table: CsvTable,
    line: int,
    cells: Sequence[str],
    field: ListField,
    column_of: Mapping[str, str],
) -> dict[str, Any]:
    """Return the plain values of a row, after its record was checked."""
    texts = dict(zip(table.header, cells, strict=True))
    row = {name: value_of(texts[c], field.types[name]) for name, c in column_of.items()}
    place = f"{table.path}: line {line}"
    for name in field.required:
        if row[name] is None:
            raise InputError(f"{place}, column {column_of[name]}: is empty, expected {name}")
    if field.of_records:
        record = {k: v for k, v in row.items() if v is not None}
        if field.nested:
            record.pop(field.name)
        try:
            validate(field.item, record, "", prefix="")
        except InputError as error:
            said = str(error).removeprefix(": ")
            name = re.split(r"\W", said, maxsplit=1)[0]
            column = f", column {column_of[name]}" if name in column_of else ""
            if column_of.get(name) == name:
                said = said.removeprefix(f"{name}: ")
            raise InputError(f"{place}{column}: {said}") from None
    return row


def _values(system: Problem, field: ListField, texts: Iterable[str]) -> dict[str, Any]:
    """Return the fields of an instance that are given as `field=value`."""
    given = by_own_names(system, _assignments(texts, "--set", "field=value"))
    check_known(system, given)
    if field.name in given:
        raise InputError(f"--set: {field.name}: is what the file holds")
    types = resolved(system.instance_type).model_fields
    for name, text in given.items():
        if name in lists_of(resolved(system.instance_type)) and re.fullmatch(
            r"[^\[{,]+(,[^,]+)+", text
        ):
            raise InputError(f"--set: {name}={text}: is a list, expected it as {name}=[{text}]")
    return {name: value_of(text, types[name].annotation) for name, text in given.items()}


def _assignments(texts: Iterable[str], option: str, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InputError(f"{option}: {text!r} is not of the form {form}")
        if name in found:
            raise InputError(f"{option}: {name} is given twice")
        found[name] = value
    return found


def _with_line(
    message: str, table: CsvTable, field: ListField, column_of: Mapping[str, str]
) -> str:
    """Return a message about an entry of the list with the file, line and column of the entry."""
    found = re.search(rf"\b{field.name}\[(\d+)\](?:\.(\w+))?", message)
    if found is None or field.nested or int(found[1]) >= len(table.rows):
        return message
    line, name = table.rows[int(found[1])][0], found[2] or field.name
    column = f", column {column_of[name]}" if name in column_of else ""
    return f"{table.path}: line {line}{column}: {message}"
