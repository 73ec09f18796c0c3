r"""Column generation of trees, with a warm start and dual smoothing.

Any prices y >= 0 of the rows prove the bound :math:`\sum_i c_i y_i / \pi(y)`, with
:math:`\pi(y)` the price of the cheapest column. The best prices so far are the centre of smoothing:
a round prices at :math:`\alpha\,y_{best} + (1 - \alpha)\,y_{LP}` first, whose bound improves
steadily while that of :math:`y_{LP}` alone swings until the last rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.result import Limits, Status, TracePoint

from .price_oracles import FoundTree, Oracle
from .tree_master import ExactPacking, TreeMaster

#: Relative agreement of rate and bound at which generation ends. Tuned: `benchmarks/constants.py`.
AGREEMENT = 1e-9

# The balanced warm start, chosen by measurement: trees per row at most, the part of the room that a
# tree's tightest row gives it, and how sharply prices rise with relative load.
# Tuned: `benchmarks/constants.py`.
BALANCED_TREES_PER_ROW = 1.25
BALANCED_STEP = 0.3
BALANCED_SHARPNESS = 3.0

WarmStart = Callable[[Oracle, Limits], "Start"]


@dataclass
class Start:
    """Trees to begin with.

    Attributes
    ----------
    trees : list of FoundTree
    amounts : list of float
        A packing of these trees, on any scale: the plan until the master has found a better one.
    prices : ndarray or None
        The best prices met, capital of each family 1.
    bound : float
        The bound that they prove, GB/s; 0 if no tree spans the workers.
    """

    trees: list[FoundTree] = field(default_factory=list)
    amounts: list[float] = field(default_factory=list)
    prices: Floats | None = None
    bound: float = math.inf


@dataclass
class Generated:
    """Outcome of column generation; `bound` and `prices` are the best ones.

    `bound` is in floating point: for a proof round the prices. Before the master's first solution
    `rates` are the warm start's, of any scale, and `rate` is 0. `exact` is the master's optimum in
    rational numbers, if it was found, with a rate for each of `trees`.
    """

    trees: list[FoundTree]
    rates: Floats
    rate: float
    bound: float
    prices: Floats | None
    rounds: int = 0
    limit_hit: str | None = None
    exact: ExactPacking | None = None
    trace: list[TracePoint] = field(default_factory=list)
    phases_s: dict[str, float] = field(default_factory=dict)


def balanced_start(oracle: Oracle, limits: Limits) -> Start:
    r"""Return trees of a greedy packing that keeps the rows' relative loads balanced.

    Each tree is a cheapest one under prices :math:`e^{3 (\ell_i - \max \ell)} / c_i`, with
    :math:`\ell_i` the load over the capacity so far, and gets 0.3 of the slack of its tightest row.
    Without switches this is Thorup's greedy tree packing, whose loads tend to the ideal ones: in
    the limit every tree crosses the tight partition as seldom as possible, and optimal packings are
    made of such trees.
    """
    clock = Clock(Clock(limits).limits(part=0.5))
    capacity, families = oracle.capacity, oracle.families
    start = Start()
    load = np.zeros(len(capacity))
    position: dict[object, int] = {}
    total, stale = 0.0, 0
    rows = len(capacity)
    for _ in range(math.ceil(BALANCED_TREES_PER_ROW * rows)):
        y = np.zeros(rows)
        for family in families:
            relative = load[family]
            y[family] = np.exp(BALANCED_SHARPNESS * (relative - relative.max())) / capacity[family]
            y[family] /= float(capacity[family] @ y[family])
        column = oracle(y)
        if column is None:
            return Start(bound=0.0)
        if 1 / column.price < start.bound:
            start.bound, start.prices = 1 / column.price, y
        step = column.load / capacity
        z = BALANCED_STEP / sum(float(step[family].max()) for family in families)
        load += z * step
        total += z
        stale += 1
        for tree, weight in column.trees:
            k = position.setdefault(tree.key, len(start.trees))
            if k == len(start.trees):
                start.trees.append(tree)
                start.amounts.append(0.0)
                stale = 0
            start.amounts[k] += weight * z
        rate = total / sum(float(load[family].max()) for family in families)
        if rate >= start.bound * (1 - AGREEMENT) or stale > max(20, rows // 2):
            break
        if clock.expired:
            break
    return start


def no_start(oracle: Oracle, limits: Limits) -> Start:
    """Return a cheapest column under equal prices of relative load."""
    y = 1.0 / oracle.capacity
    for family in oracle.families:
        y[family] /= family.stop - family.start
    column = oracle(y)
    if column is None:
        return Start(bound=0.0)
    trees, amounts = zip(*column.trees, strict=True)
    return Start(list(trees), list(amounts), y, 1 / column.price)


def generate_trees(
    oracle: Oracle,
    master: TreeMaster,
    limits: Limits,
    *,
    warm_start: WarmStart = balanced_start,
    smoothing: float = 0.8,
    upper: float = math.inf,
) -> Generated:
    """Add trees to the master until its rate agrees with a bound to 1e-9, or a limit is hit.

    Parameters
    ----------
    oracle : Oracle
    master : TreeMaster
        Without trees.
    limits : Limits
    warm_start : callable
        The first trees.
    smoothing : float
        alpha, 0 <= alpha < 1; 0 prices at the master's duals only.
    upper : float
        A bound known before, GB/s.
    """
    clock = Clock(limits)
    # No `Search`: trees and prices are kept as floats, which are neither a plan nor a bound yet.
    trace = Trace(limits, clock)
    with clock.phase("warm start"):
        start = warm_start(oracle, clock.limits())
    amounts, spent = np.array(start.amounts), clock.phases_s
    done = Generated(start.trees, amounts, 0.0, start.bound, start.prices, phases_s=spent)
    done.trace = trace.points
    if start.bound == 0.0:
        return done
    master.add(start.trees)
    while True:
        with clock.phase("master"):
            status = master.solve(clock.limits())
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            done.rate, done.rates = master.rate, master.rates
            done.trees = master.trees[: len(done.rates)]
        trace.note(done.rate, done.bound)
        if status is not Status.OPTIMAL:
            done.limit_hit = master.limit_hit
            break
        if done.rate >= min(done.bound, upper) * (1 - AGREEMENT):
            break
        with clock.phase("pricing"):
            new = _price(oracle, master, done, smoothing)
        if done.rate >= min(done.bound, upper) * (1 - AGREEMENT) or not new:
            break
        done.rounds += 1
        if clock.expired:
            done.limit_hit = "time_s"
            break
    return done


def _price(oracle: Oracle, master: TreeMaster, done: Generated, smoothing: float) -> int:
    """Add the trees of a round, found at smoothed prices and then at the master's own."""
    duals = master.prices
    new = 0
    for alpha in (smoothing, smoothing / 2, 0.0):
        if alpha and done.prices is None:
            continue
        y = duals if done.prices is None else alpha * done.prices + (1 - alpha) * duals
        column = oracle(y)
        if column is None:
            break
        if column.price > 0 and (bound := 1 / column.price) < done.bound:
            done.bound, done.prices = bound, y
        found = oracle.trees(y) if alpha == 0.0 else [tree for tree, _ in column.trees]
        new += master.add([tree for tree in found if master.improves(tree)])
    return new
