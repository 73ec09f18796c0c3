"""Streams of bids from tables: what each buyer bids, and the units that she asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.file_imports import FileImports
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.rejections import Rejection, in_one_line
from gadgetopt.system.declaring import importer

from ...instance import AdversarialOnlineRunInstance

if TYPE_CHECKING:
    import numpy as np

_VALUE = "value"


@importer(
    name="bids-csv",
    help={
        "capacity": "units of each resource, such as 10 or gpus=8,memory=64",
        "value_min": "of a unit; the least one of the file by default",
        "value_max": "of a unit; the largest one of the file by default",
    },
)
def bids_csv(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    capacity: str = "10",
    value_min: float | None = None,
    value_max: float | None = None,
) -> ImportOutcome:
    """CSV files with a column value, and one of units for every resource.

    Make a stream of each CSV file, whose rows are bids in their order.

    Parameters
    ----------
    files : sequence of Path
        With a header and a column `value`. For every resource that `capacity` names, a column of
        that name has the units asked for; without names every bid is for one unit.
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    capacity : str, default "10"
        Units for sale: a number, or `name=number` of each resource, separated by commas.
    value_min, value_max : float, optional
        Bounds on the value of a unit; those of the file by default. Bids outside are rejected.

    Raises
    ------
    InputError
        If a file cannot be read, no row of it is a bid, or `capacity` is none.
    """
    if not files:
        raise InputError("files: none given, expected at least one table of bids")
    resources = _resources(capacity)
    options = {"capacity": capacity, "value_min": value_min, "value_max": value_max}
    imports = FileImports("bids-csv", options)
    for path in map(Path, files):
        table = read_rows(path, [_VALUE, *(name for name, _ in resources if name)])
        bids: list[tuple[float, tuple[int, ...]]] = []
        rejected: list[Rejection] = []
        for line, cells in table.rows:
            row = dict(zip(table.header, cells, strict=False))
            bid = _bid(row, resources, value_min, value_max)
            if isinstance(bid, _NoBid):
                rejected.append(Rejection(path.name, line, bid.reason, bid.value))
            else:
                bids.append(bid)
        if not bids:
            raise InputError(
                f"{path}: no row is a bid for what is for sale (rejected: {in_one_line(rejected)})"
            )
        units = [decimal_rational(value) / sum(demand) for value, demand in bids]
        named = any(name for name, _ in resources)
        name = f"{path.stem}_{len(bids)}"
        instance = AdversarialOnlineRunInstance(
            capacity=tuple(units_for_sale for _, units_for_sale in resources),
            value=tuple(value for value, _ in bids),
            demand=tuple(demand for _, demand in bids) if named else (),
            value_min=min(units) if value_min is None else _exact(value_min),
            value_max=max(units) if value_max is None else _exact(value_max),
        )
        imports.add(
            name,
            instance,
            path=path,
            sha256=table.sha256,
            rows_read=len(table.rows),
            rejected=rejected,
        )
    return imports.outcome()


def _exact(value: float) -> Fraction:
    return decimal_rational(value)


def _resources(capacity: str) -> list[tuple[str, int]]:
    """Return names and units of the resources; the name is empty where none is given."""
    resources = []
    parts = str(capacity).split(",")
    for part in parts:
        name, _, units = part.rpartition("=")
        if not (units.strip().isdigit() and int(units)) or (not name.strip() and len(parts) > 1):
            raise InputError(f"capacity: {capacity!r}, expected such as 10 or gpus=8,memory=64")
        resources.append((name.strip(), int(units)))
    return resources


@dataclass(frozen=True)
class _NoBid:
    """Why a row is no bid, and what stands there."""

    reason: str
    value: str


def _bid(
    row: dict[str, str],
    resources: Sequence[tuple[str, int]],
    value_min: float | None,
    value_max: float | None,
) -> tuple[float, tuple[int, ...]] | _NoBid:
    """Return value and demand of a row."""
    text = row.get(_VALUE, "")
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-30 <= value <= 1e30:
        return _NoBid(f"{_VALUE}: expected a positive number", text)
    demand = []
    for name, for_sale in resources:
        cell = row.get(name, "") if name else "1"
        whole = cell.isascii() and cell.isdigit() and len(cell) <= 18
        if not whole or int(cell) > for_sale:
            return _NoBid(f"{name}: expected whole units up to {for_sale}", cell)
        demand.append(int(cell))
    if not any(demand):
        return _NoBid("demand: expected at least one unit", "0")
    unit = decimal_rational(value) / sum(demand)
    if value_min is not None and unit < _exact(value_min):
        return _NoBid(f"{_VALUE}: below value_min", f"{text} for {sum(demand)} units")
    if value_max is not None and unit > _exact(value_max):
        return _NoBid(f"{_VALUE}: above value_max", f"{text} for {sum(demand)} units")
    return value, tuple(demand)
