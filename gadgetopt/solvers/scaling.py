"""The unit in which HiGHS counts an objective: its tolerances are absolute, instances are not.

A reduced cost below 1e-7 is nothing to HiGHS, and one that large is an error of rounding where
costs are 1e12. So costs far from ordinary ones are handed over in a power of two, which changes no
digit, and what comes back is multiplied by it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

#: Objectives whose largest cost lies in this range are counted as they are.
ORDINARY = (1.0, 2.0**20)
#: The largest cost of any other becomes about this.
MODERATE_EXPONENT = 10
#: Exponents of two that a double's factor may have.
MOST_EXPONENT = 1000


def cost_unit(costs: npt.ArrayLike) -> float:
    """Return the power of two to divide costs by so that the largest is an ordinary number.

    Parameters
    ----------
    costs : array of float
        Infinite ones do not count.

    Returns
    -------
    float
        1 where the largest is ordinary as it is, or all are 0.
    """
    sizes = np.abs(np.asarray(costs, dtype=np.float64))
    largest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    if largest == 0 or ORDINARY[0] <= largest <= ORDINARY[1]:
        return 1.0
    exponent = math.frexp(largest)[1] - MODERATE_EXPONENT
    return math.ldexp(1.0, max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent)))
