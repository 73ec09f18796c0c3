r"""Fractional packing by multiplicative weights (Garg and Koenemann), for any pricing oracle.

Algorithm A1. Prices start at :math:`y_i = \delta / c_i` and each step reserves, for a cheapest
column, as much rate z as its tightest row takes, and raises the prices of the rows it loads by a
factor :math:`1 + \varepsilon z n_i / c_i`. Only ratios of prices matter, and delta underflows for a
small epsilon, so prices start at 1/c and the scheme ends when the logarithm of the capital
:math:`\sum_i c_i y_i` has grown by :math:`-\ln \delta`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.result import Limits, TracePoint

from ..subproblems.price_oracles import FoundTree, Oracle

#: Capital beyond which prices are scaled down. By definition.
_LARGE = 1e200

#: Least price, relative to a capital of about 1, after scaling down. By definition.
_SMALL = 1e-290

#: Relative change of the proven gap that earns a point of the trace.
#: Tuned: `benchmarks/constants.py`.
_TRACE_STEP = 0.02


@dataclass
class Packing:
    r"""Trees and rates found so far, and the best prices.

    Attributes
    ----------
    trees : list of FoundTree
    amounts : list of float
        Rate of each tree before scaling, GB/s.
    total : float
        Rate of all columns before scaling.
    rho : float
        Congestion: the largest relative load of a row, summed over the families.
    bound : float
        Least :math:`\sum_i c_i y_i / \pi(y)` of all iterations, GB/s: the rate is no more, up to
        rounding.
    prices : ndarray, shape (rows,)
        The y that attains it, each family's capital scaled to 1.
    theory_scale : float
        :math:`\log_{1+\varepsilon}((1+\varepsilon)/\delta)`.
    iterations, iterations_bound : int
        Columns packed, and the most there can be.
    limit_hit : str or None
        "time_s" or "interrupted"; None if the scheme ran to its end or to the target gap.
    """

    prices: Floats
    theory_scale: float
    iterations_bound: int
    trees: list[FoundTree] = field(default_factory=list)
    amounts: list[float] = field(default_factory=list)
    total: float = 0.0
    rho: float = 0.0
    bound: float = math.inf
    iterations: int = 0
    limit_hit: str | None = None
    trace: list[TracePoint] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Rate after congestion scaling, GB/s."""
        return self.total / self.rho if self.rho else 0.0


def log_delta(eps: float, rows: int) -> float:
    r"""Return :math:`\ln\delta = \ln(1+\varepsilon) - \ln((1+\varepsilon)M)/\varepsilon`."""
    return math.log1p(eps) - (math.log1p(eps) + math.log(rows)) / eps


def pack_columns(
    oracle: Oracle, limits: Limits, *, eps: float, target_gap: float | None = 0.0
) -> Packing:
    """Pack columns until the theorem's accuracy or the target gap is reached (A1).

    Where the stages overlap it is the same result as `plain`, tested.

    Parameters
    ----------
    oracle : Oracle
    limits : Limits
        `time_s` ends the scheme early; the packing so far is returned.
    eps : float
        Accuracy, 0 < eps < 1.
    target_gap : float or None
        The scheme also ends when bound / rate - 1 is no more; None: only by the theorem.

    Returns
    -------
    Packing
        Without trees and with bound 0 if no tree spans the workers.
    """
    clock = Clock(limits)
    sizes = [family.stop - family.start for family in oracle.families]
    if not all(sizes):  # a network without links
        return Packing(1.0 / oracle.capacity, 1.0, 0, bound=0.0)
    # One row of the packing LP for every choice of a row in each family.
    rows = math.prod(sizes)
    ln_delta = log_delta(eps, rows)
    theory_scale = (math.log1p(eps) - ln_delta) / math.log1p(eps)
    most = math.ceil(theory_scale) * sum(sizes) * len(sizes)
    # No `Search`: the packing grows as a whole, in floats, and gets worse before it gets better.
    trace = Trace(limits, clock)
    found = Packing(1.0 / oracle.capacity, theory_scale, most, trace=trace.points)
    try:
        _pack(found, oracle, clock, trace, eps, -ln_delta, target_gap)
    except KeyboardInterrupt:
        found.limit_hit = "interrupted"
    trace.note(found.rate, found.bound)
    return found


def _pack(
    found: Packing,
    oracle: Oracle,
    clock: Clock,
    trace: Trace,
    eps: float,
    end: float,
    target_gap: float | None,
) -> None:
    """Pack until the logarithm of the capital reaches `end`, into `found`."""
    capacity, families = oracle.capacity, oracle.families
    sizes = [family.stop - family.start for family in families]
    y = 1.0 / capacity
    relative_load = np.zeros(len(capacity))
    positions: dict[object, int] = {}
    scaled_down = 0.0
    traced_gap = math.inf
    while True:
        # Exactly rounded sums: trees of one price are told apart alike on every machine.
        worth = (capacity * y).tolist()
        capital = np.array([math.fsum(worth[family]) for family in families])
        normal = y / np.repeat(capital, sizes)
        column = oracle(normal)
        if column is None:
            found.bound = 0.0
            return
        if 1 / column.price < found.bound:
            found.bound, found.prices = 1 / column.price, normal
        if math.fsum(np.log(capital)) + scaled_down >= end:
            return
        step = column.load / capacity
        z = 1 / sum(float(step[family].max()) for family in families)
        step *= z
        for tree, weight in column.trees:
            k = positions.setdefault(tree.key, len(found.trees))
            if k == len(found.trees):
                found.trees.append(tree)
                found.amounts.append(0.0)
            found.amounts[k] += weight * z
        found.iterations += 1
        found.total += z
        relative_load += step
        # With several families (1 + eps)^step <= 1 + eps step keeps prices of pairs of rows
        # products; the growth of the capital is then no larger, and the theorem's proof stands.
        y = y * (1 + eps * step) if len(families) == 1 else y * (1 + eps) ** step
        found.rho = sum(float(relative_load[family].max()) for family in families)
        if capital.max() > _LARGE:
            scaled_down += len(families) * math.log(_LARGE)
            # A price of 0 could never rise again.
            y = np.maximum(y / _LARGE, _SMALL)
        gap = found.bound / found.rate - 1
        if gap <= traced_gap * (1 - _TRACE_STEP):
            traced_gap = gap
            trace.note(found.rate, found.bound)
        if target_gap is not None and gap <= target_gap:
            return
        if clock.expired:
            found.limit_hit = "time_s"
            return
