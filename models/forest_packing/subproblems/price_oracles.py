r"""Pricing oracles: the cheapest column of the tree-pair LP under prices of its rows.

They serve A1 and A3 on formulation F1. Two kinds of columns are enough for every network and
collective:

* *Undirected trees.* Where reversing all arcs maps rows to rows of the same capacity, an
  overlapped allreduce may use each tree in both directions, and any worker may be the root (T1,
  F5, F7.3). Rows that are each other's image carry the same load and are one row. Where every row
  contains the reverse of each of its arcs (half duplex), this holds for single stages too, and
  stages that take turns are as fast as overlapped ones, as they can take half of the time each.
  Pricing is a minimum spanning tree, over the closure if there are switches.
* *Rooted trees.* Otherwise pricing finds, for each root, a cheapest in-tree and a cheapest
  out-tree. Where roots are free the best root is taken, where not the average over the roots by
  their shares.

Stages that take turns have a family of rows each. The fractions of time s_1 + s_2 <= 1 that the
stages get are packed by rows for every pair of a row i of the first and a row j of the second,
load_1i / c_i + load_2j / c_j <= 1, which say that the two largest relative loads add up to at most
1. Prices y_i y'_j of those are products, so each family keeps its own y, with capital
:math:`\sum_i c_i y_i` scaled to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.graphs.arborescence import minimum_arborescences
from gadgetopt.pieces.graphs.spanning import SpanningTrees

from ..instance import ForestPackingInstance, Stage
from ..network import Network
from ..packing import Route, required_shares
from .closure import Closure, ClosureTrees
from .steiner import SteinerTrees

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class FoundTree:
    """A tree that an oracle returned.

    Attributes
    ----------
    stage : str or None
        None: an undirected tree, for every stage and any root.
    root : int
        -1 for an undirected tree.
    elements : ndarray of int32
        Arcs (of an undirected tree edges) it runs over, sorted, each as often as it is used.
    routes : ndarray of int32, shape (logical edges, L)
        Nodes of each logical edge's path in the direction of the data, padded with -1.
    """

    stage: Stage | None
    root: int
    elements: Nodes
    routes: Nodes

    @property
    def key(self) -> tuple[Stage | None, int, bytes]:
        """Key that two trees share if and only if they have the same loads and root."""
        return self.stage, self.root, self.elements.tobytes()

    def route_tuples(self) -> tuple[Route, ...]:
        """Return the routes without their padding."""
        return tuple(tuple(v for v in row if v >= 0) for row in self.routes.tolist())


@dataclass(frozen=True)
class Column:
    """A cheapest column: its price, its load on every row per unit of rate, and its trees."""

    price: float
    load: Floats
    trees: tuple[tuple[FoundTree, float], ...]


class Oracle(Protocol):
    """Pricing oracle of one instance.

    Attributes
    ----------
    capacity : ndarray, shape (rows,)
        Of the rows of all families.
    families : tuple of slice
        One, or one for each of two stages that take turns.
    """

    capacity: Floats
    families: tuple[slice, ...]

    def __call__(self, y: Floats) -> Column | None:
        """Return a cheapest column under prices `y`; None if no tree spans the workers."""

    def trees(self, y: Floats) -> list[FoundTree]:
        """Return a cheapest tree of each stage and root under prices `y`."""

    def load(self, tree: FoundTree) -> Floats:
        """Return a tree's load on every row per unit of rate."""

    def row_prices(self, y: Floats) -> dict[Stage, Floats]:
        """Return the prices of the network's rows in each stage that `y` stands for."""


def make_oracle(instance: ForestPackingInstance) -> UndirectedOracle | RootedOracle:
    """Return the pricing oracle of an instance.

    Raises
    ------
    ModelRefused
        If switches copy and sum for more than ten workers.
    """
    network = instance.network
    if not instance.in_network:
        image = _mirror(network)
        blind = image == list(range(len(network.rows)))
        both_overlap = len(instance.stages) == 2 and not instance.sequential
        if None not in image and (blind or both_overlap):
            return UndirectedOracle(instance, [i for i in image if i is not None])
    return RootedOracle(instance)


def _mirror(network: Network) -> list[int | None]:
    """Return the row that each row becomes when all arcs are reversed; None if some has none."""
    # Of several rows over the same arcs only the tightest matters, but each needs an image.
    known: dict[tuple[frozenset[int], object], list[int]] = {}
    for i, row in enumerate(network.rows):
        known.setdefault((frozenset(row.arcs), row.capacity), []).append(i)
    image: list[int | None] = [None] * len(network.rows)
    for (arcs, capacity), rows in known.items():
        back = [network.arc_index.get(network.arcs[a][::-1]) for a in arcs]
        if None in back:
            continue
        turned = known.get((frozenset(a for a in back if a is not None), capacity), [])
        for i, j in zip(rows, turned, strict=len(rows) == len(turned)):
            image[i] = j
    return image


