r"""Instances from measured times of the cache workflow, by a least-squares fit of a / c + d."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.rejections import Rejection, in_one_line
from gadgetopt.system.declaring import importer

if TYPE_CHECKING:
    import numpy as np

    from gadgetopt.pieces.import_outcome import ImportOutcome

#: Digits after the point that fitted coefficients keep.
_DIGITS = 9


@importer(
    name="cache-profile-csv",
    help={"request_core_s": "this and the others are what the profile does not say"},
)
def profile_csv(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    request_core_s: float = 8.0,
    construct_core_s: float = 4.0,
    net_s: float = 0.5,
    process_core_s: float = 6.0,
    subgraph_unit_s: float = 2.0,
    feature_unit_s: float = 3.0,
    gpu_s: float = 0.9,
    store_cores: int = 10,
    worker_cores: int = 8,
    pcie_units: int = 6,
) -> ImportOutcome:
    """CSV files with columns cores and seconds: measured times of the cache workflow.

    Make an instance of each CSV file with the columns `cores` and `seconds`.

    a and d of the cache workflow are fitted to the rows; see `fitted`. The other parameters are the
    fields of the instance.

    Parameters
    ----------
    files : sequence of Path
        With a header; further columns are ignored.
    rng : numpy.random.Generator
        Not used: nothing is drawn.

    Raises
    ------
    InputError
        If a file cannot be read, or fewer than two numbers of cores were measured.
    """
    from gadgetopt.pieces.file_imports import FileImports

    from ...instance import ResourcesInstance

    if not files:
        raise InputError("files: none given, expected at least one")
    given: dict[str, Any] = {
        "request_core_s": request_core_s,
        "construct_core_s": construct_core_s,
        "net_s": net_s,
        "process_core_s": process_core_s,
        "subgraph_unit_s": subgraph_unit_s,
        "feature_unit_s": feature_unit_s,
        "gpu_s": gpu_s,
        "store_cores": store_cores,
        "worker_cores": worker_cores,
        "pcie_units": pcie_units,
    }
    imports = FileImports("cache-profile-csv", given)
    for path in map(Path, files):
        table = read_rows(path, ["cores", "seconds"])
        at = [table.header.index(name) for name in ("cores", "seconds")]
        points: list[tuple[int, float]] = []
        rejected: list[Rejection] = []
        for line, cells in table.rows:
            texts = [cells[k] if k < len(cells) else "" for k in at]
            point = _point(*texts)
            if point is None:
                reason = "cores, seconds: expected a whole number and a number, both positive"
                rejected.append(Rejection(path.name, line, reason, ",".join(texts)))
            else:
                points.append(point)
        if len({cores for cores, _ in points}) < 2:
            raise InputError(
                f"{path}: fewer than two different numbers of cores "
                f"(rejected: {in_one_line(rejected)})"
            )
        a, d = fitted(points)
        cache: dict[str, Any] = {
            "cache_core_s": decimal_rational(round(a, _DIGITS)),
            "cache_floor_s": decimal_rational(round(d, _DIGITS)),
        }
        name = f"{path.stem}_{worker_cores}_cores"
        instance = ResourcesInstance(**given, **cache)
        imports.add(
            name,
            instance,
            path=path,
            sha256=table.sha256,
            rows_read=len(table.rows),
            rejected=rejected,
        )
    return imports.outcome()


def fitted(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return a and d of the least squares of a / c + d, neither of them negative.

    Where the unconstrained d is negative it is 0, and a is fitted again; where a is, times do not
    fall with cores, a is 0 and d their mean.
    """
    n = len(points)
    inverse = [1.0 / cores for cores, _ in points]
    times = [seconds for _, seconds in points]
    mean_x, mean_y = math.fsum(inverse) / n, math.fsum(times) / n
    pairs = list(zip(inverse, times, strict=True))
    spread = math.fsum((x - mean_x) ** 2 for x in inverse)
    a = math.fsum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread
    if a < 0:
        return 0.0, mean_y
    d = mean_y - a * mean_x
    if d < 0:
        return math.fsum(x * y for x, y in pairs) / math.fsum(x * x for x in inverse), 0.0
    return a, d


def _point(cores: str, seconds: str) -> tuple[int, float] | None:
    if not (cores.isascii() and cores.isdigit() and len(cores) <= 9 and int(cores) > 0):
        return None
    try:
        time_s = float(seconds)
    except ValueError:
        return None
    return (int(cores), time_s) if math.isfinite(time_s) and time_s > 0 else None
