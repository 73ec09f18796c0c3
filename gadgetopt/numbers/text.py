"""Numbers and gaps as text."""

from __future__ import annotations

import math
from decimal import Decimal

from gadgetopt.numbers.tolerance import Number

#: Larger integers are printed with six significant digits, too.
LONG = 10**21


def show(x: Number) -> str:
    """Return a number as text: integers in full, others with six significant digits."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    if not -LONG < x < LONG:
        return f"{Decimal(int(x)):.6g}"
    return str(int(x)) if x == int(x) else f"{float(x):.6g}"


def show_gap(gap: float, digits: int) -> str:
    """Return a relative gap in percent; `inf` beyond a million, where the incumbent is almost 0."""
    return "inf" if gap > 1e4 else f"{100 * gap:.{digits}f}%"
