r"""Decomposition of one stage's loads and root rates into trees.

Algorithm A3. Loads :math:`g` and root rates :math:`w` that satisfy every cut (F3) are packed by
trees of total rate :math:`w(W)`: by Edmonds' theorem without switches, with balanced switches by
edge splitting (F7; for networks that are not Eulerian (reconstructed)). The trees are found by
column generation on the arcs that carry load,

.. math::
    \max \sum_T x_T \quad \sum_{T} n_a(T)\,x_T \le g_a, \quad
    \sum_{T \text{ rooted at } r} x_T \le w_r,

with pricing by minimum arborescences over cheapest paths through switches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.graphs.arborescence import minimum_arborescences
from gadgetopt.system.result import Limits

from ...instance import (
    ForestPackingInstance,
    Stage,
)
from ...network import Network
from ...packing import Tree
from ..closure import Closure
from ..price_oracles import (
    Column,
    FoundTree,
)
from ..tree_generation import (
    Generated,
    generate_trees,
)
from ..tree_master import TreeMaster

#: Loads and root rates below this part of the total rate are rounding errors of 0.
#: Tuned: `benchmarks/constants.py`.
NEGLIGIBLE = 1e-11


class SupportOracle:
    """Pricing oracle of a stage's trees on arcs that carry load; rows: those arcs, then the roots.

    Parameters
    ----------
    network : Network
        Only with the arcs that carry load.
    stage : str
    loads : ndarray, shape (arcs,)
    root_rates : ndarray, shape (workers,)
    """

    def __init__(self, network: Network, stage: Stage, loads: Floats, root_rates: Floats):
        self._network = network
        self._stage = stage
        self._closure = Closure(network)
        self._arcs = len(loads)
        self._roots = np.flatnonzero(root_rates)
        self._root_row = {int(r): self._arcs + k for k, r in enumerate(self._roots)}
        self.capacity: Floats = np.concatenate((loads, root_rates[self._roots]))
        self.families: tuple[slice, ...] = (slice(0, len(self.capacity)),)

    def __call__(self, y: Floats) -> Column | None:
        """Return the cheapest tree of the best root."""
        cost = self._price(y)
        best = int(cost.argmin())
        if not np.isfinite(cost[best]):
            return None
        tree = self._tree(int(self._roots[best]))
        return Column(float(cost[best]), self.load(tree), ((tree, 1.0),))

    def trees(self, y: Floats) -> list[FoundTree]:
        """Return the cheapest tree of every root."""
        cost = self._price(y)
        return [self._tree(int(r)) for r in self._roots[np.isfinite(cost)]]

    def load(self, tree: FoundTree) -> Floats:
        """Return a tree's load on every row per unit of rate."""
        out = np.bincount(tree.elements, minlength=len(self.capacity)).astype(float)
        out[self._root_row[tree.root]] = 1.0
        return out

    def row_prices(self, y: Floats) -> dict[Stage, Floats]:
        """Return prices of the arcs that carry load."""
        return {self._stage: y[: self._arcs]}

    def _price(self, y: Floats) -> Floats:
        dist = self._closure.update(y[: self._arcs])
        self._found = minimum_arborescences(dist.T if self._stage == "reduce" else dist)
        return np.array(self._found.cost, dtype=float)[self._roots] + y[self._arcs :]

    def _tree(self, root: int) -> FoundTree:
        """Return the tree of a root in the last pricing."""
        parents = self._found.parents(root)
        child = np.flatnonzero(parents >= 0)
        ends = (parents[child], child)
        tails, heads = ends[::-1] if self._stage == "reduce" else ends
        if not self._network.switches:
            routes = np.stack((tails, heads), axis=1).astype(np.int32)
        else:
            found = [self._closure.route(int(u), int(v)) for u, v in zip(tails, heads, strict=True)]
            routes = np.full((len(found), max(map(len, found))), -1, dtype=np.int32)
            for k, route in enumerate(found):
                routes[k, : len(route)] = route
        return FoundTree(self._stage, root, self._elements(routes), routes)

    def _elements(self, routes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        index = self._network.arc_index
        arcs = [
            index[arc]
            for route in routes.tolist()
            for arc in itertools.pairwise(v for v in route if v >= 0)
        ]
        return np.sort(np.array(arcs, dtype=np.int32))


def pack_loads(
    instance: ForestPackingInstance,
    stage: Stage,
    loads: Sequence[Fraction] | Floats,
    root_rates: Sequence[Fraction] | Floats,
    limits: Limits,
) -> list[Tree]:
    """Return trees of a stage that stay within loads and root rates, of the largest total rate.

    The total is that of the root rates, up to 1e-9 of it, if loads and root rates satisfy every cut
    (F3) and each switch forwards what it receives. Rates are floating-point numbers read exactly:
    fit them before use.

    Parameters
    ----------
    instance : ForestPackingInstance
    stage : str
    loads : sequence, shape (arcs,)
        GB/s on every arc of `instance.network`.
    root_rates : sequence, shape (workers,)
        GB/s rooted at every worker.
    limits : Limits
        `time_s` ends the search early, with the trees found so far.
    """
    packed = pack_found_loads(
        instance, stage, np.array(loads, dtype=float), np.array(root_rates, dtype=float), limits
    )
    return [
        Tree(tree.root, tree.route_tuples(), Fraction(x))
        for tree, x in zip(packed.trees, packed.rates.tolist(), strict=True)
        if x > 0
    ]


def pack_found_loads(
    instance: ForestPackingInstance,
    stage: Stage,
    loads: Floats,
    root_rates: Floats,
    limits: Limits,
) -> Generated:
    """Return the trees of `pack_loads` as they were found, with rates in floating point."""
    total = float(root_rates.sum())
    if total <= 0:
        return Generated([], np.zeros(0), 0.0, 0.0, None)
    arcs = np.flatnonzero(loads > NEGLIGIBLE * total)
    roots = np.where(root_rates > NEGLIGIBLE * total, root_rates, 0.0)
    packed, _ = _generated(instance.network, stage, loads, roots, arcs, limits)
    # Elements are arcs of the whole network again.
    packed.trees = [replace(t, elements=arcs[t.elements].astype(np.int32)) for t in packed.trees]
    return packed


def pack_rational_loads(
    instance: ForestPackingInstance,
    stage: Stage,
    loads: Sequence[Fraction],
    root_rates: Sequence[Fraction],
    limits: Limits,
) -> list[Tree] | None:
    """Return trees of a stage within rational loads, of the whole rate; None if none are found."""
    arcs = np.flatnonzero([bool(x) for x in loads])
    doubles = np.array([float(x) for x in loads]), np.array([float(x) for x in root_rates])
    packed, master = _generated(instance.network, stage, *doubles, arcs, limits)
    if packed.limit_hit is not None or packed.bound == 0.0:
        return None
    capacity = [loads[a] for a in arcs.tolist()] + [w for w in root_rates if w]
    exact = master.exact_optimum(capacity)
    if exact is None or exact.rate != sum(root_rates):
        return None
    rated = zip(master.trees, exact.rates, strict=True)
    return [Tree(t.root, t.route_tuples(), x) for t, x in rated if x]


def _generated(
    network: Network, stage: Stage, loads: Floats, roots: Floats, arcs: Ints, limits: Limits
) -> tuple[Generated, TreeMaster]:
    """Return the trees on some arcs of the network, and the master that rates them."""
    carrying = _carrying(network, arcs)
    oracle = SupportOracle(carrying, stage, loads[arcs], roots)
    master = TreeMaster(oracle, (stage,), network.num_workers, "any")
    return generate_trees(oracle, master, limits, upper=float(roots.sum())), master


def _carrying(network: Network, arcs: Ints) -> Network:
    """Return the network with some of its arcs and no rows."""
    kept = arcs.tolist()
    return replace(
        network,
        arcs=tuple(network.arcs[a] for a in kept),
        capacity=tuple(network.capacity[a] for a in kept),
        rows=(),
    )
