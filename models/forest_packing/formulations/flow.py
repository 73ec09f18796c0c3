r"""The compact flow LP: loads, and for every worker a flow of all the data to it.

Formulations F2 and F4.

Sets: workers W, switches S, nodes V, arcs A, rows with capacity c_i.

Variables: R the rate; w_r the rate rooted at worker r; g_a, h_a the loads of broadcast and reduce;
for each worker v the flows f^v_a and phi^v_a that it receives and sends, and their parts q^v_r and
rho^v_r that are rooted at r. All in GB/s.

.. math::
    \max\ & R \\
    (1)-(3)\quad & \text{shares, capacities and switches: see } \texttt{loads.py} \\
    (4)\quad & f^v_a \le g_a, \quad q^v_r \le w_r, \qquad
               \phi^v_a \le h_a, \quad \rho^v_r \le w_r \\
    (5)\quad & [u \in W]\, q^v_u + f^v(\delta^-(u)) - f^v(\delta^+(u)) = [u = v]\, R \\
    (6)\quad & [u \in W]\, \rho^v_u + \phi^v(\delta^+(u)) - \phi^v(\delta^-(u)) = [u = v]\, R

for all v in W, u in V, a in A. This is the textbook form times R = 1/t: its (1) has the sum 1, its
(2) the capacity c_i t, its (5) and (6) the right-hand side [u = v].

Without switches it is exact by Edmonds' theorem: loads g and root rates w are a sum of spanning
out-arborescences if and only if R can flow from the roots to every worker within g; h is the same
on reversed arcs. With switches (3) makes it exact, in each stage for itself: split-off pairs of
arcs at a balanced switch keep the flows (Eulerian networks: edge splitting; any network:
reconstructed, tested).

`build_multicast` leaves (3) out: then a switch may copy and sum. It bounds the rate of every plan,
those with aggregation in the network included, and is attained by some networks only.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import ForestPackingInstance
from .loads import (
    add_balances,
    add_capacities,
    by_node,
    declare,
    decode,
    refuse_variants,
    stage_loads,
)

__all__ = ["add_flows", "build", "build_multicast", "decode"]


@formulation(model_class="LP", equations="F2, F4, F7.1")
def build(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """Loads that let a flow reach every worker: the compact form.

    Raises
    ------
    ModelRefused
        If the trees are restricted, or switches copy and sum.
    """
    refuse_variants(instance)
    m = build_multicast(instance)
    m.name = "compact flow"
    add_balances(m, instance)
    return m


@formulation(name="multicast", model_class="LP", strength="relaxation", equations="F2 without (3)")
def build_multicast(instance: ForestPackingInstance) -> pyo.ConcreteModel:
    """The compact form with switches that copy and sum."""
    network = instance.network
    m = declare("multicast relaxation", instance, network.num_nodes, network.arcs)
    add_capacities(m, instance, stage_loads(m, instance))
    add_flows(m, instance)
    return m


def add_flows(m: pyo.ConcreteModel, instance: ForestPackingInstance) -> None:
    """Add the flows (4)-(6) of the collective's stages on the sets W, V and A."""
    if "broadcast" in instance.stages:
        _add_received(m)
    if "reduce" in instance.stages:
        _add_sent(m)


def _add_received(m: pyo.ConcreteModel) -> None:
    into, out = by_node(m)
    m.f = pyo.Var(m.W, m.A, domain=pyo.NonNegativeReals, doc="flow to worker v")
    m.q = pyo.Var(m.W, m.W, domain=pyo.NonNegativeReals, doc="what of it starts at root r")

    @m.Constraint(m.W, m.A, doc="(4): copies of one broadcast load")
    def received_within_load(m: Any, v: int, i: int, j: int) -> Any:
        return m.f[v, i, j] <= m.g[i, j]

    @m.Constraint(m.W, m.W, doc="(4): starting from the roots' rates")
    def received_from_roots(m: Any, v: int, r: int) -> Any:
        return m.q[v, r] <= m.w[r]

    @m.Constraint(m.W, m.V, doc="(5): v receives all the data")
    def receives(m: Any, v: int, u: int) -> Any:
        started = m.q[v, u] if u in m.W else 0
        entering = pyo.quicksum(m.f[v, a] for a in into[u])
        leaving = pyo.quicksum(m.f[v, a] for a in out[u])
        return started + entering - leaving == (m.R if u == v else 0)


def _add_sent(m: pyo.ConcreteModel) -> None:
    into, out = by_node(m)
    m.phi = pyo.Var(m.W, m.A, domain=pyo.NonNegativeReals, doc="flow from worker v")
    m.rho = pyo.Var(m.W, m.W, domain=pyo.NonNegativeReals, doc="what of it ends at root r")

    @m.Constraint(m.W, m.A, doc="(4): summands of one reduce load")
    def sent_within_load(m: Any, v: int, i: int, j: int) -> Any:
        return m.phi[v, i, j] <= m.h[i, j]

    @m.Constraint(m.W, m.W, doc="(4): ending in the roots' rates")
    def sent_to_roots(m: Any, v: int, r: int) -> Any:
        return m.rho[v, r] <= m.w[r]

    @m.Constraint(m.W, m.V, doc="(6): v's data reaches all roots")
    def sends(m: Any, v: int, u: int) -> Any:
        ended = m.rho[v, u] if u in m.W else 0
        entering = pyo.quicksum(m.phi[v, a] for a in into[u])
        leaving = pyo.quicksum(m.phi[v, a] for a in out[u])
        return ended + leaving - entering == (m.R if u == v else 0)
