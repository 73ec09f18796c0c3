"""Slowdowns that a user measured: a CSV file becomes a table of interference.

Each row is a measurement, `victim,neighbours,slowdown`: a type, the other types on the server
joined by `+`, and by how much an iteration of the victim takes longer, relative to being alone. The
table is the ridge regression on the counts of the neighbours; the report gives its error on rows
left out. Measurements of the same victim and neighbours are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from pydantic import ValidationError as PydanticError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.import_outcome import ImportOutcome, drawn_name
from gadgetopt.pieces.learning.interference_model import (
    Samples,
    additive,
    left_out_error,
    ridge,
)
from gadgetopt.system.declaring import importer

from ....subproblems.cluster import Measured
from ....subproblems.random_jobs import (
    jobs_for,
    racks_of,
)
from ...instance import PlacementInstance

#: Decimals of a fitted slowdown.
_DECIMALS = 4


class ClusterOptions(BaseModel):
    """Options of all importers: the cluster, and how full it may be."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    count: PositiveInt = 1
    racks: PositiveInt = 2
    servers_per_rack: PositiveInt = 10
    gpus_per_server: PositiveInt = 4
    load: float = Field(default=0.9, gt=0, le=1)


class InterferenceCsvOptions(ClusterOptions):
    """Options of `interference_csv`.

    Attributes
    ----------
    jobs : int
    keep_measured : bool
    """

    jobs: PositiveInt = 60
    keep_measured: bool = True


@dataclass(frozen=True)
class Measurements:
    """What a file says.

    Attributes
    ----------
    types : tuple of str
        Names of the types, in the order of the alphabet.
    table : tuple of tuple of Fraction
        The fitted table; the row is the victim.
    measured : tuple of Measured
        Neighbourhoods of several jobs, with their mean slowdown.
    report : dict
        Rows, types, error of the fit.
    sha256 : str
    """

    types: tuple[str, ...]
    table: tuple[tuple[Fraction, ...], ...]
    measured: tuple[Measured, ...]
    report: dict[str, Any]
    sha256: str


@importer(
    name="interference-csv",
    summary=(
        "Random jobs of the types whose slowdowns were measured: columns victim, "
        "neighbours (types joined by +), slowdown"
    ),
    options=InterferenceCsvOptions,
    help={
        "jobs": "random jobs, as long as there is room for them",
        "keep_measured": (
            "neighbourhoods of several jobs keep their measured slowdown; otherwise all "
            "are sums of the fitted table"
        ),
        "count": "instances; each draws its jobs anew",
        "load": "share of the GPUs that the jobs may need; jobs without room are left out",
    },
)
def interference_csv(
    files: Sequence[Path], rng: np.random.Generator, **options: Any
) -> ImportOutcome:
    """Make instances with a measured table; see `InterferenceCsvOptions`."""
    chosen = read_options(InterferenceCsvOptions, options, "interference-csv")
    if len(files) != 1:
        raise InputError(f"interference-csv: {len(files)} files, expected one")
    known = read_measurements(files[0])
    instances = []
    for k in range(chosen.count):
        servers = racks_of(
            chosen.racks,
            chosen.servers_per_rack,
            chosen.gpus_per_server,
            4 * chosen.gpus_per_server,
        )
        jobs = jobs_for(rng, servers, jobs=chosen.jobs, types=len(known.types), load=chosen.load)
        named = tuple(job.model_copy(update={"name": known.types[job.type]}) for job in jobs)
        instance = PlacementInstance(
            servers=servers,
            jobs=named,
            interference=known.table,
            measured=known.measured if chosen.keep_measured else (),
        )
        instances.append((drawn_name(files[0].stem, rng, k), instance))
    origin = {
        "format": "interference-csv",
        "files": [{"name": files[0].name, "sha256": known.sha256}],
        "options": chosen.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), known.report, origin)


def read_options(kind: type[Any], options: dict[str, Any], form: str) -> Any:
    """Return an importer's options, or one line that says which is wrong."""
    try:
        return kind(**options)
    except PydanticError as error:
        wrong = error.errors(include_url=False)[0]
        name = ".".join(map(str, wrong["loc"]))
        raise InputError(f"import {form}: {name}: {wrong['input']!r}: {wrong['msg']}") from None


def read_measurements(path: Path) -> Measurements:
    """Read a file of measured slowdowns and fit the table.

    Raises
    ------
    InputError
        One line that names the line of the file, if a row cannot be read.
    """
    read = read_rows(path, ("victim", "neighbours", "slowdown"))
    place = {name: read.header.index(name) for name in ("victim", "neighbours", "slowdown")}
    rows = []
    for line, row in read.rows:
        if len(row) != len(read.header):
            raise InputError(f"{path}: line {line}: {len(row)} fields, expected {len(read.header)}")
        victim, others, text = (row[place[name]] for name in place)
        neighbours = [name.strip() for name in others.split("+")]
        if not victim or not all(neighbours):
            raise InputError(f"{path}: line {line}: {row[:2]}, expected names of types")
        rows.append((victim, neighbours, _slowdown(path, line, text)))
    if not rows:
        raise InputError(f"{path}: no row, expected measurements")
    types = tuple(sorted({name for v, n, _ in rows for name in (v, *n)}))
    index = {name: k for k, name in enumerate(types)}
    counts = np.zeros((len(rows), len(types)), dtype=np.int64)
    for r, (_, neighbours, _) in enumerate(rows):
        for name in neighbours:
            counts[r, index[name]] += 1
    samples = Samples(
        np.array([index[v] for v, _, _ in rows]), counts, np.array([s for *_, s in rows])
    )
    table = ridge(samples)
    error = left_out_error(samples, lambda some: additive(ridge(some)), np.random.default_rng(0))
    own = additive(table)(samples.victim, samples.neighbours) - samples.slowdown
    unknown = [
        f"{types[v]} by {types[k]}"
        for v in range(len(types))
        for k in range(len(types))
        if not counts[samples.victim == v, k].any()
    ]
    report = {
        "rows_read": len(rows),
        "types": list(types),
        "error_of_fit": float(np.sqrt(np.mean(own**2))),
        "error_on_rows_left_out": error,
        "pairs_never_measured_taken_as_0": unknown,
    }
    exact = tuple(tuple(decimal_rational(round(float(a), _DECIMALS)) for a in row) for row in table)
    return Measurements(types, exact, _neighbourhoods(samples), report, read.sha256)


def _slowdown(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(
            f"{path}: line {line}: slowdown: {text!r}, expected a number of at least 0"
        )
    return value


def _neighbourhoods(samples: Samples) -> tuple[Measured, ...]:
    """Return the mean slowdown of each victim and several neighbours."""
    found: dict[tuple[int, tuple[int, ...]], list[float]] = {}
    rows = zip(samples.victim.tolist(), samples.neighbours.tolist(), samples.slowdown, strict=True)
    for victim, neighbours, slowdown in rows:
        if sum(neighbours) > 1:
            found.setdefault((victim, tuple(neighbours)), []).append(float(slowdown))
    return tuple(
        Measured(
            victim=victim,
            neighbours=neighbours,
            slowdown=decimal_rational(round(float(np.mean(values)), _DECIMALS)),
        )
        for (victim, neighbours), values in sorted(found.items())
    )
