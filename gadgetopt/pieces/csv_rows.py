"""Rows of a CSV file with their line numbers, so that every row can be accounted for."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.system.reading import read_bytes


@dataclass(frozen=True)
class CsvRows:
    """A file that was read.

    Attributes
    ----------
    header : list of str
    rows : list of (int, list of str)
        Line number (a header is line 1), and cells without surrounding blanks; a row may have
        more or fewer cells than the header.
    sha256 : str
        Of the file's bytes.
    """

    header: list[str]
    rows: list[tuple[int, list[str]]]
    sha256: str


def read_rows(path: Path, columns: Sequence[str], header: Sequence[str] | None = None) -> CsvRows:
    """Read a CSV file without quotes whose header must name some columns, each once.

    A file without a header row is read with the `header` given.

    Raises
    ------
    InputError
        If the file cannot be read, is no text or empty, or lacks a column.
    """
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error
    # Quotes have no meaning in these formats; without them every line is a row.
    reader = csv.reader(io.StringIO(text, newline=None), quoting=csv.QUOTE_NONE)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}") from error
    if not rows:
        raise InputError(f"{path}: empty file, expected a header and rows")
    if header is not None:
        return CsvRows(list(header), rows, hashlib.sha256(content).hexdigest())
    header = rows[0][1]
    for column in columns:
        if header.count(column) != 1:
            raise InputError(
                f"{path}: header: column {column!r} occurs {header.count(column)} times in "
                f"{','.join(header)[:80]!r}, expected once"
            )
    return CsvRows(header, rows[1:], hashlib.sha256(content).hexdigest())
