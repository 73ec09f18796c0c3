"""Exact plans from trees and rates in floating point, provably optimal where rates are simple.

An optimal vertex of a small network has rates that are simple fractions of the unit of capacity or
of the optimal rate itself. If they add up to the proven bound and fit, the plan is optimal. Other
rates are read on a common grid, so that sums of them stay small numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats

from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...packing import (
    Pair,
    Tree,
    couple,
    fit,
    required_shares,
    total_rate,
)
from ...subproblems.exact_rates import fit_or_relieve
from ...subproblems.price_oracles import FoundTree
from ...subproblems.roots import rooted_pairs
from ...subproblems.tree_master import ExactPacking

#: Rates below this part of the largest are rounding errors of 0. Tuned: `benchmarks/constants.py`.
NEGLIGIBLE = 1e-13
#: Largest denominators of simple readings of rates, in units of capacity or of the bound.
#: Tuned: `benchmarks/constants.py`.
DENOMINATORS = (1_000, 30_000)
#: Bits of the largest rate on the grid. Tuned: `benchmarks/constants.py`.
GRID_BITS = 44


def exact_plan(
    instance: ForestPackingInstance,
    trees: Sequence[FoundTree],
    rates: Floats,
    bound: Fraction | None = None,
    exact: ExactPacking | None = None,
) -> list[Pair]:
    """Return rates in GB/s, shape (trees,), as an exact plan.

    Parameters
    ----------
    bound : Fraction, optional
        Rate that no plan exceeds. Simple readings of the rates that add up to it are tried first.
    exact : ExactPacking, optional
        Rational rates of the same trees: the plan if they reach the bound.
    """
    if exact is not None and exact.rate == bound:
        positive = [(t, x) for t, x in zip(trees, exact.rates, strict=True) if x > 0]
        plan = fit(instance, _pairs(instance, [t for t, _ in positive], [x for _, x in positive]))
        if total_rate(plan) == bound:
            return plan
    largest = float(rates.max(initial=0.0))
    used = [(t, x) for t, x in zip(trees, rates.tolist(), strict=False) if x > NEGLIGIBLE * largest]
    if not used:
        return []
    found = [tree for tree, _ in used]
    doubles = [Fraction(x) for _, x in used]
    for unit in (instance.network.unit, bound) if bound else ():
        for denominator in DENOMINATORS:
            read = [(x / unit).limit_denominator(denominator) * unit for x in doubles]
            if _total(found, read) == bound:
                plan = fit(instance, _pairs(instance, found, read))
                if total_rate(plan) == bound:
                    return plan
    grid = Fraction(largest) / 2**GRID_BITS
    on_grid = [math.floor(x / grid) * grid for x in doubles]
    return fit_or_relieve(instance, _pairs(instance, found, on_grid))


def _pairs(
    instance: ForestPackingInstance, trees: Sequence[FoundTree], rates: Sequence[Fraction]
) -> list[Pair]:
    """Root undirected trees, pair in-trees with out-trees."""
    routes = [tree.route_tuples() for tree in trees]
    if trees[0].stage is None:
        return rooted_pairs(
            instance, list(zip(routes, rates, strict=True)), required_shares(instance)
        )
    rooted: dict[Stage | None, list[Tree]] = {stage: [] for stage in instance.stages}
    for tree, r, x in zip(trees, routes, rates, strict=True):
        rooted[tree.stage].append(Tree(tree.root, r, x))
    if len(instance.stages) == 2:
        return couple(rooted["reduce"], rooted["broadcast"])
    if instance.stages == ("reduce",):
        return [Pair(t.root, t.routes, (), t.rate) for t in rooted["reduce"]]
    return [Pair(t.root, (), t.routes, t.rate) for t in rooted["broadcast"]]


def _total(trees: Sequence[FoundTree], rates: Sequence[Fraction]) -> Fraction:
    """Return the smaller total rate of the two stages."""
    total: dict[Stage | None, Fraction] = {}
    for tree, x in zip(trees, rates, strict=True):
        total[tree.stage] = total.get(tree.stage, Fraction(0)) + x
    return min(total.values(), default=Fraction(0))
