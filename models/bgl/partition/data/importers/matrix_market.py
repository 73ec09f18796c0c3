"""Matrices of the Matrix Market as graphs: an entry in row i, column j is an edge from i to j."""

from __future__ import annotations

from pathlib import Path

from gadgetopt.errors import InputError

from ...instance import MOST_NODES
from .reading import (
    Read,
    node_of,
)

_BANNER = "%%matrixmarket"
#: Numbers behind row and column of an entry, by the field of the header.
_VALUES = {"pattern": 0, "integer": 1, "real": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def is_matrix_market(lines: list[str]) -> bool:
    """Return True if the first line is the header of a Matrix Market file."""
    return bool(lines) and lines[0].lower().startswith(_BANNER)


def read_matrix_market(path: Path, sha256: str, lines: list[str], directed: bool) -> Read:
    """Return the edges of a square sparse matrix, whose rows are nodes from 1 on.

    Of a symmetric matrix an entry is an edge in both directions. Values are not read, also zeros.

    Raises
    ------
    InputError
        If the matrix is dense or not square, or a line is not as the header says.
    """
    values, both_ways = _header(path, lines[0])
    body = [
        (number, line.split())
        for number, line in enumerate(lines[1:], start=2)
        if line.strip() and not line.lstrip().startswith("%")
    ]
    at, cells = body[0] if body else (1, [])
    size = [node_of(cell) for cell in cells]
    rows, columns, entries = size if len(size) == 3 else (None, None, None)
    if rows is None or columns is None or entries is None:
        raise InputError(f"{path}: line {at}: expected the numbers of rows, columns and entries")
    if rows != columns:
        raise InputError(
            f"{path}: line {at}: {rows} rows and {columns} columns, expected a square matrix"
        )
    if rows > MOST_NODES:
        raise InputError(f"{path}: line {at}: {rows} nodes, expected at most {MOST_NODES}")
    if len(body) - 1 != entries:
        raise InputError(
            f"{path}: line {at}: {entries} entries announced, {len(body) - 1} lines found"
        )
    read = Read(path, sha256, directed, nodes=list(range(1, rows + 1)))
    for number, cells in body[1:]:
        read.lines_read += 1
        ends = [node_of(cell) for cell in cells[:2]]
        if len(cells) != 2 + values or any(end is None or not 1 <= end <= rows for end in ends):
            raise InputError(
                f"{path}: line {number}: {' '.join(cells)[:40]!r}, expected two numbers from 1 to "
                f"{rows}{f' and {values} values' if values else ''}"
            )
        u, v = (end or 0 for end in ends)
        read.add(u, v)
        if directed and both_ways and u != v:
            read.add(v, u)
    return read


def _header(path: Path, line: str) -> tuple[int, bool]:
    """Return the values of an entry, and True if an entry stands for its mirror image, too."""
    words = line.lower().split()[1:]
    kind, form, field, symmetry = words if len(words) == 4 else ("", "", "", "")
    sparse = (kind, form) == ("matrix", "coordinate")
    if not sparse or field not in _VALUES or symmetry not in _SYMMETRIES:
        raise InputError(
            f"{path}: line 1: {line[:80]!r}, expected 'matrix coordinate', then "
            f"{' or '.join(_VALUES)}, then {' or '.join(_SYMMETRIES)}"
        )
    return _VALUES[field], symmetry != "general"
