r"""Integer models of trees of equal rate, and the methods that solve them.

Formulation F8a.

Sets: trees k = 1..K; cables e with capacity c_e; arcs A, both directions of every cable; nodes V,
all trees oriented away from node 0, which serves as any root does (T1).

Variables: b_ka arc a is in tree k; f_ka flow in tree k that delivers a unit to every node;
U congestion.

.. math::
    \min\ & U \\
    (1)\quad & \sum_{a \in \delta^-(v)} b_{ka} = 1 && v \ne 0 \\
    (2)\quad & f_k(\delta^-(v)) - f_k(\delta^+(v)) = 1 && v \ne 0 \\
    (3)\quad & f_{ka} \le (N - 1)\, b_{ka} \\
    (4)\quad & \sum_k b_{ke} \le c_e U, \qquad b_{ke} = b_{k,uv} + b_{k,vu}

The objective is not the rate but the congestion: the rate K/U is not linear in U. The methods
translate: a lower bound on U is rounded up to the next candidate j / c_e, and bounds the rate of K
trees from above.

In the pure-integer form :math:`\hat U = L U`, with L the least common multiple of the capacities,
takes the place of U, f is integer and (4) is :math:`\sum_k (L / c_e)\, b_{ke} \le \hat U`. The
native CP-SAT model chooses U among its candidates, which needs no L.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import pyomo.core as pyo

from gadgetopt.errors import SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import ForestPackingInstance
from ..subproblems.cable_trees import (
    EdgeTree,
    edge_capacities,
    strength,
)
from ..subproblems.equal_trees import (
    Solved,
    best_of_counts,
    candidates,
    refuse_others,
    smallest_candidate,
)
from ..subproblems.tree_literals import add_arborescence, both_ways

#: A bound that exceeds a congestion by less than this part is taken to be that congestion.
#: Tuned: `benchmarks/constants.py`.
SLACK = Fraction(1, 10**6)


def build(
    instance: ForestPackingInstance, num_trees: int, *, pure_integer: bool = False
) -> pyo.ConcreteModel:
    """Build F8a for exactly `num_trees` trees, capacities in units of `network.unit`.

    Parameters
    ----------
    instance : ForestPackingInstance
    num_trees : int
        K.
    pure_integer : bool
        All variables integer, congestion in 1/L: for CP-SAT.
    """
    network = instance.network
    N, c = network.num_nodes, edge_capacities(network)
    L = math.lcm(*c)

    m = pyo.ConcreteModel("equal share")
    m.K = pyo.RangeSet(0, num_trees - 1)
    m.V = pyo.RangeSet(1, N - 1)  # all but the root
    m.E = pyo.RangeSet(0, len(c) - 1)
    m.A = pyo.Set(dimen=2, initialize=[a for a in network.arcs if a[1] != 0])

    m.b = pyo.Var(m.K, m.A, domain=pyo.Binary, doc="arc is in tree k")
    flow_domain = pyo.NonNegativeIntegers if pure_integer else pyo.NonNegativeReals
    m.f = pyo.Var(m.K, m.A, domain=flow_domain, bounds=(0, N - 1), doc="units delivered over it")
    congestion_domain = pyo.NonNegativeIntegers if pure_integer else pyo.NonNegativeReals
    scale = L if pure_integer else 1
    m.U = pyo.Var(domain=congestion_domain, bounds=(0, scale * num_trees), doc="congestion")

    add_trees(m, N)

    @m.Constraint(m.E, doc="(4): congestion")
    def congestion(m: Any, e: int) -> Any:
        uses = sum(used(m, k, network.edges[e]) for k in m.K)
        return (L // c[e]) * uses <= m.U if pure_integer else uses <= c[e] * m.U

    # Strengthening: no congestion below K/tau holds K trees (A4), nor one below the next candidate.
    least = smallest_candidate(c, num_trees, num_trees / strength(network).value)
    if least is not None:
        m.U.setlb(int(L * least) if pure_integer else least)

    m.congestion_objective = pyo.Objective(expr=m.U, sense=pyo.minimize)
    return m


def add_trees(m: pyo.ConcreteModel, N: int) -> None:
    """Add (1)-(3): the arcs b of every tree k span the N nodes from the root, by a flow f."""

    @m.Constraint(m.K, m.V, doc="(1): one arc into every node but the root")
    def one_parent(m: Any, k: int, v: int) -> Any:
        return sum(m.b[k, a] for a in m.A if a[1] == v) == 1

    @m.Constraint(m.K, m.V, doc="(2): every node is delivered a unit")
    def delivered(m: Any, k: int, v: int) -> Any:
        into = sum(m.f[k, a] for a in m.A if a[1] == v)
        return into - sum(m.f[k, a] for a in m.A if a[0] == v) == 1

    @m.Constraint(m.K, m.A, doc="(3): over arcs of the tree")
    def in_tree(m: Any, k: int, u: int, v: int) -> Any:
        return m.f[k, u, v] <= (N - 1) * m.b[k, u, v]


def used(m: pyo.ConcreteModel, k: int, edge: tuple[int, int]) -> Any:
    """Return b_ke: 1 if tree k uses a cable in either direction."""
    return sum(m.b[k, a] for a in (edge, edge[::-1]) if a in m.A)


def decode_trees(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> list[EdgeTree]:
    """Read the cables of every tree."""
    edges = instance.network.edges
    return [
        tuple(e for e, edge in enumerate(edges) if pyo.value(used(m, k, edge)) > 0.5) for k in m.K
    ]


@method(kind="exact", reference="F8a", formulation="equal_share", backend="highs")
def equal_share_milp(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    backend: Literal["highs", "cpsat"] = "highs",
) -> MethodOutcome:
    """K trees of equal share (MILP).

    Solve F8a for every number of trees that matters.

    Parameters
    ----------
    instance : ForestPackingInstance
        `equal_share` is set.
    limits : Limits
    backend : "highs" or "cpsat"
        CP-SAT takes the pure-integer form.

    Raises
    ------
    ModelRefused
        If the instance is not an overlapped allreduce on full-duplex cables with equal shares, or
        the least common multiple of the capacities is too large for CP-SAT.
    """
    refuse_others(instance, "equal_share_milp")
    seed = seed_of(fixed_rng())
    c = edge_capacities(instance.network)
    pure = backend == "cpsat"

    def solve(num_trees: int, _cutoff: Fraction, left: Limits) -> Solved:
        clock = Clock(left)
        model = build(instance, num_trees, pure_integer=pure)
        outcome = solve_model(model, backend, clock.limits(), seed)
        if outcome.status is Status.ERROR:
            raise SolverError(outcome.reason)
        found = outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
        trees = decode_trees(model, instance) if found else None
        scale = math.lcm(*c) if pure else 1
        lowest = None if outcome.bound is None else Fraction(outcome.bound) / scale * (1 - SLACK)
        return Solved(trees, _rate_bound(c, num_trees, lowest), outcome.limit_hit)

    return best_of_counts(instance, limits, solve)


@method(kind="exact", reference="F8a", formulation="equal_share", backend="cpsat")
def equal_share_cp(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """K trees of equal share (CP-SAT).

    Solve F8a as a native CP-SAT model, U chosen among its candidates.

    Each number of trees is only searched for plans better than those found before.

    Raises
    ------
    ModelRefused
        If the instance is not an overlapped allreduce on full-duplex cables with equal shares.
    """
    refuse_others(instance, "equal_share_cp")
    seed = seed_of(fixed_rng())
    tau = strength(instance.network).value

    def solve(num_trees: int, cutoff: Fraction, left: Limits) -> Solved:
        return _solve_cp(instance, num_trees, tau, cutoff, left, seed)

    return best_of_counts(instance, limits, solve)


def _solve_cp(
    instance: ForestPackingInstance,
    num_trees: int,
    tau: Fraction,
    cutoff: Fraction,
    limits: Limits,
    seed: int,
) -> Solved:
    # A check of a proof on another formulation here needs no solver.
    from gadgetopt.solvers.cpsat import solve_cp, value_of
    from gadgetopt.solvers.to_cpsat.cp_model import cp_model

    clock = Clock(limits)
    network = instance.network
    c = edge_capacities(network)
    # No congestion below K/tau holds K trees; one of K/cutoff or more is not better.
    levels = [
        u for u in candidates(c, num_trees) if u * tau >= num_trees and u * cutoff < num_trees
    ]
    m = cp_model.CpModel()
    arcs = both_ways(network.edges)
    trees = [add_arborescence(m, network.num_nodes, arcs, 0) for _ in range(num_trees)]
    # reached[i]: the congestion is at least levels[i].
    reached = [m.new_bool_var(f"U>={u}") for u in levels[1:]]
    for higher, lower in zip(reached[1:], reached, strict=False):
        m.add_implication(higher, lower)
    for e, edge in enumerate(network.edges):
        copies = [math.floor(u * c[e]) for u in levels]
        room = copies[0] + sum(
            (more - less) * at for at, less, more in zip(reached, copies, copies[1:], strict=False)
        )
        m.add(sum(b[a] for b in trees for a in (edge, edge[::-1]) if a in b) <= room)
    m.minimize(sum(reached))
    outcome = solve_cp(m, clock.limits(), seed)
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    if outcome.status is Status.INFEASIBLE:
        return Solved(None, cutoff)
    chosen = None
    if outcome.values is not None:
        values = outcome.values
        chosen = [
            tuple(
                e
                for e, edge in enumerate(network.edges)
                if any(value_of(values, b[a]) for a in (edge, edge[::-1]) if a in b)
            )
            for b in trees
        ]
    bound = None if outcome.bound is None else num_trees / levels[max(0, int(outcome.bound))]
    return Solved(chosen, bound, outcome.limit_hit)


def _rate_bound(c: tuple[int, ...], num_trees: int, lowest: Fraction | None) -> Fraction | None:
    """Return the bound on the rate from a lower bound on the congestion, in units."""
    if lowest is None or lowest <= 0:
        return None
    least = smallest_candidate(c, num_trees, lowest)
    return None if least is None else num_trees / least
