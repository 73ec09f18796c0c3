r"""At most K trees of any rates: the MILP.

Formulation F8b.

Sets: trees k = 1..K; cables e with capacity c_e in GB/s; arcs A, both directions of every cable;
nodes V, all trees oriented away from node 0, which serves as any root does (T1).

Variables: x_k rate of a tree; b_ka arc a is in it; f_ka flow that delivers a unit to every node;
l_ke load of tree k on cable e; b_ke = b_k,uv + b_k,vu. B_1 is the width of a widest spanning tree,
the largest rate of a tree.

.. math::
    \max\ & \sum_k x_k \\
    (1)\quad & \sum_{a \in \delta^-(v)} b_{ka} = 1 && v \ne 0 \\
    (2)\quad & f_k(\delta^-(v)) - f_k(\delta^+(v)) = 1 && v \ne 0 \\
    (3)\quad & f_{ka} \le (N - 1)\, b_{ka} \\
    (4)\quad & l_{ke} \ge x_k - B_1 (1 - b_{ke}) \\
    (5)\quad & \sum_k l_{ke} \le c_e \\
    (6)\quad & B_1 \ge x_1 \ge \dots \ge x_K \ge 0 \\
    (7)\quad & \sum_k x_k \le \min(\tau, K B_1)

Each tree reduces and broadcasts here. A plan may also use different trees for the two, and with
K >= 2 that can be faster: on the complete graph of four nodes less an edge, with equal cables, two
trees reach the capacity of one cable, two pairs of trees half as much again. So these models are a
restriction of the problem, and only (7) bounds the problem itself; in `pair_budget` both trees are
free.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.system.declaring import formulation

from ..instance import (
    Bottleneck,
    ForestPackingCertificate,
    ForestPackingInstance,
    ForestPackingSolution,
)
from ..packing import best_plan, read_rates, to_solution
from ..subproblems.cable_trees import (
    EdgeTree,
    check_scope,
    edge_capacities,
    partition_certificate,
    plan,
    strength,
    widest,
)
from .equal_share_models import add_trees, decode_trees, used


def refuse_others(instance: ForestPackingInstance, method: str) -> int:
    """Return the tree budget; refuse instances without one, or out of scope.

    Raises
    ------
    ModelRefused
    """
    if instance.tree_budget is None:
        raise ModelRefused(f"{method}: tree_budget: none, expected a number of trees")
    if instance.equal_share:
        raise ModelRefused(f"{method}: equal_share: true, use equal_share_partition")
    if instance.root_mode in ("uniform", "weights"):
        raise ModelRefused(f"{method}: root_mode: {instance.root_mode!r}, expected free or fixed")
    check_scope(instance, method)
    return instance.tree_budget


def rate_bound(instance: ForestPackingInstance, num_trees: int) -> Fraction:
    r"""Return min(tau, K B_1), GB/s: holds for pairs of different trees too.

    Every tree of a pair spans, so its rate is at most B_1.
    """
    network = instance.network
    return min(strength(network).value, Fraction(num_trees * widest(network))) * network.unit


def rate_certificate(instance: ForestPackingInstance, num_trees: int) -> ForestPackingCertificate:
    """Return the certificate of `rate_bound`."""
    network = instance.network
    whole = strength(network)
    if whole.value <= num_trees * widest(network):
        return partition_certificate(network, whole)
    # The workers that wider cables join to the first one.
    joined = {0}
    wider = [
        edge
        for edge, c in zip(network.edges, edge_capacities(network), strict=True)
        if c > widest(network)
    ]
    while new := {v for edge in wider if joined & set(edge) for v in edge} - joined:
        joined |= new
    nodes = tuple(network.labels[v] for v in sorted(joined))
    return ForestPackingCertificate(proof=Bottleneck(nodes=nodes))


@formulation(model_class="MILP", strength="restriction", equations="F8b")
def build(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """At most K trees of any rates, each used up and down (instances with a tree budget).

    Raises
    ------
    ModelRefused
        If the instance has no tree budget or equal shares, given root shares, or is not an
        overlapped allreduce on full-duplex cables.
    """
    num_trees = refuse_others(instance, "tree_budget")
    network = instance.network
    N = network.num_nodes
    c = coefficients(x * network.unit for x in edge_capacities(network))
    B_1 = coefficient(widest(network) * network.unit)

    m = pyo.ConcreteModel("tree budget")
    m.K = pyo.RangeSet(0, num_trees - 1)
    m.V = pyo.RangeSet(1, N - 1)  # all but the root
    m.E = pyo.RangeSet(0, len(c) - 1)
    m.A = pyo.Set(dimen=2, initialize=[a for a in network.arcs if a[1] != 0])
    m.x = pyo.Var(m.K, domain=pyo.NonNegativeReals, bounds=(0, B_1), doc="rate, GB/s")
    m.rate = pyo.Objective(expr=sum(m.x[k] for k in m.K), sense=pyo.maximize)
    if B_1 == 0:  # no tree spans the workers
        return m

    m.b = pyo.Var(m.K, m.A, domain=pyo.Binary, doc="arc is in tree k")
    m.f = pyo.Var(m.K, m.A, bounds=(0, N - 1), doc="units delivered over it")
    m.l = pyo.Var(m.K, m.E, domain=pyo.NonNegativeReals, doc="load of tree k, GB/s")

    add_trees(m, N)

    @m.Constraint(m.K, m.E, doc="(4): a cable of the tree carries its rate")
    def carried(m: Any, k: int, e: int) -> Any:
        return m.l[k, e] >= m.x[k] - B_1 * (1 - used(m, k, network.edges[e]))

    @m.Constraint(m.E, doc="(5): capacity")
    def capacity(m: Any, e: int) -> Any:
        return sum(m.l[k, e] for k in m.K) <= c[e]

    @m.Constraint(m.K, doc="(6): trees in order of their rates")
    def in_order(m: Any, k: int) -> Any:
        return pyo.Constraint.Skip if k == num_trees - 1 else m.x[k] >= m.x[k + 1]

    @m.Constraint(doc="(7): the bound of all packings, and of K trees")
    def bounded(m: Any) -> Any:
        return sum(m.x[k] for k in m.K) <= coefficient(rate_bound(instance, num_trees))

    return m


def decode(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> ForestPackingSolution:
    """Read trees and rates, the rates exactly where they are simple fractions."""
    if not hasattr(m, "b"):
        return ForestPackingSolution(trees=())
    rates = [max(0.0, pyo.value(m.x[k])) for k in m.K]
    # Rates of 0 come out of the solver as rounding errors.
    kept = [k for k in m.K if rates[k] > 1e-9 * max(rates)]
    trees: list[EdgeTree] = decode_trees(m, instance)
    readings = read_rates([rates[k] for k in kept], instance.network.unit)
    plans = [plan(instance, [trees[k] for k in kept], reading) for reading in readings]
    return to_solution(instance, best_plan(instance, plans))
