"""Times of a trace in seconds since 1970, however the file writes them."""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np
import pandas as pd

from gadgetopt.numbers.arrays import Floats

#: What a cell must look like, for messages.
EXPECTED_TIME = (
    "a time like 2017-10-09 06:13:03 or 2017-10-09T06:13:03+08:00, or seconds since 1970"
)

_DATE_AND_CLOCK = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_SECONDS = re.compile(r"\d{9,10}(?:\.\d{1,9})?", re.ASCII)
#: 1990 and 2100: smaller numbers count from some other day, greater ones are not seconds.
#: By definition.
_FIRST_S, _LAST_S = 631152000.0, 4102444800.0


def seconds_since_1970(cells: pd.Series[str]) -> Floats:
    """Return the times of cells, NaN where there is none; those without a zone are UTC."""
    times = pd.to_datetime(cells, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    seconds = np.array((times - pd.Timestamp(0)) / pd.Timedelta(seconds=1), dtype=np.float64)
    for row in np.flatnonzero(np.isnan(seconds)):
        seconds[row] = _seconds(cells.iloc[row])
    return seconds


def _seconds(cell: str) -> float:
    """Return the time of a cell in one of the less frequent forms."""
    if _SECONDS.fullmatch(cell):
        seconds = float(cell)
        return seconds if _FIRST_S <= seconds <= _LAST_S else float("nan")
    found = _DATE_AND_CLOCK.fullmatch(cell)
    if found is None:
        return float("nan")
    date, clock, zone = found.groups()
    if zone is None or zone.upper() in ("Z", "UTC", "GMT"):
        zone = "+00:00"
    try:
        return datetime.fromisoformat(f"{date}T{clock}{zone}").timestamp()
    except ValueError:
        return float("nan")
