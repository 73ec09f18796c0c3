"""Performance profiles as tables: a row per factor, a column per method, shares in the cells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.reporting.html_report.profiles import EQUAL, MEASURES, curves
from gadgetopt.reporting.html_report.reading import System, read_systems
from gadgetopt.reporting.summary.cross_table import CrossTable
from gadgetopt.runs.store import Store

if TYPE_CHECKING:
    import pandas as pd

#: The rows of a table of factors, of one of gaps.
FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0)
GAPS = (0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.5)

#: What a table of a measure says.
MEANINGS = {
    "time": "share of instances proved optimal within this factor of the fastest method's time.",
    "integral": "share of instances with a primal-dual integral within this factor of the least.",
    "ratio": "share of instances with an objective within this factor of the best known; instances "
    "without a positive objective do not count, see gap.",
    "gap": "share of instances with an objective within this gap of the best known.",
}


def performance_profile(
    store: Path | str, measure: str, factors: Sequence[float] | None = None
) -> pd.DataFrame:
    """Return performance profiles after Dolan and Moré (2002) as a table.

    Parameters
    ----------
    store : path
    measure : "time", "integral", "ratio" or "gap"
        Time to proven optimality, or the primal-dual integral, over the least of all methods on the
        instance; the objective over the best known, which only positive objectives have; or the gap
        to the best known objective, which all have.
    factors : sequence of float, optional
        Of which the table has rows.

    Returns
    -------
    pandas.DataFrame
        `system`, `within`, and a column per method: the share of instances on which it is within
        the factor of the best, or the gap to it. Runs of several seeds share an instance. NaN in a
        system in which the method was not run.

    Raises
    ------
    InputError
        If there is no such store or measure.
    """
    import pandas as pd

    if measure not in MEASURES:
        raise InputError(f"--profile: {measure!r} is not one of {', '.join(MEASURES)}")
    with Store(Path(store), create=False) as runs:
        systems = read_systems(runs)
    at = tuple(factors or (GAPS if measure == "gap" else FACTORS))
    rows = [row for system in systems for row in _rows(system, measure, at)]
    methods = dict.fromkeys(method for system in systems for method in system.methods)
    return pd.DataFrame(rows, columns=["system", "within", *methods])


def as_text(frame: pd.DataFrame, measure: str) -> list[CrossTable]:
    """Return a profile as the table of each system."""
    out = []
    for system, rows in frame.groupby("system", sort=False):
        own = rows.drop(columns="system").dropna(axis="columns")
        cells = (
            (f"{100 * x:g}%" if measure == "gap" else f"{x:g}", *(f"{y:.0%}" for y in shares))
            for x, *shares in own.itertuples(index=False)
        )
        out.append(CrossTable(str(system), ("within", *own.columns[1:]), tuple(cells), 1))
    return out


def _rows(system: System, measure: str, at: Sequence[float]) -> list[dict[str, object]]:
    none: tuple[list[float], list[float]] = ([], [])
    found = {method: (xs, ys) for method, xs, ys in curves(system, system.methods, measure)}
    return [
        {"system": system.name, "within": x}
        | {method: _share(found.get(method, none), x) for method in system.methods}
        for x in at
    ]


def _share(staircase: tuple[list[float], list[float]], x: float) -> float:
    """Return the height of a staircase at `x`."""
    xs, ys = staircase
    k = bisect_right(xs, x * (1 + EQUAL))
    return ys[k - 1] if k else 0.0
