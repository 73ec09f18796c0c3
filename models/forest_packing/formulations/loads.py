r"""Common parts of the load LPs: loads of the arcs, capacities, switches, and decoding.

Shared by F2, F3 and F7.2. The textbook form minimises t, the seconds a GB takes, over loads g_a,
h_a in GB per GB of data and root shares w_r of total 1. Here all of these are multiplied by the
rate R = 1/t: R is maximised, g_a, h_a and w_r are in GB/s, and the w_r add up to R. The optima
correspond one to one, except that a network that cannot be synchronised has R = 0 instead of an
infeasible LP, and that capacities stay apart from variables.

.. math::
    \max\ & R \\
    (1)\quad & \sum_{r \in W} w_r = R, \qquad w_r = \omega_r R
               \text{ where the share } \omega_r \text{ is given} \\
    (2)\quad & \sum_{a \in i} (g_a + h_a) \le c_i \text{ for every row } i,
               \text{ or, if the stages take turns,} \\
             & \sum_{a \in i} h_a \le c_i s_1, \quad \sum_{a \in i} g_a \le c_i s_2, \quad
               s_1 + s_2 \le 1 \\
    (3)\quad & g(\delta^-(s)) = g(\delta^+(s)), \quad h(\delta^-(s)) = h(\delta^+(s))
               \qquad s \in S

A row is an arc, a half-duplex cable with both its directions, or all that enters or leaves a node
with a NIC limit. A collective of a single stage has only g (broadcast) or only h (reduce).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.exact_optimum.values import exact_values
from gadgetopt.system.result import Limits

from ..instance import ForestPackingInstance, ForestPackingSolution, Stage
from ..packing import (
    Tree,
    best_plan,
    read_rates,
    required_shares,
    to_solution,
)

#: Stages' load variables.
LOAD: dict[Stage, str] = {"broadcast": "g", "reduce": "h"}

#: An optimal rate below this part of the largest capacity is a rounding error of 0.
#: Tuned: `benchmarks/constants.py`.
NO_RATE = 1e-11


def refuse_variants(instance: ForestPackingInstance) -> None:
    """Refuse instances that restrict trees, or whose switches copy and sum.

    Raises
    ------
    ModelRefused
        If the trees are restricted (F8), or switches copy and sum.
    """
    if instance.restricted:
        raise ModelRefused(
            "this LP cannot restrict the number, share or depth of trees: use tree_budget, "
            "equal_share or bounded_depth"
        )
    if instance.in_network:
        raise ModelRefused(
            "this LP assumes switches that only forward: use multicast for a bound if they copy "
            "and sum (in_network)"
        )


def declare(
    name: str, instance: ForestPackingInstance, nodes: int, arcs: Sequence[tuple[int, int]]
) -> pyo.ConcreteModel:
    """Declare sets W, V, A and variables R, w, g, h with (1) and the objective.

    Parameters
    ----------
    name : str
    instance : ForestPackingInstance
    nodes : int
        Number of nodes: workers first.
    arcs : sequence of (tail, head)
    """
    shares = required_shares(instance)

    m = pyo.ConcreteModel(name)
    m.W = pyo.RangeSet(0, instance.network.num_workers - 1)
    m.V = pyo.RangeSet(0, nodes - 1)
    m.A = pyo.Set(dimen=2, initialize=arcs)
    m.R = pyo.Var(domain=pyo.NonNegativeReals, doc="rate, GB/s")
    m.w = pyo.Var(m.W, domain=pyo.NonNegativeReals, doc="rate rooted at a worker")
    if "broadcast" in instance.stages:
        m.g = pyo.Var(m.A, domain=pyo.NonNegativeReals, doc="broadcast load")
    if "reduce" in instance.stages:
        m.h = pyo.Var(m.A, domain=pyo.NonNegativeReals, doc="reduce load")

    @m.Constraint(doc="(1): the roots share the rate")
    def roots_share(m: Any) -> Any:
        return pyo.quicksum(m.w[r] for r in m.W) == m.R

    @m.Constraint(m.W, doc="(1): in the shares that are given")
    def given_share(m: Any, r: int) -> Any:
        return (
            pyo.Constraint.Skip if shares is None else m.w[r] == coefficient(shares.get(r, 0)) * m.R
        )

    m.rate = pyo.Objective(expr=m.R, sense=pyo.maximize)
    return m


def add_capacities(
    m: pyo.ConcreteModel, instance: ForestPackingInstance, loads: Mapping[Stage, Any]
) -> None:
    """Add (2) on each stage's loads, indexed by (tail, head) of the network's arcs."""
    network = instance.network
    m.rows = pyo.RangeSet(0, len(network.rows) - 1)

    def on_row(stage: Stage, i: int) -> Any:
        return pyo.quicksum(loads[stage][network.arcs[a]] for a in network.rows[i].arcs)

    if not instance.sequential:

        @m.Constraint(m.rows, doc="(2): capacity, all stages together")
        def capacity(m: Any, i: int) -> Any:
            together = pyo.quicksum(on_row(stage, i) for stage in loads)
            return together <= coefficient(network.rows[i].capacity)

        return

    m.s = pyo.Var(list(loads), domain=pyo.NonNegativeReals, doc="part of the time of a stage")

    @m.Constraint(list(loads), m.rows, doc="(2): capacity during a stage's part of the time")
    def stage_capacity(m: Any, stage: Stage, i: int) -> Any:
        return on_row(stage, i) <= coefficient(network.rows[i].capacity) * m.s[stage]

    @m.Constraint(doc="(2): the stages take turns")
    def turns(m: Any) -> Any:
        return pyo.quicksum(m.s[stage] for stage in loads) <= 1


def add_balances(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> None:
    """Add (3). Each stage needs its own: together they would let a switch copy."""
    into, out = by_node(m)

    @m.Constraint(
        list(instance.stages), list(instance.network.switches), doc="(3): switches only forward"
    )
    def forwards(m: Any, stage: Stage, s: int) -> Any:
        load = stage_loads(m, instance)[stage]
        return pyo.quicksum(load[a] for a in into[s]) == pyo.quicksum(load[a] for a in out[s])


def stage_loads(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> dict[Stage, Any]:
    """Return the load variables g and h of the collective's stages."""
    return {stage: m.component(LOAD[stage]) for stage in instance.stages}


