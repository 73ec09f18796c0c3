r"""Trees of equal rate in polynomial time, by bisection over the congestion.

Formulation F8a. With K trees of equal rate the rate of each is 1/U, where the congestion

.. math:: U = \max_e n_e / c_e

is the largest number of trees on a cable over its capacity, and the total rate is K/U. By the
theorem of Tutte and Nash-Williams there are K spanning trees with multiplicities
:math:`n_e \le \lfloor U c_e \rfloor` iff the tree-packing number of these capacities is at least K:

.. math:: \tau(\lfloor U c \rfloor) \ge K.

U is one of the candidates :math:`j / c_e, 1 \le j \le K`, and bisection over them with A4 finds the
smallest. Pairs of an in-tree and an out-tree that are different trees gain nothing here: K pairs
cross between the parts of a partition P at least :math:`2 K (|P| - 1)` times, and both directions
of the cables hold :math:`2 \sum_{e \in P} \lfloor U c_e \rfloor` crossings.

Fewer than K trees may do better than K, as K/U need not grow with K; but 2j trees do as well as j
trees, each doubled. So the best j with K/2 < j <= K is taken. Where root shares are given, only
those j count that give every root a whole number of trees.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.graphs.truncation import Family
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..bounds.partition import Strength, tree_packing_number
from ..certificate import EqualTrees, ForestPackingCertificate
from ..checks.restricted_trees import MOST_COUNTS
from ..instance import ForestPackingInstance
from ..network import Network
from ..outcome import plan_outcome
from ..packing import required_shares
from .cable_trees import (
    EdgeTree,
    TreeUnion,
    check_scope,
    disconnected,
    edge_capacities,
    labelled,
    multiplicity_matrix,
    partition_certificate,
    plan,
    strength,
    widest,
)

#: Without a tree budget the optimal rate p/q is reached by p trees; at most so many are tried.
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


def equal_share_partition(
    instance: ForestPackingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Return an optimal plan of equal trees, by bisection over the congestion (F8a, A4).

    Exact and polynomial in N and K: for each number of trees O(log(K |E|)) tree-packing numbers,
    and one matroid union for the trees. Its certificate has, for each number of trees, the
    partition at which the next smaller candidate of U fails.

    Parameters
    ----------
    instance : ForestPackingInstance
        `equal_share` is set. Without `tree_budget` as many trees are used as the optimal rate
        needs, at most `MOST_TREES`.
    limits : Limits
    rng : numpy.random.Generator
        Not used.

    Raises
    ------
    ModelRefused
        If the instance is not an overlapped allreduce on full-duplex cables with equal shares.
    """
    refuse_others(instance, "equal_share_partition")
    clock = Clock(limits)
    network = instance.network
    whole = strength(network, clock)
    if whole.value == 0:
        return disconnected(instance, whole)
    capacities, width = edge_capacities(network), widest(network)
    best = Best(Fraction(0), [])
    open_bound = Fraction(0)
    notes: dict[str, object] = {}
    fails: dict[int, tuple[Strength, Fraction]] = {}
    limit_hit = None
    for j in tree_counts(instance, whole.value):
        values = candidates(capacities, j)
        low = bisect_left(values, j / whole.value)
        fails[j] = whole, values[low - 1] if low else Fraction(0)
        # j copies of a widest tree always fit; only a smaller congestion is of use.
        high = bisect_left(values, Fraction(j, width))
        if best.rate:
            high = min(high, bisect_left(values, j / best.rate) - 1)
        if high < low:
            continue
        if limit_hit:
            open_bound = max(open_bound, min(whole.value, j / values[low]))
            continue
        found = _bisect(instance, values, low, high, j, clock)
        if found.witness is not None:
            fails[j] = found.witness, values[found.low - 1]
        if found.trees is not None:
            best = Best(j / values[found.first], found.trees, values[found.first])
            notes = _notes(instance, found, values, j, whole)
        if not found.proved:
            limit_hit = "time_s"
            open_bound = max(open_bound, min(whole.value, j / values[found.low]))
    unit = network.unit
    outcome = plan_outcome(
        instance,
        plan(instance, best.trees, [unit / best.congestion] * len(best.trees))
        if best.congestion
        else [],
        dual_bound=max(best.rate, open_bound) * unit,
        limit_hit=limit_hit,
        notes=notes,
        phases_s={"bisection": clock.elapsed_s},
    )
    if instance.tree_budget is None:
        # More trees than were tried may come closer to the tree-packing number.
        outcome.certificate = partition_certificate(network, whole)
        outcome.dual_bound = whole.value * unit
    elif len(fails) <= MOST_COUNTS:
        outcome.certificate = _certificate(network, fails)
    return outcome


