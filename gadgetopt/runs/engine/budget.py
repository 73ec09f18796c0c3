"""How long the bound of a run may be worked on after the run."""

from __future__ import annotations

import math

from gadgetopt.errors import InputError

#: Seconds of proving that a multiple gives any run, for each time above the first.
LEAST_S = 0.5


def budget_s(text: str, time_s: float) -> float:
    """Return the seconds of proving that `30` or `10x` gives a run that took `time_s`.

    `10x` gives short runs at least 4.5 s: ten times a hundredth of a second proves nothing. `1x`
    never gives more than the run took.

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
    return max(number * time_s, (number - 1) * LEAST_S) if text.endswith("x") else number
