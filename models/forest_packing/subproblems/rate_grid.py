r"""Grids of rates for models with integer rates, and the bounds that hold off the grid.

The best rates of K given trees are a vertex of :math:`\{x \ge 0: \sum_k n_{ik} x_k \le c_i\}`,
so by Cramer's rule multiples of unit/d with a determinant d of at most K rows. If n is 0 or 1, d is
at most the largest determinant of a 0/1 matrix of order K; if n is at most m, m^K times that.
A grid whose step divides all these fractions contains the optimum. On any other grid, rounding the
K rates of an optimal plan down loses less than K steps, so that many are added to a bound. A bound
is finally rounded down to the next fraction that an optimum can be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import ModelRefused

#: Largest determinant of a 0/1 matrix of order 0, 1, 2, ... By definition.
ZERO_ONE_DETERMINANT = (1, 1, 1, 2, 3, 5, 9, 32, 56, 144, 320)
#: Finest grid that is chosen to be exact, in steps a unit. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 5040
#: Steps a unit where an exact grid would be finer than that. Tuned: `benchmarks/constants.py`.
DEFAULT_STEPS = 60
#: Most steps of a rate: sums of so many stay whole numbers in doubles and in the solver.
#: By definition.
MOST_RATE_STEPS = 2**40
#: Steps of the largest rate where a step that divides the unit would be finer than that.
#: Tuned: `benchmarks/constants.py`.
COARSE_STEPS = 2**30
#: Denominators up to which a bound is rounded. Tuned: `benchmarks/constants.py`.
MOST_DENOMINATORS = 1000


@dataclass(frozen=True)
class RateGrid:
    """Multiples of a step.

    Attributes
    ----------
    step : Fraction
        GB/s.
    unit : Fraction
        GB/s of which all capacities are multiples.
    num_trees : int
        K.
    denominators : int or None
        Optimal rates are multiples of unit/d with d up to this; None if that is not known.
    exact : bool
        True if the grid contains an optimal plan.
    """

    step: Fraction
    unit: Fraction
    num_trees: int
    denominators: int | None
    exact: bool

    def steps(self, rate: Fraction) -> int:
        """Return a rate in GB/s in whole steps, rounded down."""
        return math.floor(rate / self.step)

    def bound(self, steps: int) -> Fraction:
        """Return the bound on all rates, GB/s, from a bound on the rates of the grid."""
        if self.exact:
            return steps * self.step
        outward = (steps + self.num_trees) * self.step
        if self.denominators is None or self.denominators > MOST_DENOMINATORS:
            return outward
        # The bound is strict.
        return max(
            Fraction(math.ceil(outward / self.unit * d) - 1, d) * self.unit
            for d in range(1, self.denominators + 1)
        )


def make_grid(
    unit: Fraction,
    num_trees: int,
    most_uses: int | None,
    granularity: Fraction | None = None,
    largest: Fraction = Fraction(0),
) -> RateGrid:
    """Return the grid with a given step, or the coarsest that is known to contain an optimum.

    Parameters
    ----------
    unit : Fraction
    num_trees : int
        K.
    most_uses : int or None
        m, the most uses of a row by a column; None if not bounded.
    granularity : Fraction, optional
        The step, GB/s.
    largest : Fraction, default 0
        A bound on the rate, GB/s. If the grid has too many steps up to it, as the capacities have
        no common unit but a tiny one, a coarser one is chosen.

    Raises
    ------
    ModelRefused
        If the grid with the given step has too many.
    """
    if granularity is not None and largest > granularity * MOST_RATE_STEPS:
        raise ModelRefused(
            f"granularity: {float(granularity)}, expected at least "
            f"{float(largest / MOST_RATE_STEPS)} for rates up to {float(largest)}"
        )
    denominators = None
    if most_uses is not None and num_trees < len(ZERO_ONE_DETERMINANT):
        denominators = most_uses**num_trees * ZERO_ONE_DETERMINANT[num_trees]
    needed = math.lcm(*range(1, (denominators or 0) + 1)) if (denominators or 0) < 100 else 0
    if granularity is None:
        fits = denominators is not None and 0 < needed <= MOST_STEPS
        granularity = unit / (needed if fits else DEFAULT_STEPS)
        if largest > granularity * MOST_RATE_STEPS:
            granularity = largest / COARSE_STEPS
    steps = unit / granularity
    exact = denominators is not None and needed > 0 and (steps / needed).denominator == 1
    return RateGrid(granularity, unit, num_trees, denominators, exact)
