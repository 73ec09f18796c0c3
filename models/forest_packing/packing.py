"""Plans from trees with rates: pair in-trees with out-trees, and fit rates to the network.

Methods find trees with rates in floating point, separately for each stage or for both together. A
plan has to hold exactly. Rates are therefore read as rationals, paired root by root, trimmed so
that the roots have the shares that the instance asks for, and scaled until the fullest row is just
full ("congestion scaling").
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from gadgetopt.numbers.tolerance import Number, decimal_rational

from .instance import ForestPackingInstance, ForestPackingSolution, TreePair

#: Nodes of the network that a logical arc runs through, in the direction of the data.
Route = tuple[int, ...]

#: Rates in floating point are also read as fractions with at most this denominator (times the
#: unit of capacity): an optimal vertex of a network with small integers has such rates.
#: Tuned: `benchmarks/constants.py`.
LARGEST_DENOMINATOR = 1_000_000


@dataclass(frozen=True)
class Tree:
    """An in-tree (data flows to the root) or an out-tree (from it), with its rate.

    Attributes
    ----------
    root : int
        Node of the network.
    routes : tuple of Route
        One per logical arc.
    rate : Fraction
        GB/s.
    """

    root: int
    routes: tuple[Route, ...]
    rate: Fraction


@dataclass(frozen=True)
class Pair:
    """In-tree and out-tree with a common root; either is empty where its stage is missing.

    `broadcast` None stands for the in-tree backwards.
    """

    root: int
    reduce: tuple[Route, ...]
    broadcast: tuple[Route, ...] | None
    rate: Fraction

    @property
    def out_routes(self) -> tuple[Route, ...]:
        """Routes of the out-tree."""
        if self.broadcast is not None:
            return self.broadcast
        return tuple(route[::-1] for route in self.reduce)


def couple(in_trees: Sequence[Tree], out_trees: Sequence[Tree]) -> list[Pair]:
    """Pair in- and out-trees root by root (north-west corner rule).

    Rate that one stage has at a root beyond the other's is dropped. At most
    len(in_trees) + len(out_trees) pairs result.
    """
    waiting: defaultdict[int, list[Tree]] = defaultdict(list)
    for tree in reversed(out_trees):
        waiting[tree.root].append(tree)
    pairs = []
    for tree in in_trees:
        rate = tree.rate
        while rate > 0 and waiting[tree.root]:
            out = waiting[tree.root].pop()
            both = min(rate, out.rate)
            if both > 0:
                pairs.append(Pair(tree.root, tree.routes, out.routes, both))
            rate -= both
            if out.rate > both:
                waiting[tree.root].append(replace(out, rate=out.rate - both))
    return pairs


def required_shares(instance: ForestPackingInstance) -> dict[int, Fraction] | None:
    """Return w_r of every node that may be a root; None where the shares are free."""
    n = instance.network.num_workers
    if instance.root_mode == "uniform":
        return {r: Fraction(1, n) for r in range(n)}
    if instance.root_mode == "fixed" and instance.root is not None:
        return {instance.network.index[instance.root]: Fraction(1)}
    if instance.root_share is not None:
        return {r: decimal_rational(w) for r, w in enumerate(instance.root_share) if w > 0}
    return None


def trim(instance: ForestPackingInstance, pairs: Iterable[Pair]) -> list[Pair]:
    """Scale each root's pairs down to the share it must have; drop pairs without rate."""
    pairs = [p for p in pairs if p.rate > 0]
    shares = required_shares(instance)
    if shares is None:
        return pairs
    total: defaultdict[int, Fraction] = defaultdict(Fraction)
    for p in pairs:
        total[p.root] += p.rate
    rate = min(total[r] / w for r, w in shares.items())
    if rate == 0:
        return []
    kept = [p for p in pairs if p.root in shares]
    return [replace(p, rate=p.rate * rate * shares[p.root] / total[p.root]) for p in kept]


def congestion(instance: ForestPackingInstance, pairs: Iterable[Pair]) -> Fraction:
    """Return rho: the largest load/capacity of a row; of both stages together if they take turns.

    A plan with rates x is feasible if rho <= 1.
    """
    network = instance.network
    pairs = list(pairs)
    # Rates as multiples of one unit: integers add up many times faster than fractions.
    unit = Fraction(1, math.lcm(*(p.rate.denominator for p in pairs)))
    loads = [[0] * len(network.arcs) for _ in range(2)]
    for p in pairs:
        units = int(p.rate / unit)
        for load, routes in zip(loads, (p.reduce, p.out_routes), strict=True):
            for route in routes:
                for arc in pairwise(route):
                    load[network.arc_index[arc]] += units
    stages = loads if instance.sequential else [[a + b for a, b in zip(*loads, strict=True)]]
    return sum(
        (
            max(
                (sum(load[a] for a in row.arcs) * unit / row.capacity for row in network.rows),
                default=Fraction(0),
            )
            for load in stages
        ),
        Fraction(0),
    )


def fit(instance: ForestPackingInstance, pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs with the required root shares, scaled until the fullest row is just full."""
    pairs = trim(instance, pairs)
    rho = congestion(instance, pairs)
    return [replace(p, rate=p.rate / rho) for p in pairs] if rho else []


def read_rates(rates: Sequence[Number], unit: Fraction) -> list[list[Fraction]]:
    """Return two readings of rates in floating point: as they are, and as simple fractions.

    Simple fractions hit an optimal vertex exactly; a caller keeps the reading that fits better.
    """
    exact = [Fraction(x) for x in rates]
    simple = [(x / unit).limit_denominator(LARGEST_DENOMINATOR) * unit for x in exact]
    return [exact, simple]


def best_plan(instance: ForestPackingInstance, readings: Iterable[Iterable[Pair]]) -> list[Pair]:
    """Fit several readings of the same pairs and return the one of the largest total rate."""
    fitted = [fit(instance, pairs) for pairs in readings]
    return max(fitted, key=total_rate)


def total_rate(pairs: Iterable[Pair]) -> Fraction:
    """Return R, the sum of the rates."""
    return sum((p.rate for p in pairs), Fraction(0))


def to_solution(
    instance: ForestPackingInstance, pairs: Iterable[Pair], chunks: int | None = None
) -> ForestPackingSolution:
    """Return pairs as a solution, with the instance's node numbers."""
    labels = instance.network.labels

    def written(routes: tuple[Route, ...]) -> tuple[Route, ...]:
        return tuple(tuple(labels[v] for v in route) for route in routes)

    return ForestPackingSolution(
        trees=tuple(
            TreePair(
                root=labels[p.root],
                in_tree=written(p.reduce),
                out_tree=None if p.broadcast is None else written(p.broadcast),
                rate_gbyte_per_s=p.rate,
            )
            for p in pairs
        ),
        chunks=chunks,
    )
