r"""A table of prices as a CSV file, against all streams of values from L to U.

Buyers' values are whole multiples of a tick, or L or U. Of those only few can be the worst: as long
as no value crosses a price, the same buyers are served, OPT is convex in the values and ALG linear;
so :math:`OPT - \rho\, ALG` is largest where every value is the least or the largest one between two
neighbouring prices. The instance has these values, and its worst sequence is the worst of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.csv_rows import read_rows
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer

from ....subproblems.prices import of_table
from ...instance import (
    AdversarialOnlineSequenceInstance,
    RequestType,
)

if TYPE_CHECKING:
    import numpy as np

_COLUMN = "price"


@importer(
    name="prices-csv",
    help={
        "value_min": "the least value that a buyer may have",
        "value_max": "the largest one",
        "tick": "values are whole multiples of it, besides value_min and value_max",
        "horizon": "buyers at most; twice the units by default, enough for rising prices",
        "payoff": "ratio or regret",
    },
)
def prices_csv(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    value_min: float = 1.0,
    value_max: float = 10.0,
    tick: float = 0.01,
    horizon: int | None = None,
    payoff: str = "ratio",
) -> ImportOutcome:
    """CSV files with a column price, one row for every unit in the order of sale.

    Make an instance of each CSV file with the column `price`.

    Parameters
    ----------
    files : sequence of Path
        With a header; row u is the price of a unit when u are sold. Further columns are ignored.
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    value_min, value_max : float
        Bounds on the values of buyers.
    tick : float, default 0.01
        Values between the bounds are whole multiples of it.
    horizon : int, optional
        Buyers at most; by default twice the units.
    payoff : "ratio" or "regret"

    Raises
    ------
    InputError
        If a file cannot be read, a row of it is no price, or an option cannot be used.
    """
    if not files:
        raise InputError("files: none given, expected at least one table of prices")
    if payoff not in ("ratio", "regret"):
        raise InputError(f"payoff: {payoff!r}, expected 'ratio' or 'regret'")
    if not 0 < value_min <= value_max:
        raise InputError(f"value_min: {value_min}, expected above 0, up to value_max, {value_max}")
    if not tick > 0:
        raise InputError(f"tick: {tick}, expected above 0")
    low, high, step = map(decimal_rational, (value_min, value_max, tick))
    instances, details, sources = [], [], []
    for path in map(Path, files):
        table = read_rows(path, [_COLUMN])
        at = table.header.index(_COLUMN)
        prices = [_price(path, line, cells, at) for line, cells in table.rows]
        if not prices:
            raise InputError(f"{path}: no row, expected the price of every unit")
        values = candidates(prices, low, high, step)
        name = f"{path.stem}_{len(prices)}"
        instance = AdversarialOnlineSequenceInstance(
            capacity=(len(prices),),
            types=tuple(RequestType(value=value) for value in values),
            horizon=2 * len(prices) if horizon is None else horizon,
            policy=(of_table(prices),),
            payoff="ratio" if payoff == "ratio" else "regret",
        )
        instances.append((name, instance))
        sources.append({"name": path.name, "sha256": table.sha256})
        details.append({"name": name, "rows_read": len(table.rows), "values": len(values)})
    options: dict[str, Any] = {
        "value_min": value_min,
        "value_max": value_max,
        "tick": tick,
        "horizon": horizon,
        "payoff": payoff,
    }
    return ImportOutcome(
        list(instances),
        {"instances": details},
        {"format": "prices-csv", "files": sources, "options": options},
    )


def candidates(
    prices: Iterable[Fraction], low: Fraction, high: Fraction, tick: Fraction
) -> list[Fraction]:
    """Return the values that a worst sequence needs: the ends of the gaps between prices."""
    values = {low, high}
    for price in prices:
        above = math.ceil(price / tick)
        values |= {above * tick, (above - 1) * tick}
    return sorted(value for value in values if low <= value <= high)


def _price(path: Path, line: int, cells: Sequence[str], at: int) -> Fraction:
    text = cells[at] if at < len(cells) else ""
    try:
        price = float(text)
    except ValueError:
        price = 0.0
    if not 1e-30 <= price <= 1e30:
        raise InputError(f"{path}: line {line}: {_COLUMN}: {text!r}, expected a positive number")
    return decimal_rational(price)
