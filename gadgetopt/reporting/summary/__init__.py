"""Many runs as a few lines: who solves how much, how far from the optimum, how fast.

summary        the runs of a store or a list of entries as one table
outcomes       one method on one instance, over its seeds
groups         outcomes by system, method and columns of the instances
labels         names that tell apart runs of one method under different conditions
columns        what a printed summary shows
cross_table    a row per group of instances, a column per method
screen         the summary as a table on the terminal
documents      the summary as Markdown, LaTeX, CSV and JSON
ending         what a comparison ends with
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gadgetopt.reporting.summary.groups import summarize
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import Entry
from gadgetopt.runs.upkeep import fitting

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

__all__ = ["chosen", "summarize", "summary"]


def summary(
    runs: Path | str | Sequence[Entry],
    by: str | Sequence[str] = (),
    *,
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """Return one row per system, group of instances, and method.

    Parameters
    ----------
    runs : path or sequence of Entry
        A store, or the entries of a comparison.
    by : str or sequence of str
        Columns of the instances that form the groups: `instance`, `preset`, `size_jobs`,
        `feature_load`, `param_gpus`, ... `feature_load:4` makes four groups of about as many
        instances each.
    systems, methods, instances : sequence of str
        Only these; methods by name or kind, instances by name or pattern (`paper_*`). Ratios are
        still those to the best solution and bound of all runs; wins and ties are among the rows
        that are left.
    rng : numpy.random.Generator, optional
        With it there are bootstrap intervals of the mean times, and primal-dual integrals.

    Returns
    -------
    pandas.DataFrame
        The columns are described at `summarize`.

    Raises
    ------
    InputError
        If there is no such store, column, system, method or instance.
    """
    table = ratios(runs, traces=rng is not None) if isinstance(runs, Path | str) else list(runs)
    kept = chosen(table, systems, methods, instances)
    return summarize(kept, (by,) if isinstance(by, str) else tuple(by), rng)


def chosen(
    table: Sequence[Entry],
    systems: Sequence[str] = (),
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
) -> list[Entry]:
    """Return the entries of some systems, methods and instances; all where none are given.

    Raises
    ------
    InputError
        If a name fits no entry.
    """
    kept = list(table)
    for what, patterns, names_of in (
        ("systems", systems, lambda e: (e.result.problem,)),
        ("methods", methods, _names_of_method),
        ("instances", instances, lambda e: (e.result.instance,)),
    ):
        kept = fitting(kept, what, patterns, names_of)
    return kept


def _names_of_method(entry: Entry) -> tuple[str, ...]:
    method = entry.result.method
    return method, method.partition(":")[0], entry.result.kind
