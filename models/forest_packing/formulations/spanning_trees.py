r"""Undirected spanning tree packing: the allreduce of symmetric networks without switches.

Formulation F5. Where every cable has the same capacity c_e in both directions, a tree used towards
any root by the reduction and away from it by the broadcast takes its rate once of each direction.
Hence the optimal rate is the fractional tree packing number tau of the undirected graph with
capacities c_e, with any root shares (T1). In a half-duplex network c_e is shared by both
directions: an allreduce needs it twice, in whatever order, a single stage once; u is that number, 1
with full duplex.

`build_trees` has a variable x_T for every spanning tree T:

.. math::
    \max\ & R = \sum_T x_T \\
    (F5)\quad & u \sum_{T \ni e} x_T \le c_e \qquad e \in E

`build_orientation` is compact: g_{ij}, g_{ji} split cable e = ij between its directions, and by
Edmonds' theorem trees out of one fixed node r of rate R fit if R can flow to every v within g:

.. math::
    \max\ & R \\
    (F5.1)\quad & u\, (g_{ij} + g_{ji}) \le c_{ij} \qquad ij \in E \\
    (F5.2)\quad & f^v_a \le g_a \qquad v \ne r \\
    (F5.3)\quad & f^v(\delta^-(u)) - f^v(\delta^+(u)) = ([u = v] - [u = r])\, R \qquad v \ne r

Both are in rates, as in the textbook statement; the time of a GB is t = 1/R.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.declaring import formulation
from gadgetopt.system.result import Limits

from ..instance import ForestPackingInstance, ForestPackingSolution
from ..packing import (
    Pair,
    best_plan,
    required_shares,
    to_solution,
)
from ..subproblems.enumeration import arborescences, count_arborescences
from .loads import by_node, is_zero, rate_readings, refuse_variants, values

#: Most spanning trees that `build_trees` lists. Tuned: `benchmarks/constants.py`.
MAX_TREES = 20_000

Edges = tuple[tuple[int, int], ...]


def uses_of_cable(instance: ForestPackingInstance) -> int:
    """Return u, how often a tree's rate counts against a cable's capacity.

    Raises
    ------
    ModelRefused
        If undirected trees do not describe the instance.
    """
    refuse_variants(instance)
    network = instance.network
    if len(network.switches):
        raise ModelRefused("spanning trees pack networks without switches: use flow")
    if instance.nic_in_gbyte_per_s or instance.nic_out_gbyte_per_s:
        raise ModelRefused("spanning trees pack networks without NIC limits: use flow")
    if instance.duplex == "half":
        return len(instance.stages)
    if not network.symmetric:
        raise ModelRefused("spanning trees pack networks of symmetric cables: use flow")
    if len(instance.stages) == 1 or instance.sequential:
        raise ModelRefused(
            "a stage on its own leaves one direction of the cables of an undirected tree idle: "
            "use flow"
        )
    return 1


def num_trees(instance: ForestPackingInstance) -> int:
    """Return the number of spanning trees, by Kirchhoff's theorem."""
    network = instance.network
    return count_arborescences(network.num_nodes, dict.fromkeys(network.arcs, 1), 0)


