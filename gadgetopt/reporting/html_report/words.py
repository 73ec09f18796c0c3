"""Numbers of the page as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gadgetopt.reporting.cells import VACUOUS


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural where needed."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def interval(low: float | None, high: float | None) -> str:
    """Return a ratio as text: one number if it is certified to three decimals, else both ends.

    An infinite lower end stands alone.
    """
    if low == math.inf:
        return _ratio(low)
    if low is None:
        return "?" if high is None else f"≤ {_ratio(high)}"
    if high is None:
        return f"≥ {_ratio(low)}"
    if _ratio(low) == _ratio(high):
        return _ratio(low)
    return f"{_ratio(low)} – {_ratio(high)}"


def guarantee(x: float) -> str:
    """Return the ratio that a theorem guarantees; "> 1000 (vacuous)" where it says nothing."""
    return f"> {VACUOUS:.0f} (vacuous)" if x > VACUOUS else _ratio(x)


def seconds(time_s: float) -> str:
    """Return a time as text with a sensible number of digits."""
    if time_s < 0.1:
        return f"{1000 * time_s:.1f} ms"
    return f"{time_s:.2f} s" if time_s < 100 else f"{time_s:.0f} s"


def proof(told: Mapping[str, Any]) -> str:
    """Return what proved a bound as a phrase: kind, size, seconds to find and to check it.

    Parameters
    ----------
    told : mapping
        What a run's notes say of its proof.
    """
    phrases = [f"failed {told['failed']}"] if "failed" in told else []
    if "refused" in told and "kind" not in told:
        phrases.append(f"refused: {told['refused']}")
    if "kind" in told:
        named = str(told["kind"]).replace("_", "-")
        by = f"over {told['formulation']}" if "formulation" in told else f"of {told.get('method')}"
        phrases.append(f"{named} {by}" if named == "certificate" else f"{named} proof {by}")
    if "leaves" in told:
        phrases.append("1 leaf" if told["leaves"] == 1 else f"{told['leaves']:,} leaves")
    if "steps" in told:
        phrases.append(counted(told["steps"], "step"))
    if "bytes" in told:
        phrases.append(counted(told["bytes"], "byte"))
    if "prove_s" in told:
        phrases.append(f"found in {seconds(told['prove_s'])}")
    if "check_s" in told:
        phrases.append(f"checked in {seconds(told['check_s'])}")
    if "bound" in told:
        phrases.append(f"proves {number(told['bound'])}")
    return ", ".join(phrases)


def number(text: str) -> str:
    """Return a number of a proof, as notes keep it, with six digits."""
    try:
        return f"{float(Fraction(text)):.6g}"
    except (ValueError, OverflowError):
        return text


def spoken(name: str) -> str:
    """Return a column's name in words: `param_extra` is "parameter extra"."""
    return name.replace("param_", "parameter ", 1).replace("_", " ")


def _ratio(x: float) -> str:
    return "∞" if math.isinf(x) else f"{x:.3f}" if x < 1000 else f"{float(f'{x:.4g}'):.10g}"
