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
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.pieces.graphs.truncation import Family
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import EqualTrees, ForestPackingCertificate, ForestPackingInstance
from ...network import Network
from ...subproblems.cable_trees import (
    EdgeTree,
    TreeUnion,
    disconnected,
    edge_capacities,
    labelled,
    multiplicity_matrix,
    partition_certificate,
    plan,
    strength,
    widest,
)
from ...subproblems.equal_trees import Best, candidates, refuse_others, tree_counts
from ...subproblems.strength import (
    Strength,
    tree_packing_number,
)
from ..certificate.restricted_trees import MOST_COUNTS
from ..proved_outcome import proved_outcome


@method(kind="exact", reference="F8a", formulation="equal_share")
def equal_share_partition(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""K trees of equal share, by bisection over tree-packing numbers.

    Exact and polynomial in N and K: for each number of trees O(log(K |E|)) tree-packing numbers,
    and one matroid union for the trees. Its certificate has, for each number of trees, the
    partition at which the next smaller candidate of U fails.

    Parameters
    ----------
    instance : ForestPackingInstance
        `equal_share` is set. Without `tree_budget` as many trees are used as the optimal rate
        needs, at most `MOST_TREES`.
    limits : Limits

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
    outcome = proved_outcome(
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
