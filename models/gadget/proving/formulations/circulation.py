r"""Circulation MILP: a ring as a connected circulation, on any network.

A ring over a set of servers is a balanced multiset of directed links that connects them
(proposition P1, `subproblems/routing.py`; the model is reconstructed). Variables of each job i that
may run: workers :math:`y_{is}`, servers used :math:`x_{is}`, root
:math:`\varsigma_{is}`, uses of links :math:`f_i^e \in \{0..q_i\}`, and a flow :math:`g_i` that
sends one unit from the root, which supplies :math:`\sigma_{is}`, to every server used.

.. math::
    & \textstyle\sum_s y_{is} \le q_i, \qquad x_{is} \le y_{is} \le \bar C_{is} x_{is} & (D1) \\
    & \textstyle\sum_i l_i^r y_{is} \le C_s^r, \qquad \sum_i b_i f_i^e \le e^e & (D2) \\
    & \textstyle\sum_{\delta^+(v)} f_i - \sum_{\delta^-(v)} f_i = 0 \quad \forall v & (D3) \\
    & \textstyle\sum_s \varsigma_{is} \le 1, \quad \varsigma_{is} \le x_{is}, \quad
      \sigma_{is} \le q_i \varsigma_{is}, \\
    & \textstyle\sum_{\delta^+(v)} g_i - \sum_{\delta^-(v)} g_i = \sigma_{iv} - x_{iv}
      \quad \forall v, \qquad g_i^e \le \max(1, q_i - 1) f_i^e & (D4)

The ring sizes of (D1) are the levels of `joint.py`. The constraint that the root is the first
server used, :math:`x_{is} \le \sum_{s' \le s} \varsigma_{is'}`, only breaks symmetry.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ...formulations.joint import (
    SlotModel,
    SlotScope,
    add_bandwidth,
    add_capacity,
    decode,
    joint_model,
)
from ...instance import GadgetInstance


def num_variables(scope: SlotScope) -> int:
    """Return the number of variables of a slot."""
    return sum(4 * len(scope.servers(i)) + 2 * len(scope.links(i)) for i in scope.largest)


def add_slot(b: Any, scope: SlotScope) -> None:
    """Add the rings of a slot, (D1)-(D4)."""
    terms, q = scope.terms, scope.largest
    servers = {i: scope.servers(i) for i in q}
    # A ring of one worker uses no link.
    links = {i: scope.links(i) if q[i] >= 2 else [] for i in q}
    ends = [tuple(pair) for pair in terms.links.tolist()]
    node_server = {v: s for s, v in enumerate(terms.servers)}
    leaving: dict[tuple[int, int], list[int]] = {}
    entering: dict[tuple[int, int], list[int]] = {}
    for i in q:
        for e in links[i]:
            leaving.setdefault((i, ends[e][0]), []).append(e)
            entering.setdefault((i, ends[e][1]), []).append(e)

    b.I = pyo.Set(initialize=list(q))
    b.IS = pyo.Set(dimen=2, initialize=[(i, s) for i in q for s in servers[i]])
    b.IE = pyo.Set(dimen=2, initialize=[(i, e) for i in q for e in links[i]])
    b.IV = pyo.Set(dimen=2, initialize=[(i, v) for i in q for v in range(terms.num_nodes)])
    b.x = pyo.Var(b.IS, domain=pyo.Binary, doc="the ring uses server s")
    b.workers = pyo.Var(
        b.IS,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda b, i, s: (0, scope.most(i, s)),
        doc="y_is",
    )
    b.root = pyo.Var(b.IS, domain=pyo.Binary, doc="the flow starts at server s")
    b.supply = pyo.Var(b.IS, bounds=lambda b, i, s: (0, q[i]), doc="sigma_is")
    b.uses = pyo.Var(
        b.IE,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda b, i, e: (0, _most_uses(scope, i, e)),
        doc="f_i^e",
    )
    b.g = pyo.Var(b.IE, bounds=lambda b, i, e: (0, q[i] * q[i]), doc="flow from the root")

    @b.Expression(b.I, doc="kappa_i")
    def size(b: Any, i: int) -> Any:
        return sum(b.workers[i, s] for s in servers[i])

    @b.Constraint(b.I, doc="(D1), (2): the largest ring")
    def largest(b: Any, i: int) -> Any:
        return b.size[i] <= q[i]

    @b.Constraint(b.IS, doc="(D1): a server used has a worker")
    def used(b: Any, i: int, s: int) -> Any:
        return b.x[i, s] <= b.workers[i, s]

    @b.Constraint(b.IS, doc="(D1), (5): workers are on servers used")
    def linked(b: Any, i: int, s: int) -> Any:
        return b.workers[i, s] <= scope.most(i, s) * b.x[i, s]

    add_capacity(b, scope)  # (D2)
    add_bandwidth(b, scope)  # (D2)

    def net(variable: Any, i: int, v: int) -> Any:
        out = sum(variable[i, e] for e in leaving.get((i, v), ()))
        return out - sum(variable[i, e] for e in entering.get((i, v), ()))

    @b.Constraint(b.IV, doc="(D3): what enters a node leaves it")
    def balanced(b: Any, i: int, v: int) -> Any:
        left = net(b.uses, i, v)
        return pyo.Constraint.Skip if isinstance(left, int) else left == 0

    @b.Constraint(b.I, doc="(D4): one root, if any")
    def one_root(b: Any, i: int) -> Any:
        return sum(b.root[i, s] for s in servers[i]) <= 1

    @b.Constraint(b.IS, doc="(D4): the root is used")
    def root_used(b: Any, i: int, s: int) -> Any:
        return b.root[i, s] <= b.x[i, s]

    @b.Constraint(b.IS, doc="the root is the first server used")
    def root_first(b: Any, i: int, s: int) -> Any:
        return b.x[i, s] <= sum(b.root[i, before] for before in servers[i] if before <= s)

    @b.Constraint(b.IS, doc="(D4): only the root supplies")
    def supplied(b: Any, i: int, s: int) -> Any:
        return b.supply[i, s] <= q[i] * b.root[i, s]

    @b.Constraint(b.IV, doc="(D4): one unit of flow to every server used")
    def reached(b: Any, i: int, v: int) -> Any:
        out = net(b.g, i, v)
        s = node_server.get(v)
        if s is not None and (i, s) in b.IS:
            out = out - b.supply[i, s] + b.x[i, s]
        return pyo.Constraint.Skip if isinstance(out, int) else out == 0

    @b.Constraint(b.IE, doc="(D4): flow goes over links used")
    def connected(b: Any, i: int, e: int) -> Any:
        return b.g[i, e] <= max(1, q[i] - 1) * b.uses[i, e]


def _most_uses(scope: SlotScope, i: int, e: int) -> int:
    """Return how often a ring can use a link: once per hop, within the bandwidth."""
    b = scope.terms.jobs[i].bandwidth
    q = scope.largest[i]
    return q if b == 0 else min(q, int(scope.terms.link_mbps[e]) // b)


CIRCULATION = SlotModel("circulation", add_slot, num_variables)


@formulation(
    model_class="MILP",
    equations="(D1)-(D4) (reconstructed)",
    decode=decode,
    objective_error=ROUNDING,
)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """A ring as a connected circulation.

    Build the circulation model over all slots (reconstructed).

    Raises
    ------
    ModelRefused
        If the model is too large.
    """
    return joint_model(instance.terms, CIRCULATION)
