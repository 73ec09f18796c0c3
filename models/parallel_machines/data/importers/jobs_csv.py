"""Instances from tables: a CSV file with a column of processing times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.rejections import Rejection, in_one_line
from gadgetopt.system.declaring import importer

if TYPE_CHECKING:
    import numpy as np

    from gadgetopt.pieces.import_outcome import ImportOutcome

_COLUMN = "processing_s"


@importer(name="jobs-csv", help={"machines": "number of machines, which the file does not say"})
def jobs_csv(
    files: Sequence[Path], rng: np.random.Generator, *, machines: int = 2
) -> ImportOutcome:
    """CSV files with a column processing_s, one row a job.

    Make an instance of each CSV file with the column `processing_s`, whole seconds.

    Parameters
    ----------
    files : sequence of Path
        With a header; further columns are ignored.
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    machines : int, default 2

    Raises
    ------
    InputError
        If a file cannot be read or no row of it is a job.
    """
    from gadgetopt.pieces.file_imports import FileImports

    from ...instance import ParallelMachinesInstance

    if not files:
        raise InputError("files: none given, expected at least one")
    imports = FileImports("jobs-csv", {"machines": machines})
    for path in map(Path, files):
        table = read_rows(path, [_COLUMN])
        at = table.header.index(_COLUMN)
        times: list[int] = []
        rejected: list[Rejection] = []
        for line, cells in table.rows:
            text = cells[at] if at < len(cells) else ""
            time_s = _whole_seconds(text)
            if time_s is None:
                reason = f"{_COLUMN}: expected a positive whole number"
                rejected.append(Rejection(path.name, line, reason, text))
            else:
                times.append(time_s)
        if not times:
            raise InputError(
                f"{path}: no row has a positive whole number as {_COLUMN} "
                f"(rejected: {in_one_line(rejected)})"
            )
        name = f"{path.stem}_{len(times)}x{machines}"
        instance = ParallelMachinesInstance(machines=machines, processing_s=tuple(times))
        imports.add(
            name,
            instance,
            path=path,
            sha256=table.sha256,
            rows_read=len(table.rows),
            rejected=rejected,
        )
    return imports.outcome()


def _whole_seconds(text: str) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        return None
    return int(text) or None
