r"""Order and retention of several GPUs' shared caches together (reconstructed).

Sets: requests t, positions k of an order, of GPU :math:`g = k \bmod D` in step
:math:`p = \lfloor k / D \rfloor`; nodes v. Variables: :math:`a_{tk} = 1` if request t has position
k, so that :math:`r_{vgp} = \sum_{t \ni v} a_{t,pD+g}` says that GPU g needs v in step p;
:math:`\kappa_{vgp}`, it holds v between p and p + 1; :math:`q_{vgp}`, it gets v in step p without
having held it; :math:`\ell_{vgp}`, it loads v, as the first GPU that needs what none holds. With
:math:`\kappa_{vg,-1} = 0`:

.. math::
    \min\ & \sum_{v,g,p} w_v (c_p\, q_{vgp} + (c - c_p)\, \ell_{vgp})  \tag{H1} \\
    & \sum_k a_{tk} = 1 \ \forall t, \qquad \sum_t a_{tk} = 1 \ \forall k  \tag{H2} \\
    & q_{vgp} \ge r_{vgp} - \kappa_{vg,p-1}, \qquad
      q_{vgp} \ge \kappa_{vgp} - \kappa_{vg,p-1}  \tag{H3} \\
    & \ell_{vgp} \ge r_{vgp} - \sum_{g' < g} r_{vg'p} - \sum_{g'} \kappa_{vg',p-1}  \tag{H4} \\
    & \kappa_{vgp} \le \sum_{g'} (r_{vg'p} + \kappa_{vg',p-1}), \qquad
      \sum_g \kappa_{vgp} \le 1  \tag{H5} \\
    & \sum_v z_v \kappa_{vgp} \le K \ \forall g, p  \tag{H6} \\
    & \sum_{g,p} \ell_{vgp} \ge 1 \ \forall v  \tag{H7} \\
    & a, \kappa \in \{0, 1\}, \quad q, \ell \in [0, 1]  \tag{H8}

Where the order is given, a is fixed. As :math:`c_p \le c`, q and l are as small as they may be.
(H7) is implied and makes the relaxation stronger. Where steps wait for the slowest GPU, it is

.. math::
    \min \sum_p \theta_p, \qquad
    \theta_p \ge \sum_v w_v (c_p\, q_{vgp} + (c - c_p)\, \ell_{vgp}) \ \forall g, p  \tag{H9}
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..gpus import steps_of
from ..instance import CacheInstance, CacheSolution
from ..subproblems.gpu_plans import solution_of_held
from .retention import check_size


@formulation(model_class="MILP", equations="(H1)-(H9)")
def build(instance: CacheInstance) -> pyo.ConcreteModel:
    """A binary variable for every request and position, and for every node that a GPU may hold.

    Raises
    ------
    ModelRefused
        If there is one GPU, or caches are not shared, or the model would be too large.
    """
    if instance.gpus is None or instance.gpus.caches != "shared":
        raise ModelRefused("gpus: no shared caches, this model is of them")
    D, count, c = instance.gpus.count, len(instance.requests), instance.remote_cost
    peer_cost, nodes = instance.gpus.peer_cost, sorted(instance.frequency)
    last = len(steps_of(instance, range(count))) - 1
    check_size(instance, count * count + 3 * len(nodes) * D * (last + 1))
    needing = {v: [t for t in range(count) if v in instance.requests[t]] for v in nodes}

    m = pyo.ConcreteModel("joint_shared")
    m.T = pyo.RangeSet(0, count - 1)
    m.K = pyo.RangeSet(0, count - 1)
    m.P = pyo.RangeSet(0, last)
    m.inner = pyo.RangeSet(0, last - 1)
    m.G = pyo.RangeSet(0, D - 1)
    m.V = pyo.Set(initialize=nodes)
    m.a = pyo.Var(m.T, m.K, domain=pyo.Binary, doc="(H8): request t has position k")
    m.kappa = pyo.Var(m.V, m.G, m.inner, domain=pyo.Binary, doc="(H8): GPU g holds v after step p")
    m.q = pyo.Var(m.V, m.G, m.P, domain=pyo.UnitInterval, doc="(H8): GPU g gets v in step p")
    m.l = pyo.Var(m.V, m.G, m.P, domain=pyo.UnitInterval, doc="(H8): GPU g loads v in step p")

    def needed(v: int, g: int, p: int) -> Any:
        k = p * D + g
        return sum(m.a[t, k] for t in needing[v]) if k < count else 0

    def held(v: int, g: int, p: int) -> Any:
        return m.kappa[v, g, p] if 0 <= p < last else 0

    @m.Constraint(m.T, doc="(H2): every request has a position")
    def one_position(m: Any, t: int) -> Any:
        return sum(m.a[t, k] for k in m.K) == 1

    @m.Constraint(m.K, doc="(H2): every position has a request")
    def one_request(m: Any, k: int) -> Any:
        return sum(m.a[t, k] for t in m.T) == 1

    @m.Constraint(m.V, m.G, m.P, doc="(H3): what is needed was held or is got")
    def got_as_needed(m: Any, v: int, g: int, p: int) -> Any:
        return m.q[v, g, p] >= needed(v, g, p) - held(v, g, p - 1)

    @m.Constraint(m.V, m.G, m.inner, doc="(H3): what is held was held or is got")
    def got_to_hold(m: Any, v: int, g: int, p: int) -> Any:
        return m.q[v, g, p] >= m.kappa[v, g, p] - held(v, g, p - 1)

    @m.Constraint(m.V, m.G, m.P, doc="(H4): the first that needs what none holds loads it")
    def first_loads(m: Any, v: int, g: int, p: int) -> Any:
        before = sum(needed(v, other, p) for other in range(g))
        there = sum(held(v, other, p - 1) for other in m.G)
        return m.l[v, g, p] >= needed(v, g, p) - before - there

    @m.Constraint(m.V, m.G, m.inner, doc="(H5): what is held was there")
    def was_there(m: Any, v: int, g: int, p: int) -> Any:
        there = sum(needed(v, other, p) + held(v, other, p - 1) for other in m.G)
        return m.kappa[v, g, p] <= there

    @m.Constraint(m.V, m.inner, doc="(H5): one GPU holds a node")
    def one_copy(m: Any, v: int, p: int) -> Any:
        return sum(m.kappa[v, g, p] for g in m.G) <= 1

    @m.Constraint(m.G, m.inner, doc="(H6): what stays fits")
    def capacity(m: Any, g: int, p: int) -> Any:
        return sum(instance.size(v) * m.kappa[v, g, p] for v in m.V) <= instance.capacity

    @m.Constraint(m.V, doc="(H7): every node is loaded once")
    def loaded(m: Any, v: int) -> Any:
        return sum(m.l[v, g, p] for g in m.G for p in m.P) >= 1

    if instance.order == "given":
        for t in m.T:
            for k in m.K:
                m.a[t, k].fix(int(t == k))

    def paid(g: int, p: int) -> Any:
        return sum(
            instance.weight(v) * (peer_cost * m.q[v, g, p] + (c - peer_cost) * m.l[v, g, p])
            for v in m.V
        )

    if instance.gpus.objective == "total":
        cost = sum(paid(g, p) for g in m.G for p in m.P)
        m.objective = pyo.Objective(expr=cost, doc="(H1): the cost of loading")
        return m
    m.theta = pyo.Var(m.P, domain=pyo.NonNegativeReals, doc="(H9): what the slowest GPU pays")

    @m.Constraint(m.G, m.P, doc="(H9): every GPU of a step is waited for")
    def slowest(m: Any, g: int, p: int) -> Any:
        return m.theta[p] >= paid(g, p)

    m.objective = pyo.Objective(expr=sum(m.theta[p] for p in m.P), doc="(H9): the slowest GPUs")
    return m


def decode(m: pyo.ConcreteModel, instance: CacheInstance) -> CacheSolution:
    """Return the order, and what each GPU holds after each step."""
    order = [t for k in m.K for t in m.T if pyo.value(m.a[t, k]) > 0.5]
    held = [[{v for v in m.V if pyo.value(m.kappa[v, g, p]) > 0.5} for g in m.G] for p in m.inner]
    return solution_of_held(instance, order, held)
