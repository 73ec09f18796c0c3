r"""ILP of rings on a two-tier cluster, where bandwidth depends on the servers only.

A ring over several servers loads their access links, and the uplinks of their racks if there are
several, with :math:`b_i` in each direction; no ring loads less (proposition P2). So a job is in one
of three modes (reconstructed): on one server s (:math:`m^1_{is}`), in one rack k (:math:`m^2_{ik}`)
or over racks (:math:`m^3_i`), with workers :math:`y^1, y^2, y^3`, servers used :math:`x^2, x^3` and
racks used :math:`w`:

.. math::
    & \textstyle\sum_s (y^1 + y^2 + y^3)_{is} \le q_i, \qquad
      \sum_s m^1_{is} + \sum_k m^2_{ik} + m^3_i \le 1 & (D5) \\
    & y^1_{is} \le \min(q_i, C_{is}) m^1_{is}, \quad
      y^2_{is} \le \min(q_i - 1, C_{is}) x^2_{is}, \quad x^2_{is} \le m^2_{i, rack(s)}, \\
    & y^3_{is} \le \min(q_i - 1, C_{is}) x^3_{is}, \quad x^3_{is} \le w_{i, rack(s)}, \quad
      w_{ik} \le m^3_i & (D6) \\
    & \textstyle\sum_i l_i^r (y^1 + y^2 + y^3)_{is} \le C_s^r, \quad
      \sum_i b_i (x^2 + x^3)_{is} \le B_s, \quad \sum_i b_i w_{ik} \le U_k & (D7)

Variables of links narrower than :math:`b_i` are left out. The ring sizes of (D5) are the levels of
`joint.py`. A job may reserve more than its ring needs, which never helps.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ...formulations.joint import (
    SlotModel,
    SlotScope,
    add_capacity,
    decode,
    joint_model,
)
from ...instance import GadgetInstance


def num_variables(scope: SlotScope) -> int:
    """Return the approximate number of variables of a slot."""
    tree = scope.terms.tree
    racks = 0 if tree is None else len(tree.uplink)
    return sum(6 * len(scope.servers(i)) + 2 * racks + 1 for i in scope.largest)


def add_slot(b: Any, scope: SlotScope) -> None:
    """Add the rings of a slot, (D5)-(D7).

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """
    terms, q = scope.terms, scope.largest
    if terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    rack, B, U = (part.tolist() for part in (terms.tree.rack, terms.tree.access, terms.tree.uplink))
    bandwidth = {i: terms.jobs[i].bandwidth for i in q}
    servers = {i: scope.servers(i) for i in q}
    spread = [(i, s) for i in q if q[i] >= 2 for s in servers[i] if bandwidth[i] <= B[s]]
    over = [(i, s) for i, s in spread if bandwidth[i] <= U[rack[s]]]

    b.I = pyo.Set(initialize=list(q))
    b.IS = pyo.Set(dimen=2, initialize=[(i, s) for i in q for s in servers[i]])
    b.IS2 = pyo.Set(dimen=2, initialize=spread, doc="servers with a wide access link")
    b.IS3 = pyo.Set(dimen=2, initialize=over, doc="these in racks with a wide uplink")
    b.IK2 = pyo.Set(dimen=2, initialize=sorted({(i, rack[s]) for i, s in spread}))
    b.IK3 = pyo.Set(dimen=2, initialize=sorted({(i, rack[s]) for i, s in over}))
    b.m1 = pyo.Var(b.IS, domain=pyo.Binary, doc="the ring is on server s")
    b.m2 = pyo.Var(b.IK2, domain=pyo.Binary, doc="the ring is in rack k")
    b.m3 = pyo.Var(b.I, domain=pyo.Binary, doc="the ring goes over racks")
    b.x2 = pyo.Var(b.IS2, domain=pyo.Binary, doc="in one rack, it uses server s")
    b.x3 = pyo.Var(b.IS3, domain=pyo.Binary, doc="over racks, it uses server s")
    b.w = pyo.Var(b.IK3, domain=pyo.Binary, doc="over racks, it uses rack k")

    def most(b: Any, i: int, s: int) -> tuple[int, int]:
        return 0, scope.most(i, s)

    def others(b: Any, i: int, s: int) -> tuple[int, int]:
        # At least one worker sits on another server.
        return 0, min(q[i] - 1, scope.most(i, s))

    b.y1 = pyo.Var(b.IS, domain=pyo.NonNegativeIntegers, bounds=most, doc="workers, one server")
    b.y2 = pyo.Var(b.IS2, domain=pyo.NonNegativeIntegers, bounds=others, doc="workers, one rack")
    b.y3 = pyo.Var(b.IS3, domain=pyo.NonNegativeIntegers, bounds=others, doc="workers, over racks")

    @b.Expression(b.IS, doc="y_is")
    def workers(b: Any, i: int, s: int) -> Any:
        return sum(y[i, s] for y in (b.y1, b.y2, b.y3) if (i, s) in y)

    @b.Expression(b.I, doc="kappa_i")
    def size(b: Any, i: int) -> Any:
        return sum(b.workers[i, s] for s in servers[i])

    @b.Constraint(b.I, doc="(D5), (2): the largest ring")
    def largest(b: Any, i: int) -> Any:
        return b.size[i] <= q[i]

    @b.Constraint(b.I, doc="(D5): one mode")
    def one_mode(b: Any, i: int) -> Any:
        modes = [b.m1[i, s] for s in servers[i]]
        modes += [b.m2[i, k] for k in range(len(U)) if (i, k) in b.IK2]
        return sum(modes) + b.m3[i] <= 1

    @b.Constraint(b.IS, doc="(D6): workers on one server")
    def on_one_server(b: Any, i: int, s: int) -> Any:
        return b.y1[i, s] <= b.y1[i, s].ub * b.m1[i, s]

    @b.Constraint(b.IS2, doc="(D6): workers in one rack are on servers used")
    def on_servers_of_rack(b: Any, i: int, s: int) -> Any:
        return b.y2[i, s] <= b.y2[i, s].ub * b.x2[i, s]

    @b.Constraint(b.IS2, doc="(D6): which are in that rack")
    def in_rack(b: Any, i: int, s: int) -> Any:
        return b.x2[i, s] <= b.m2[i, rack[s]]

    @b.Constraint(b.IS3, doc="(D6): workers over racks are on servers used")
    def on_servers_of_racks(b: Any, i: int, s: int) -> Any:
        return b.y3[i, s] <= b.y3[i, s].ub * b.x3[i, s]

    @b.Constraint(b.IS3, doc="(D6): which are in racks used")
    def in_racks(b: Any, i: int, s: int) -> Any:
        return b.x3[i, s] <= b.w[i, rack[s]]

    @b.Constraint(b.IK3, doc="(D6): racks are used in that mode only")
    def over_racks(b: Any, i: int, k: int) -> Any:
        return b.w[i, k] <= b.m3[i]

    add_capacity(b, scope)  # (D7)
    b.S2 = pyo.Set(initialize=sorted({s for i, s in spread if bandwidth[i]}))
    b.K3 = pyo.Set(initialize=sorted({rack[s] for i, s in over if bandwidth[i]}))

    @b.Constraint(b.S2, doc="(D7): access links")
    def access(b: Any, s: int) -> Any:
        used = [bandwidth[i] * b.x2[i, s] for i in q if (i, s) in b.IS2 and bandwidth[i]]
        used += [bandwidth[i] * b.x3[i, s] for i in q if (i, s) in b.IS3 and bandwidth[i]]
        return sum(used) <= B[s]

    @b.Constraint(b.K3, doc="(D7): uplinks")
    def uplinks(b: Any, k: int) -> Any:
        return sum(bandwidth[i] * b.w[i, k] for i in q if (i, k) in b.IK3 and bandwidth[i]) <= U[k]


TREE = SlotModel("tree", add_slot, num_variables)


@formulation(
    model_class="ILP",
    equations="(D5)-(D7) (reconstructed)",
    decode=decode,
    objective_error=ROUNDING,
)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """Rings by mode on a two-tier cluster: one server, one rack, several.

    Build the two-tier ILP over all slots (reconstructed).

    Raises
    ------
    ModelRefused
        If the network is a graph, or the model is too large.
    """
    if instance.terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    return joint_model(instance.terms, TREE)
