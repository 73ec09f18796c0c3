r"""The paper's embedding program (12)-(19): one flow per hop of a ring of each size.

Sets: jobs i that may run; sizes :math:`\kappa = 1..q_i`; ring nodes :math:`a = 0..\kappa - 1` and
hops :math:`(a, a + 1 \bmod \kappa)`, none for :math:`\kappa = 1` and both directions for
:math:`\kappa = 2` (reconstructed); servers u, nodes v and directed links e of the network.
Variables, all binary: :math:`\chi_{i\kappa}` size chosen, :math:`\rho_i` embedded,
:math:`\varrho^u_{i\kappa a}` node a on server u, :math:`\theta^e_{i\kappa a}` hop from a uses e.

.. math::
    \max\ & \textstyle\sum_i \sum_\kappa \pi_{i\kappa} \chi_{i\kappa} & (12) \\
    & \textstyle\sum_\kappa \chi_{i\kappa} = \rho_i & (13) \\
    & \textstyle\sum_u \varrho^u_{i\kappa a} = \chi_{i\kappa} \quad \forall a & (14) \\
    & \textstyle\sum_{\delta^+(v)} \theta_{i\kappa a} - \sum_{\delta^-(v)} \theta_{i\kappa a}
        = \varrho^v_{i\kappa a} - \varrho^v_{i, \kappa, a + 1} \quad \forall v, a & (15) \\
    & \textstyle\sum_i \sum_\kappa \sum_a l_i^r \varrho^u_{i\kappa a} \le C_u^r & (16), (18) \\
    & \textstyle\sum_i \sum_\kappa \sum_a b_i \theta^e_{i\kappa a} \le e^e & (17), (19)

At switches the right side of (15) is 0. Servers that hold no worker of a job and links narrower
than :math:`b_i` are left out. The objective is that of `joint.py`, which is (12) if there is one
slot. A ring is decoded from the sums over hops (proposition P1, reconstructed).
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ..instance import GadgetInstance
from .joint import (
    SlotModel,
    SlotScope,
    add_bandwidth,
    add_capacity,
    decode,
    joint_model,
)


def num_variables(scope: SlotScope) -> int:
    """Return the number of variables of a slot."""
    count = 0
    for i, q in scope.largest.items():
        A = q * (q + 1) // 2
        count += 1 + q + A * len(scope.servers(i)) + (A - 1) * len(scope.links(i))
    return count


def add_slot(b: Any, scope: SlotScope) -> None:
    """Add the rings of a slot, (13)-(19)."""
    terms, q = scope.terms, scope.largest
    servers = {i: scope.servers(i) for i in q}
    links = {i: scope.links(i) for i in q}
    ends = [tuple(pair) for pair in terms.links.tolist()]
    node_server = {v: s for s, v in enumerate(terms.servers)}
    sizes = [(i, kappa) for i in q for kappa in range(1, q[i] + 1)]
    nodes = [(i, kappa, a) for i, kappa in sizes for a in range(kappa)]
    hops = [(i, kappa, a) for i, kappa, a in nodes if kappa >= 2]

    b.I = pyo.Set(initialize=list(q))
    b.IK = pyo.Set(dimen=2, initialize=sizes)
    b.A = pyo.Set(dimen=3, initialize=nodes)
    b.AV = pyo.Set(dimen=4, initialize=[(*hop, v) for hop in hops for v in range(terms.num_nodes)])
    b.AU = pyo.Set(dimen=4, initialize=[(*node, u) for node in nodes for u in servers[node[0]]])
    b.AE = pyo.Set(dimen=4, initialize=[(*hop, e) for hop in hops for e in links[hop[0]]])
    b.chi = pyo.Var(b.IK, domain=pyo.Binary, doc="the ring has kappa workers")
    b.rho = pyo.Var(b.I, domain=pyo.Binary, doc="the job has a ring")
    b.varrho = pyo.Var(b.AU, domain=pyo.Binary, doc="ring node a sits on server u")
    b.theta = pyo.Var(b.AE, domain=pyo.Binary, doc="the hop from a uses link e")

    @b.Constraint(b.I, doc="(13): one size, if embedded")
    def one_size(b: Any, i: int) -> Any:
        return sum(b.chi[i, kappa] for kappa in range(1, q[i] + 1)) == b.rho[i]

    @b.Constraint(b.A, doc="(14): every ring node sits on one server")
    def placed(b: Any, i: int, kappa: int, a: int) -> Any:
        return sum(b.varrho[i, kappa, a, u] for u in servers[i]) == b.chi[i, kappa]

    leaving: dict[tuple[int, int], list[int]] = {}
    entering: dict[tuple[int, int], list[int]] = {}
    for i in q:
        for e in links[i]:
            leaving.setdefault((i, ends[e][0]), []).append(e)
            entering.setdefault((i, ends[e][1]), []).append(e)

    @b.Constraint(b.AV, doc="(15): a unit of flow from the host of a to the host of the next")
    def flow(b: Any, i: int, kappa: int, a: int, v: int) -> Any:
        net = sum(b.theta[i, kappa, a, e] for e in leaving.get((i, v), ()))
        net -= sum(b.theta[i, kappa, a, e] for e in entering.get((i, v), ()))
        u, after = node_server.get(v), (a + 1) % kappa
        if u is not None and (i, kappa, a, u) in b.AU:
            net += b.varrho[i, kappa, after, u] - b.varrho[i, kappa, a, u]
        return pyo.Constraint.Skip if isinstance(net, int) else net == 0

    @b.Expression(b.I, doc="kappa_i")
    def size(b: Any, i: int) -> Any:
        return sum(kappa * b.chi[i, kappa] for kappa in range(1, q[i] + 1))

    @b.Expression([(i, u) for i in q for u in servers[i]], doc="workers on a server")
    def workers(b: Any, i: int, u: int) -> Any:
        return sum(b.varrho[i, kappa, a, u] for j, kappa, a in nodes if j == i)

    @b.Expression([(i, e) for i in q for e in links[i] if q[i] >= 2], doc="hops over a link")
    def uses(b: Any, i: int, e: int) -> Any:
        return sum(b.theta[i, kappa, a, e] for j, kappa, a in hops if j == i)

    add_capacity(b, scope)
    add_bandwidth(b, scope)


EMBEDDING = SlotModel("embedding", add_slot, num_variables)


@formulation(model_class="ILP", equations="(12)-(19)", decode=decode, objective_error=ROUNDING)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """One flow per hop of a ring of each size.

    Raises
    ------
    ModelRefused
        If the model is too large.
    """
    return joint_model(instance.terms, EMBEDDING)
