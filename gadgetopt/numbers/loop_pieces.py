"""What compiled loops do often, in words that numba compiles in a moment.

`target[:] = source` alone takes it two seconds, as the sentence of its error is compiled with it,
and a sort of its own takes one; that is said once here and used where a loop would be slow to come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import compiled


@compiled
def put(target: Any, source: Any) -> None:
    """Write the numbers of one row over those of another of the same length."""
    for k in range(len(target)):
        target[k] = source[k]


@compiled
def least_place(values: Any) -> int:
    """Return the place of the least number, of the first of them."""
    place = 0
    for k in range(1, len(values)):
        if values[k] < values[place]:
            place = k
    return place


@compiled
def rising(keys: Any) -> Ints:
    """Return the places of a short row of numbers by rising number, equal ones as they stand."""
    order = np.zeros(len(keys), dtype=np.int64)
    for k in range(len(keys)):
        at = k
        while at > 0 and keys[order[at - 1]] > keys[k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    return order
