"""Trees of equal rate: which congestions and numbers of them there are, and the best of them (F8a).

`proving.exact.equal_share` says why these suffice.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import required_shares
from .cable_trees import EdgeTree, check_scope, disconnected, edge_capacities, plan, strength

#: Without a tree budget the optimal rate p/q is reached by p trees; at most so many are tried.
#: Tuned: `benchmarks/constants.py`.
MOST_TREES = 256


def refuse_others(instance: ForestPackingInstance, method: str) -> None:
    """Refuse instances without equal shares, and those out of scope.

    Raises
    ------
    ModelRefused
    """
    if not instance.equal_share:
        raise ModelRefused(f"{method}: equal_share: false, expected true")
    check_scope(instance, method)


def candidates(capacities: tuple[int, ...], num_trees: int) -> list[Fraction]:
    """Return the values j / c_e that the congestion of `num_trees` trees can have, ascending."""
    return sorted({Fraction(j, c) for c in set(capacities) for j in range(1, num_trees + 1)})


def tree_counts(instance: ForestPackingInstance, tau: Fraction) -> list[int]:
    """Return numbers of trees, largest first, one of which is optimal.

    Parameters
    ----------
    instance : ForestPackingInstance
    tau : Fraction
        Tree-packing number in units.
    """
    most = instance.tree_budget or min(MOST_TREES, tau.numerator)
    shares = required_shares(instance)
    step = 1 if shares is None else math.lcm(*(w.denominator for w in shares.values()))
    if instance.tree_budget is None:
        most = max(step, most - most % step)
    return [j for j in range(most, most // 2, -1) if j % step == 0]


@dataclass
class Best:
    """The best plan so far: rate in units and its trees."""

    rate: Fraction
    trees: list[EdgeTree]
    congestion: Fraction | None = None


#: Finds K equal trees of rate above a cutoff: (num_trees, cutoff in units, limits) to the trees
#: and a bound on the rate in units.
Solver = Callable[[int, Fraction, Limits], "Solved"]


@dataclass
class Solved:
    """Outcome of a model of exactly K equal trees.

    Attributes
    ----------
    trees : list of EdgeTree or None
    bound : Fraction or None
        Upper bound on the rate in units; None if nothing is known.
    limit_hit : str or None
    """

    trees: list[EdgeTree] | None
    bound: Fraction | None
    limit_hit: str | None = None


def rate_of(capacities: tuple[int, ...], trees: list[EdgeTree]) -> Fraction:
    """Return the total rate K/U of equal trees, in units."""
    uses = [0] * len(capacities)
    for tree in trees:
        for e in tree:
            uses[e] += 1
    congestion = max(Fraction(n, c) for n, c in zip(uses, capacities, strict=True))
    return len(trees) / congestion


def smallest_candidate(
    capacities: tuple[int, ...], num_trees: int, at_least: Fraction, *, above: bool = False
) -> Fraction | None:
    """Return the smallest congestion of so many trees that is at least (or above) a value."""
    values = candidates(capacities, num_trees)
    i = (bisect_right if above else bisect_left)(values, at_least)
    return values[i] if i < len(values) else None


def best_of_counts(instance: ForestPackingInstance, limits: Limits, solve: Solver) -> MethodOutcome:
    """Solve a model of exactly j equal trees for every j that matters, and take the best plan.

    A j is left out if its smallest conceivable congestion cannot beat the plan so far.
    """
    clock = Clock(limits)
    network = instance.network
    whole = strength(network)
    if whole.value == 0:
        return disconnected(instance, whole)
    capacities = edge_capacities(network)
    best = Best(Fraction(0), [])
    bound = Fraction(0)
    limit_hit = None
    per_count: dict[int, str] = {}
    for j in tree_counts(instance, whole.value):
        least = smallest_candidate(capacities, j, j / whole.value)
        ceiling = whole.value if least is None else min(whole.value, j / least)
        if ceiling <= best.rate:
            continue
        if clock.expired:
            bound, limit_hit = max(bound, ceiling), "time_s"
            continue
        solved = solve(j, best.rate, clock.limits())
        limit_hit = limit_hit or solved.limit_hit
        bound = max(bound, ceiling if solved.bound is None else min(ceiling, solved.bound))
        rate = rate_of(capacities, solved.trees) if solved.trees else Fraction(0)
        per_count[j] = str(rate * network.unit)
        if solved.trees and rate > best.rate:
            best = Best(rate, solved.trees)
    rate_each = best.rate / len(best.trees) * network.unit if best.trees else Fraction(0)
    outcome = plan_outcome(
        instance,
        plan(instance, best.trees, [rate_each] * len(best.trees)),
        dual_bound=max(bound, best.rate) * network.unit,
        limit_hit=limit_hit,
        notes={"trees": len(best.trees), "rate_by_number_of_trees": per_count},
        phases_s={"models": clock.elapsed_s},
    )
    if instance.tree_budget is None:
        outcome.dual_bound = whole.value * network.unit
    return outcome