class UndirectedOracle:
    """Pricing by minimum spanning trees.

    Parameters
    ----------
    instance : ForestPackingInstance
    image : list of int
        The row that each row becomes when all arcs are reversed.

    Attributes
    ----------
    exact_capacity : list of Fraction
        Of every row, GB/s.
    """

    def __init__(self, instance: ForestPackingInstance, image: list[int]):
        network = instance.network
        self._stages = instance.stages
        self._edge_of = {pair: e for e, pair in enumerate(network.edges)}
        representative = np.array([min(i, j) for i, j in enumerate(image)], dtype=np.int64)
        kept, self._class_of = np.unique(representative, return_inverse=True)
        self._class_size = np.bincount(self._class_of)
        # One undirected tree runs over each of its edges once in both directions for two stages,
        # and on average half a time in each for one stage.
        self._matrix = _incidence(
            [[self._edge(network.arcs[a]) for a in network.rows[i].arcs] for i in kept],
            len(network.edges),
            0.5 * len(self._stages),
        )
        self._transposed = csr_array(self._matrix.T)
        self.capacity: Floats = network.row_capacity_float[kept]
        self.exact_capacity: list[Fraction] = [network.rows[i].capacity for i in kept.tolist()]
        self.families: tuple[slice, ...] = (slice(0, len(kept)),)
        edges = np.array(network.edges, dtype=np.int64).reshape(-1, 2)
        self._edges = edges.astype(np.int32)
        self._spanning: SpanningTrees | None = None
        self._closure: ClosureTrees | None = None
        if network.switches:
            self._closure = ClosureTrees(network)
        else:
            self._spanning = SpanningTrees(network.num_nodes, edges[:, 0], edges[:, 1])

    def _edge(self, arc: tuple[int, int]) -> int:
        return self._edge_of[min(arc), max(arc)]

    def __call__(self, y: Floats) -> Column | None:
        """Return a cheapest undirected tree."""
        weight = self._transposed @ y
        if self._spanning is not None:
            elements = self._spanning(weight).astype(np.int32)
            routes = self._edges[elements]
        else:
            assert self._closure is not None
            paths = self._closure(weight)
            routes = paths.astype(np.int32)
            elements = np.sort(self._closure.edges_of(paths)).astype(np.int32)
        if len(routes) == 0:
            return None
        tree = FoundTree(None, -1, elements, routes)
        return Column(float(weight[elements].sum()), self.load(tree), ((tree, 1.0),))

    def trees(self, y: Floats) -> list[FoundTree]:
        """Return a cheapest undirected tree, if there is one."""
        column = self(y)
        return [] if column is None else [tree for tree, _ in column.trees]

    def load(self, tree: FoundTree) -> Floats:
        """Return a tree's load on every row per unit of rate."""
        return self._matrix @ np.bincount(tree.elements, minlength=len(self._edges)).astype(float)

    def row_prices(self, y: Floats) -> dict[Stage, Floats]:
        """Divide the price of merged rows between them."""
        prices = (y / self._class_size)[self._class_of]
        return dict.fromkeys(self._stages, prices)

    def exact_row_prices(self, y: Sequence[Fraction]) -> dict[Stage, list[Fraction]]:
        """Divide rational prices of merged rows between them."""
        each = [price / n for price, n in zip(y, self._class_size.tolist(), strict=True)]
        return {stage: [each[k] for k in self._class_of.tolist()] for stage in self._stages}


