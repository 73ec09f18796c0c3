r"""The estimate of how long what goes on will last (E. L. Kaplan, P. Meier, 1958).

Of N observations some have ended at their value, the others have lasted to it and go on. With
:math:`d_v` ends at v among the :math:`n_v` observations of v or more,

.. math:: S(x) = \prod_{v \le x} \Big(1 - \frac{d_v}{n_v}\Big)

estimates the share that lasts beyond x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats


def survival(ended: Sequence[float], lasting: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the values at which observations have ended, rising, and S there."""
    values, ends = np.unique(np.array(ended, dtype=np.float64), return_counts=True)
    every = np.sort(np.array([*ended, *lasting], dtype=np.float64))
    there = len(every) - np.searchsorted(every, values, side="left")
    return values, np.cumprod(1 - ends / there, dtype=np.float64)


def median_beyond(curve: tuple[Floats, Floats], reached: float) -> float:
    """Return the median of what lasts beyond a value; that value where S does not fall to half."""
    values, share = curve
    at = int(np.searchsorted(values, reached, side="right"))
    now = share[at - 1] if at else 1.0
    later = np.flatnonzero(share[at:] <= now / 2)
    return float(values[at + later[0]]) if len(later) else reached