@formulation(name="spanning_trees", model_class="LP", equations="F5", decode="decode_trees")
def build_trees(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """One variable for every spanning tree (small symmetric networks).

    Raises
    ------
    ModelRefused
        If there are more than `MAX_TREES`, or undirected trees do not describe the instance.
    """
    u = uses_of_cable(instance)
    network = instance.network
    if num_trees(instance) > MAX_TREES:
        raise ModelRefused(
            f"the network has {num_trees(instance)} spanning trees, more than {MAX_TREES}: use "
            "column_generation, which finds those that matter"
        )
    # A spanning tree is an arborescence out of node 0, and once only.
    parents = arborescences(network.arcs, network.num_nodes, 0)
    trees = [
        tuple((min(i, v), max(i, v)) for v, i in enumerate(parent) if v != 0) for parent in parents
    ]
    having: dict[tuple[int, int], list[int]] = {e: [] for e in network.edges}
    for k, tree in enumerate(trees):
        for e in tree:
            having[e].append(k)

    m = pyo.ConcreteModel("spanning trees")
    m.trees = trees
    m.T = pyo.RangeSet(0, len(trees) - 1)
    m.E = pyo.Set(dimen=2, initialize=network.edges)
    m.x = pyo.Var(m.T, domain=pyo.NonNegativeReals, doc="rate of a tree, GB/s")

    @m.Constraint(m.E, doc="(F5): capacity of the cable")
    def capacity(m: Any, i: int, j: int) -> Any:
        if not having[i, j]:
            return pyo.Constraint.Skip  # there are no trees at all
        c = network.capacity[network.arc_index[i, j]]
        return u * pyo.quicksum(m.x[k] for k in having[i, j]) <= coefficient(c)

    m.rate = pyo.Objective(expr=pyo.quicksum(m.x[k] for k in m.T), sense=pyo.maximize)
    return m


def decode_trees(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> ForestPackingSolution:
    """Read the rates of the trees and root them."""
    used = [(tree, x) for tree, x in zip(m.trees, values(m, m.x.values()), strict=True) if x > 0]
    return plan_of_trees(instance, [tree for tree, _ in used], [x for _, x in used])


@formulation(
    name="orientation", model_class="LP", equations="F5, compact", decode="decode_orientation"
)
def build_orientation(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """Cables oriented, a flow from one root (symmetric networks).

    Build the compact form (F5.1)-(F5.3), with r the first worker.

    Raises
    ------
    ModelRefused
        If undirected trees do not describe the instance.
    """
    uses = uses_of_cable(instance)
    network = instance.network
    root = 0

    m = pyo.ConcreteModel("orientation")
    m.V = pyo.RangeSet(0, network.num_nodes - 1)
    m.sinks = pyo.Set(initialize=[v for v in m.V if v != root])
    m.A = pyo.Set(dimen=2, initialize=network.arcs)
    m.E = pyo.Set(dimen=2, initialize=network.edges)
    m.R = pyo.Var(domain=pyo.NonNegativeReals, doc="rate, GB/s")
    m.g = pyo.Var(m.A, domain=pyo.NonNegativeReals, doc="part of a cable away from the root")
    m.f = pyo.Var(m.sinks, m.A, domain=pyo.NonNegativeReals, doc="flow to node v")
    into, out = by_node(m)

    @m.Constraint(m.E, doc="(F5.1): both directions share the cable")
    def capacity(m: Any, i: int, j: int) -> Any:
        c = network.capacity[network.arc_index[i, j]]
        return uses * (m.g[i, j] + m.g[j, i]) <= coefficient(c)

    @m.Constraint(m.sinks, m.A, doc="(F5.2): flows within the load")
    def within_load(m: Any, v: int, i: int, j: int) -> Any:
        return m.f[v, i, j] <= m.g[i, j]

    @m.Constraint(m.sinks, m.V, doc="(F5.3): v receives all the data from the root")
    def receives(m: Any, v: int, u: int) -> Any:
        entering = pyo.quicksum(m.f[v, a] for a in into[u])
        leaving = pyo.quicksum(m.f[v, a] for a in out[u])
        return entering - leaving == ((u == v) - (u == root)) * m.R

    m.rate = pyo.Objective(expr=m.R, sense=pyo.maximize)
    return m


def decode_orientation(
    m: pyo.ConcreteModel, instance: ForestPackingInstance
) -> ForestPackingSolution:
    """Decompose g into arborescences and use them as undirected trees."""
    # These load a solver, which building a model does not need.
    from ..subproblems.arc_loads.exact_decomposition import exact_trees_of
    from ..subproblems.arc_loads.load_decomposition import pack_loads

    network = instance.network
    rate, *load = values(m, [m.R, *(m.g[arc] for arc in network.arcs)])
    if is_zero(instance, rate):
        return ForestPackingSolution(trees=())
    packed = None
    if isinstance(rate, Fraction):
        exact = [Fraction(x) for x in load]
        roots = [rate, *[Fraction(0)] * (network.num_workers - 1)]
        packed = exact_trees_of(instance, "broadcast", exact, roots)
    if packed is None:
        at_root = np.array([float(rate), *[0.0] * (network.num_workers - 1)])
        loads = np.maximum(np.array(load, dtype=float), 0.0)
        packed = pack_loads(instance, "broadcast", loads, at_root, Limits())
    trees = [tuple((min(r), max(r)) for r in tree.routes) for tree in packed]
    return plan_of_trees(instance, trees, [tree.rate for tree in packed])


def plan_of_trees(
    instance: ForestPackingInstance, trees: Sequence[Edges], rates: Sequence[Number]
) -> ForestPackingSolution:
    """Root undirected trees in the shares that the instance asks for, and make their rates exact.

    Where shares are free, a tree is rooted at its centre: least height, then least index.
    """
    readings = rate_readings(instance, rates)
    plans = [
        [
            rooted(instance, trees[k], r, rate)
            for k, r, rate in assign_roots(instance, trees, reading)
        ]
        for reading in readings
    ]
    return to_solution(instance, best_plan(instance, plans))


def assign_roots(
    instance: ForestPackingInstance, trees: Sequence[Edges], rates: Sequence[Fraction]
) -> list[tuple[int, int, Fraction]]:
    """Return (tree, root, rate): each tree's rate goes to roots in turn as their shares fill up."""
    shares = required_shares(instance)
    if shares is None:
        return [
            (k, centre(tree), rate) for k, (tree, rate) in enumerate(zip(trees, rates, strict=True))
        ]
    total = sum(rates, Fraction(0))
    room = [(r, share * total) for r, share in shares.items()]
    assigned = []
    for k, rate in enumerate(rates):
        rest = rate
        while rest > 0:
            r, free = room[0]
            taken = min(rest, free)
            assigned.append((k, r, taken))
            rest -= taken
            room[0] = (r, free - taken)
            if taken == free:
                room.pop(0)
    return assigned


def centre(tree: Edges) -> int:
    """Return the node from which the tree is least high, the first of them."""
    nodes = sorted({v for e in tree for v in e})
    return min(nodes, key=lambda r: max(_outwards(tree, r)[1]))


def rooted(instance: ForestPackingInstance, tree: Edges, root: int, rate: Fraction) -> Pair:
    """Direct a tree: towards the root in the reduction, away from it in the broadcast."""
    away = tuple(_outwards(tree, root)[0])
    towards = tuple((v, u) for u, v in away)
    if instance.stages == ("broadcast",):
        return Pair(root, (), away, rate)
    return Pair(root, towards, None if len(instance.stages) == 2 else (), rate)


def _outwards(tree: Edges, root: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the arcs (parent, child) away from the root, and the depths of their children."""
    neighbours: dict[int, list[int]] = {}
    for u, v in tree:
        neighbours.setdefault(u, []).append(v)
        neighbours.setdefault(v, []).append(u)
    arcs, depths = [], []
    waiting = [(root, root, 0)]
    for parent, u, height in waiting:
        for v in neighbours[u]:
            if v != parent:
                arcs.append((u, v))
                depths.append(height + 1)
                waiting.append((u, v, height + 1))
    return arcs, depths