class RootedOracle:
    """Pricing by cheapest in- and out-trees of each root.

    Attributes
    ----------
    exact_capacity : list of Fraction
        Of every row of all families, GB/s.
    """

    def __init__(self, instance: ForestPackingInstance):
        network = instance.network
        self._stages = instance.stages
        self._shares = required_shares(instance)
        self._network = network
        matrix = _incidence([row.arcs for row in network.rows], len(network.arcs), 1.0)
        self._matrix = matrix
        self._transposed = csr_array(matrix.T)
        number = 2 if instance.sequential else 1
        rows = len(network.rows)
        self.capacity: Floats = np.tile(network.row_capacity_float, number)
        self.exact_capacity: list[Fraction] = [row.capacity for row in network.rows] * number
        self.families: tuple[slice, ...] = tuple(
            slice(k * rows, (k + 1) * rows) for k in range(number)
        )
        self._family_of: dict[Stage, int] = {
            stage: k if instance.sequential else 0 for k, stage in enumerate(self._stages)
        }
        closures = [None if instance.in_network else Closure(network) for _ in range(number)]
        # The same trees and routes come back again and again.
        self._known: dict[object, FoundTree] = {}
        self._arcs_of: dict[Route, tuple[int, ...]] = {}
        self._finders: dict[Stage, _Finder] = {}
        for stage, k in self._family_of.items():
            closure = closures[k]
            self._finders[stage] = (
                _SteinerFinder(network, stage)
                if closure is None
                else _ClosureFinder(closure, stage)
            )

    def __call__(self, y: Floats) -> Column | None:
        """Return the cheapest trees of the best root, or of all roots by their shares."""
        by_root = np.zeros(self._network.num_workers)
        for stage, k in self._family_of.items():
            by_root += self._finders[stage].price(self._transposed @ y[self.families[k]])
        if self._shares is None:
            roots = {int(by_root.argmin()): 1.0}
        else:
            roots = {r: float(w) for r, w in self._shares.items()}
        price = sum(w * float(by_root[r]) for r, w in roots.items())
        if not np.isfinite(price):
            return None
        trees = tuple(
            (self._tree(stage, root), w) for root, w in roots.items() for stage in self._stages
        )
        load = np.zeros(len(self.capacity))
        for tree, w in trees:
            load += w * self.load(tree)
        return Column(price, load, trees)

    def trees(self, y: Floats) -> list[FoundTree]:
        """Return a cheapest tree of each stage and root that reaches every worker."""
        found = []
        for stage, k in self._family_of.items():
            cost = self._finders[stage].price(self._transposed @ y[self.families[k]])
            roots = range(len(cost)) if self._shares is None else self._shares
            found += [self._tree(stage, r) for r in roots if np.isfinite(cost[r])]
        return found

    def _tree(self, stage: Stage, root: int) -> FoundTree:
        routes = self._finders[stage].routes(root)
        elements = np.array([a for route in routes for a in self._arcs_on(route)], dtype=np.int32)
        elements.sort()
        key = stage, root, elements.tobytes()
        if key not in self._known:
            routes.sort()
            longest = max(len(route) for route in routes)
            filled = [route + (-1,) * (longest - len(route)) for route in routes]
            self._known[key] = FoundTree(stage, root, elements, np.array(filled, dtype=np.int32))
        return self._known[key]

    def _arcs_on(self, route: Route) -> tuple[int, ...]:
        arcs = self._arcs_of.get(route)
        if arcs is None:
            index = self._network.arc_index
            arcs = self._arcs_of[route] = tuple(index[arc] for arc in itertools.pairwise(route))
        return arcs

    def load(self, tree: FoundTree) -> Floats:
        """Return a tree's load on every row per unit of rate."""
        assert tree.stage is not None
        used = np.bincount(tree.elements, minlength=len(self._network.arcs)).astype(float)
        out = np.zeros(len(self.capacity))
        out[self.families[self._family_of[tree.stage]]] = self._matrix @ used
        return out

    def row_prices(self, y: Floats) -> dict[Stage, Floats]:
        """Return each stage's part of `y`."""
        return {stage: y[self.families[k]] for stage, k in self._family_of.items()}

    def exact_row_prices(self, y: Sequence[Fraction]) -> dict[Stage, list[Fraction]]:
        """Return each stage's part of rational prices."""
        return {stage: list(y[self.families[k]]) for stage, k in self._family_of.items()}


class _Finder(Protocol):
    """Cheapest trees of one stage from every root."""

    def price(self, prices: Floats) -> Floats:
        """Take prices of the arcs, return the cost of each root's tree."""

    def routes(self, root: int) -> list[Route]:
        """Return a root's tree, in the direction of the data."""


class _ClosureFinder:
    """Arborescences in the closure."""

    def __init__(self, closure: Closure, stage: Stage):
        self._closure = closure
        self._reduce = stage == "reduce"

    def price(self, prices: Floats) -> Floats:
        dist = self._closure.update(prices)
        self._found = minimum_arborescences(dist.T if self._reduce else dist)
        return np.array(self._found.cost, dtype=float)

    def routes(self, root: int) -> list[Route]:
        parents = self._found.parents(root).tolist()
        return [
            self._closure.route(v, u) if self._reduce else self._closure.route(u, v)
            for v, u in enumerate(parents)
            if v != root
        ]


class _SteinerFinder:
    """Steiner trees; in-trees are out-trees of the reversed network."""

    def __init__(self, network: Network, stage: Stage):
        self._reduce = stage == "reduce"
        ends = (network.tails, network.heads)
        self._tails, self._heads = ends[::-1] if self._reduce else ends
        self._trees = SteinerTrees(network)

    def price(self, prices: Floats) -> Floats:
        return self._trees.price(self._tails, self._heads, prices)

    def routes(self, root: int) -> list[Route]:
        found = self._trees.routes(root)
        return [route[::-1] for route in found] if self._reduce else found


def _incidence(rows: Sequence[Sequence[int]], columns: int, value: float) -> csr_array:
    """Return the matrix of how often each row holds each column, times `value`."""
    lengths = [len(row) for row in rows]
    i = np.repeat(np.arange(len(rows)), lengths)
    j = np.array([c for row in rows for c in row], dtype=np.int64)
    matrix = csr_array((np.full(len(j), value), (i, j)), shape=(len(rows), columns))
    matrix.sum_duplicates()
    return matrix
