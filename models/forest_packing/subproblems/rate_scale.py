r"""The scale of the linear programs: a bound that is near the rate for any capacities.

At equal prices :math:`y_i = 1 / (M c_i)` of M rows the cheapest column costs 1/M of its
total relative use of the capacities, so that the bound U that these prices prove is at most M times
the rate that this column alone has:

.. math:: R \le U = \frac{1}{\pi(y)} \le M R .

Divided by U, the rate is between 1/M and 1, while divided by the largest capacity it is lost in the
solver's tolerances if the bottleneck is a million times narrower.

Capacities far beyond U are clipped. The trees of a stage need no more rate than R together, and
each uses a row at most

- N - 1 times over paths between workers: a simple path uses at most one arc of a row, where a row
  is an arc, a cable, or all arcs into or out of a node;
- as often as the row has arcs where switches copy and sum, as a Steiner tree uses an arc once; rows
  that are each other's image are one, and cables have two arcs, so there are at most 4 M.

Both stages together load a row by at most :math:`2 \max(N - 1, 4 M) U`. Twice that leaves every
clipped row slack in some optimal solution, hence its price 0 in every dual one, so that the duals
are also those of the network before clipping. Each of two stages that take turns has a bound U_k on
its rate when it runs alone, and loads a row by at most its part of the time of that; clipping uses
the largest U_k. Capacities too small to be a coefficient are 0: the plan loses no more than these,
and bounds are proved with the original capacities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.highs import SMALLEST_COEFFICIENT

from .price_oracles import Oracle


@dataclass(frozen=True)
class RateScale:
    """Scale of a linear program.

    Attributes
    ----------
    rate : float
        U, GB/s.
    most : float
        Capacity that no row needs, GB/s.
    """

    rate: float
    most: float

    def clipped(self, capacity: Floats) -> Floats:
        """Return capacities in units of U, none larger than a plan needs, negligible ones 0."""
        scaled = np.minimum(capacity, self.most) / self.rate
        return np.where(scaled > SMALLEST_COEFFICIENT, scaled, 0.0)


def rate_scale(oracle: Oracle, num_workers: int) -> RateScale:
    """Return the scale for the trees that an oracle finds.

    Parameters
    ----------
    oracle : Oracle
        Of a network with links.
    num_workers : int
    """
    rows = len(oracle.capacity)
    y = 1.0 / oracle.capacity
    for family in oracle.families:
        y[family] /= family.stop - family.start
    column = oracle(y)
    if column is None:  # no tree spans the workers
        largest = float(oracle.capacity.max())
        return RateScale(largest, largest)
    ceilings = [1 / column.price]
    for family in oracle.families if len(oracle.families) > 1 else ():
        alone = np.zeros(rows)
        alone[family] = y[family]
        column = oracle(alone)
        assert column is not None
        ceilings.append(1 / column.price)
    return RateScale(ceilings[0], 4 * max(num_workers, 4 * rows) * max(ceilings))
