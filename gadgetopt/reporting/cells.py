"""Numbers as text, the same in all tables and sentences."""

from __future__ import annotations

import math

from gadgetopt.numbers.text import show_gap

#: A guaranteed ratio beyond this says nothing about a method, and is shown as such.
VACUOUS = 1000.0


def ratio(low: float, high: float, dash: str = "..") -> str:
    """Return a ratio with three decimals, or its ends if they differ: "1.264", "1.1..1.3".

    NaN is an unknown lower end, and both ends NaN an empty text; an infinite or unknown upper end
    is "?".
    """
    if math.isnan(low) and not (high < math.inf):
        return ""
    ends = [_decimals(low), "?" if math.isinf(high) or math.isnan(high) else _decimals(high)]
    return ends[0] if math.isinf(low) or ends[0] == ends[1] else dash.join(ends)


def gap(x: float) -> str:
    """Return a relative gap in percent, rounded up; "?" without a dual bound, empty for NaN."""
    if math.isnan(x):
        return ""
    if math.isinf(x):
        return "?"
    up = math.ceil(round(1000 * x, 6)) / 1000  # 0.3 % is a little more than 3 in doubles
    return show_gap(up or (0.001 if x else 0.0), 1)


def guarantee(x: float) -> str:
    """Return the ratio that a theorem guarantees; "> 1000" for a vacuous one."""
    return f"> {VACUOUS:.0f}" if x > VACUOUS else f"{x:.3f}"


def seconds(time_s: float) -> str:
    """Return seconds with two decimals, or none from 100 s on."""
    if math.isnan(time_s):
        return ""
    if time_s < 0.005:
        return "<0.01"
    return f"{time_s:.2f}" if time_s < 100 else f"{time_s:.0f}"


def share(part: int, whole: int) -> str:
    """Return a share in whole percent, where 0 and 100 mean none and all."""
    if part == 0 or whole == 0:
        return "0"
    percent = 100 * part / whole
    if percent < 0.5:
        return "<1"
    return ">99" if part < whole and percent >= 99.5 else f"{percent:.0f}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural where needed."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _decimals(x: float) -> str:
    if math.isnan(x):
        return "?"
    if math.isinf(x):
        return "inf"
    return f"{x:.3f}" if x < 10_000 else f"{x:.3g}"
