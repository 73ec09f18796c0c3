"""Exact plans and certificates from trees and prices in floating point, on networks of any size.

Small networks have optimal rates and prices that are simple fractions, and reading them as such
hits them exactly. On large ones fractions of different denominators would grow without end as they
are added up, so rates and prices are integers on a common grid there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats

from ..instance import ForestPackingInstance, Prices, Stage
from ..network import Network
from ..packing import (
    Pair,
    Route,
    Tree,
    best_plan,
    congestion,
    couple,
    fit,
    read_rates,
    required_shares,
    total_rate,
    trim,
)
from ..subproblems.price_certificates import ProvedPrices, best_prices, rounded_prices
from ..subproblems.price_oracles import FoundTree, Oracle
from ..subproblems.roots import rooted_pairs

#: Rows up to which prices are also read as simple fractions, which can prove the optimum itself.
#: Tuned: `benchmarks/constants.py`.
_SIMPLE_ROWS = 200
#: Largest common denominator with which rates are kept as simple fractions.
#: Tuned: `benchmarks/constants.py`.
_COMMON_DENOMINATOR = 10**12
#: Bits of the integers that prices are rounded to: costs of trees stay below 2^62.
#: Tuned: `benchmarks/constants.py`.
_PRICE_BITS = 36
#: Bits of the rates, as multiples of a unit, that are not simple fractions.
#: Tuned: `benchmarks/constants.py`.
_RATE_BITS = 44

#: Part of the rate below which a pair only compensates for rounding.
#: Tuned: `benchmarks/constants.py`.
_SLIVER = Fraction(1, 10**9)


@dataclass(frozen=True)
class RatedTrees:
    """Trees with rates, GB/s."""

    trees: Sequence[FoundTree]
    rates: Floats


def pruned(plan: RatedTrees, part: float) -> RatedTrees:
    """Drop the trees of the smallest rates, at most a part of the rate of each stage and root."""
    groups: defaultdict[object, list[int]] = defaultdict(list)
    for k, tree in enumerate(plan.trees):
        groups[tree.stage, tree.root].append(k)
    kept = []
    for group in groups.values():
        spare = part * float(plan.rates[group].sum())
        for k in sorted(group, key=lambda k: (plan.rates[k], -k)):
            spare -= plan.rates[k]
            if spare < 0 < plan.rates[k]:
                kept.append(k)
    kept.sort()
    return RatedTrees([plan.trees[k] for k in kept], plan.rates[kept])


# -- plans -------------------------------------------------------------------------------------


def exact_pairs(instance: ForestPackingInstance, plan: RatedTrees, *, fill: bool) -> list[Pair]:
    """Return trees as pairs that keep every row exactly.

    Parameters
    ----------
    instance : ForestPackingInstance
    plan : RatedTrees
    fill : bool
        Scale the rates until the fullest row is full; else only if a row is overloaded.
    """
    if not plan.trees:
        return []
    routes = [tree.route_tuples() for tree in plan.trees]
    readings = [_pairs(instance, plan.trees, routes, rates) for rates in _readings(instance, plan)]
    if fill:
        return best_plan(instance, readings)
    trimmed = [trim(instance, pairs) for pairs in readings]
    kept = [p if congestion(instance, p) <= 1 else fit(instance, p) for p in trimmed]
    return max(kept, key=total_rate)


def _readings(instance: ForestPackingInstance, plan: RatedTrees) -> list[list[Fraction]]:
    unit = instance.network.unit
    _, simple = read_rates(plan.rates.tolist(), unit)
    grid = Fraction(float(plan.rates.max())) / 2**_RATE_BITS
    readings = [[math.floor(x / float(grid)) * grid for x in plan.rates.tolist()]]
    if math.lcm(*(x.denominator for x in simple)) <= _COMMON_DENOMINATOR:
        readings.append(simple)
    return readings


def _pairs(
    instance: ForestPackingInstance,
    trees: Sequence[FoundTree],
    routes: Sequence[tuple[Route, ...]],
    rates: Sequence[Fraction],
) -> list[Pair]:
    if trees[0].stage is None:
        return rooted_pairs(
            instance, list(zip(routes, rates, strict=True)), required_shares(instance)
        )
    by_stage: dict[str, list[Tree]] = {"reduce": [], "broadcast": []}
    for tree, route, rate in zip(trees, routes, rates, strict=True):
        assert tree.stage is not None
        by_stage[tree.stage].append(Tree(tree.root, route, rate))
    if instance.stages == ("reduce",):
        return [Pair(t.root, t.routes, (), t.rate) for t in by_stage["reduce"]]
    if instance.stages == ("broadcast",):
        return [Pair(t.root, (), t.routes, t.rate) for t in by_stage["broadcast"]]
    pairs = couple(by_stage["reduce"], by_stage["broadcast"])
    least = total_rate(pairs) * _SLIVER
    return [p for p in pairs if p.rate > least]


# -- proofs ------------------------------------------------------------------------------------


def prove(instance: ForestPackingInstance, oracle: Oracle, prices: Floats) -> ProvedPrices | None:
    """Return prices in floating point, rounded to rationals that prove a bound.

    Parameters
    ----------
    instance : ForestPackingInstance
    oracle : Oracle
    prices : ndarray, shape (rows of the oracle,)
        Each family's capital scaled to 1.
    """
    by_row = oracle.row_prices(prices)
    readings = [_on_grid(instance, by_row)]
    if len(instance.network.rows) <= _SIMPLE_ROWS:
        simple = rounded_prices(instance, by_row)
        readings = [*([simple.prices] if simple else []), *readings]
    return best_prices(instance, readings)


def _on_grid(instance: ForestPackingInstance, by_row: dict[Stage, Floats]) -> Prices:
    """Round prices to integers of a size that a check in 64-bit arithmetic can add up."""
    largest = max(float(y.max(initial=0.0)) for y in by_row.values())
    step = largest / 2**_PRICE_BITS if largest > 0 else 1.0
    rows = instance.network.rows
    written: dict[Stage, dict[str, Fraction]] = {
        stage: {
            row.name: Fraction(round(price))
            for row, price in zip(rows, (y / step).tolist(), strict=True)
            if round(price) > 0
        }
        for stage, y in by_row.items()
    }
    return Prices(reduce=written.get("reduce", {}), broadcast=written.get("broadcast", {}))


def disconnection(network: Network) -> str | None:
    """Describe a worker that the data of another one cannot reach; None if there is none."""
    labels = network.labels
    heads: list[list[int]] = [[] for _ in range(network.num_nodes)]
    for u, v in network.arcs:
        heads[u].append(v)
    for start in range(network.num_workers):
        found, seen = [start], {start}
        for u in found:
            for v in heads[u]:
                if v not in seen:
                    seen.add(v)
                    found.append(v)
        for worker in range(network.num_workers):
            if worker not in seen:
                return f"worker {labels[start]} does not reach worker {labels[worker]}"
    return None