def by_node(m: pyo.ConcreteModel) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the arcs of A that enter and that leave each node."""
    into: list[list[Any]] = [[] for _ in m.V]
    out: list[list[Any]] = [[] for _ in m.V]
    for u, v in m.A:
        into[v].append((u, v))
        out[u].append((u, v))
    return into, out


def decode(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> ForestPackingSolution:
    """Decompose the loads g and h of the network's arcs into trees."""
    loads = {
        stage: values(m, [load[arc] for arc in instance.network.arcs])
        for stage, load in stage_loads(m, instance).items()
    }
    return decode_loads(instance, loads, root_rates(m))


def values(m: pyo.ConcreteModel, variables: Iterable[Any]) -> list[Number]:
    """Read variables: as rational numbers if the exact optimum was reached, else as doubles."""
    exact = exact_values(m)
    return [pyo.value(v) if exact is None else exact[v] for v in variables]


def root_rates(m: pyo.ConcreteModel) -> list[Number]:
    """Read w."""
    return values(m, [m.w[r] for r in m.W])


def is_zero(instance: ForestPackingInstance, rate: Number) -> bool:
    """Return True if an optimal rate is 0, up to rounding if it is a double."""
    if isinstance(rate, Fraction):
        return rate == 0
    return rate <= NO_RATE * max(instance.network.capacity_float, default=0.0)


def decode_loads(
    instance: ForestPackingInstance,
    loads: Mapping[Stage, Sequence[Number]],
    roots: Sequence[Number],
) -> ForestPackingSolution:
    """Decompose loads of the network's arcs (GB/s, by stage) with given root rates into a plan.

    If they are rational numbers, the plan has their rate, which doubles reach up to rounding.
    """
    # These load a solver, which building a model does not need.
    from ..subproblems.arc_loads.exact_decomposition import exact_pairs_of
    from ..subproblems.arc_loads.exact_trees import paired
    from ..subproblems.arc_loads.load_decomposition import pack_loads

    if is_zero(instance, sum(roots)):
        return ForestPackingSolution(trees=())
    if all(isinstance(x, Fraction) for given in (*loads.values(), roots) for x in given):
        exact = {stage: [Fraction(x) for x in load] for stage, load in loads.items()}
        pairs = exact_pairs_of(instance, exact, [Fraction(w) for w in roots])
        if pairs is not None:
            return to_solution(instance, pairs)
    rates = np.maximum(np.array(roots, dtype=float), 0.0)
    trees = {
        stage: pack_loads(
            instance, stage, np.maximum(np.array(load, dtype=float), 0.0), rates, Limits()
        )
        for stage, load in loads.items()
    }
    readings = [_readings(instance, packed) for packed in trees.values()]
    pairs_of = [paired(dict(zip(trees, read, strict=True))) for read in zip(*readings, strict=True)]
    return to_solution(instance, best_plan(instance, pairs_of))


def rate_readings(instance: ForestPackingInstance, rates: Sequence[Number]) -> list[list[Fraction]]:
    """Return readings of rates as rational numbers, one of which is to be chosen."""
    exact = [x for x in rates if isinstance(x, Fraction)]
    return [exact] if len(exact) == len(rates) else read_rates(rates, instance.network.unit)


def _readings(instance: ForestPackingInstance, trees: Sequence[Tree]) -> list[list[Tree]]:
    return [
        [Tree(t.root, t.routes, rate) for t, rate in zip(trees, rates, strict=True)]
        for rates in read_rates([t.rate for t in trees], instance.network.unit)
    ]
