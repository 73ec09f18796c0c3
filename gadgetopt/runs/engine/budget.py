"""How long the bound of a run may be worked on after the run."""

from __future__ import annotations

import math

from gadgetopt.errors import InputError


def budget_s(text: str, time_s: float) -> float:
    """Return the seconds of proving that `30` or `10x` gives a run that took `time_s`.

    Raises
    ------
    InputError
        If the text is neither.
    """
    try:
        number = float(text.removesuffix("x"))
    except ValueError:
        number = math.nan
    if not (0 < number < math.inf):
        raise InputError(f"--certify: {text!r} is neither seconds nor a multiple such as 10x")
    return number * time_s if text.endswith("x") else number