def _certificate(
    network: Network, fails: dict[int, tuple[Strength, Fraction]]
) -> ForestPackingCertificate:
    """Return the partitions at which each number of trees fails at a congestion."""
    partitions = []
    for j, (found, congestion) in sorted(fails.items()):
        joined = Strength(found.value, _joined(network, found.parts, j, congestion), 0, True)
        partitions.append(labelled(network, joined))
    return ForestPackingCertificate(proof=EqualTrees(partitions=tuple(partitions)))


def _joined(network: Network, parts: Family, num_trees: int, congestion: Fraction) -> Family:
    r"""Join parts between which a cable could hold all trees.

    A join takes j crossings from what is needed and at least j from what fits, so a partition that
    fails goes on to fail. No cable between the parts left has j crossings, so the next congestion
    at which they may fit is one of the candidates.
    """
    part_of = {v: i for i, part in enumerate(parts) for v in part}
    for (u, v), c in zip(network.edges, edge_capacities(network), strict=True):
        old, new = part_of[u], part_of[v]
        if old != new and math.floor(congestion * c) >= num_trees:
            part_of = {w: new if i == old else i for w, i in part_of.items()}
    return [[v for v in part_of if part_of[v] == i] for i in sorted(set(part_of.values()))]


@dataclass
class _Found:
    """State of a bisection: the first feasible candidate, and the lowest one still open."""

    first: int
    low: int
    trees: list[EdgeTree] | None
    witness: Strength | None
    proved: bool


def _bisect(
    instance: ForestPackingInstance,
    values: list[Fraction],
    low: int,
    high: int,
    num_trees: int,
    clock: Clock | None,
) -> _Found:
    """Find the smallest of the candidates low..high with tau(floor(U c)) >= K, and K trees there.

    The candidate after `high`, if there is one, is ignored.
    """
    network = instance.network
    capacities = edge_capacities(network)
    witness = None
    end = high + 1
    while low < end:
        middle = (low + end) // 2
        multiplicity = [math.floor(values[middle] * c) for c in capacities]
        found = tree_packing_number(multiplicity_matrix(network, multiplicity), clock)
        if found.value < num_trees:
            witness, low = found, middle + 1
        elif not found.proved:
            return _Found(end, low, None, witness, False)
        else:
            end = middle
    if end > high:
        return _Found(end, low, None, witness, True)
    union = TreeUnion(
        network.num_nodes,
        network.edges,
        [math.floor(values[end] * c) for c in capacities],
        num_trees,
    )
    try:
        spans = union.fill(clock)
    except TimeoutError:
        return _Found(end, end, None, witness, False)
    if not spans:
        raise AssertionError("the tree-packing number promises trees that are not there")
    return _Found(end, end, union.trees(), witness, True)


def _notes(
    instance: ForestPackingInstance,
    found: _Found,
    values: list[Fraction],
    num_trees: int,
    whole: Strength,
) -> dict[str, object]:
    unit = instance.network.unit
    smaller = values[found.first - 1] / unit if found.first else None
    return {
        "trees": num_trees,
        "congestion": str(values[found.first] / unit),
        "smaller_congestion": None if smaller is None else str(smaller),
        "fails_at_partition": labelled(instance.network, found.witness or whole),
    }


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
