r"""Order and retention of several GPUs' caches together (reconstructed).

Sets: requests t, positions k of an order, of GPU :math:`k \bmod D` in step
:math:`p = \lfloor k / D \rfloor`; nodes v, and the caches g that may be asked for v: all with
private caches, else :math:`g = v \bmod D`. Let :math:`P_{pg}` be the positions of step p that ask
cache g: that of GPU g with private caches, else all. Variables: :math:`a_{tk} = 1` if request t has
position k; :math:`n_{vgp}`, cache g is asked for v in step p; :math:`\kappa_{vgp}`, it holds v
between p and p + 1; :math:`h_{vgp}`, it is asked for v in step p and holds it.

.. math::
    \min\ & \sum_{v,g,p} c\, w_v (n_{vgp} - h_{vgp})
            + c_p \sum_{t,k} a_{tk} \sum_{v \in t:\ v \bmod D \ne k \bmod D} w_v         \tag{G1} \\
    & \sum_k a_{tk} = 1 \ \forall t, \qquad \sum_t a_{tk} = 1 \ \forall k               \tag{G2} \\
    & \sum_{t \ni v} a_{tk} \le n_{vgp} \ \forall k \in P_{pg}, \qquad
      n_{vgp} \le \sum_{k \in P_{pg}} \sum_{t \ni v} a_{tk}                             \tag{G3} \\
    & \kappa_{vgp} \le n_{vgp} + \kappa_{vg,p-1}                                        \tag{G4} \\
    & h_{vg,p+1} \le \kappa_{vgp}, \quad h_{vg,p+1} \le n_{vg,p+1}                      \tag{G5} \\
    & \sum_v z_v \kappa_{vgp} \le K \ \forall g, p                                      \tag{G6} \\
    & \sum_{g,p} (n_{vgp} - h_{vgp}) \ge 1 \ \forall v                                  \tag{G7} \\
    & a, \kappa \in \{0, 1\}, \quad n, h \in [0, 1]                                     \tag{G8}

The second sum of (G1) is for partitioned caches only. Where the order is given, a is fixed. (G7) is
implied and makes the relaxation stronger. Where steps wait for the slowest GPU, the objective is
the sum of what it pays in each, with g's part of (G1) in step p on the right:

.. math::
    \min \sum_p \theta_p, \qquad \theta_p \ge \sum_v c\, w_v (n_{vgp} - h_{vgp})
            + c_p \sum_t a_{t,pD+g} \sum_{v \in t:\ v \bmod D \ne g} w_v \ \forall g, p   \tag{G9}
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


@formulation(model_class="MILP", equations="(G1)-(G9)")
def build(instance: CacheInstance) -> pyo.ConcreteModel:
    """A binary variable for every request and position, and for what each cache holds.

    Raises
    ------
    ModelRefused
        If there is one GPU, or caches are shared, or policies have a cost, or the model would be
        too large.
    """
    if instance.gpus is None:
        raise ModelRefused("gpus: none, this model is of several; take joint")
    if instance.gpus.caches == "shared":
        raise ModelRefused("gpus.caches: shared; take joint_shared")
    if instance.policy_cost is not None:
        raise ModelRefused("policy_cost: what leaves is decided freely here, not by a policy")
    D, count, c = instance.gpus.count, len(instance.requests), instance.remote_cost
    private = instance.gpus.caches == "private"
    last = len(steps_of(instance, range(count))) - 1
    homes = [(v, g) for v in sorted(instance.frequency) for g in range(D) if private or g == v % D]
    check_size(instance, count * count + 3 * len(homes) * (last + 1))
    needing = {v: [t for t in range(count) if v in instance.requests[t]] for v, _ in homes}

    m = pyo.ConcreteModel("joint_gpus")
    m.T = pyo.RangeSet(0, count - 1)
    m.K = pyo.RangeSet(0, count - 1)
    m.P = pyo.RangeSet(0, last)
    m.inner = pyo.RangeSet(0, last - 1)
    m.G = pyo.RangeSet(0, D - 1)
    m.V = pyo.Set(initialize=sorted(needing))
    m.VG = pyo.Set(initialize=homes, dimen=2)
    m.a = pyo.Var(m.T, m.K, domain=pyo.Binary, doc="(G8): request t has position k")
    m.n = pyo.Var(m.VG, m.P, domain=pyo.UnitInterval, doc="(G8): cache g is asked for v in step p")
    m.kappa = pyo.Var(m.VG, m.inner, domain=pyo.Binary, doc="(G8): cache g holds v after step p")
    m.h = pyo.Var(m.VG, m.inner, domain=pyo.UnitInterval, doc="(G8): step p + 1 finds v at g")

    def asking(g: int, p: int) -> list[int]:
        step = range(p * D, min(count, (p + 1) * D))
        return [k for k in step if not private or k % D == g]

    @m.Constraint(m.T, doc="(G2): every request has a position")
    def one_position(m: Any, t: int) -> Any:
        return sum(m.a[t, k] for k in m.K) == 1

    @m.Constraint(m.K, doc="(G2): every position has a request")
    def one_request(m: Any, k: int) -> Any:
        return sum(m.a[t, k] for t in m.T) == 1

    asks = [(v, g, p, k) for v, g in homes for p in range(last + 1) for k in asking(g, p)]

    @m.Constraint(asks, doc="(G3): a cache is asked for what its batches need")
    def needed(m: Any, v: int, g: int, p: int, k: int) -> Any:
        return sum(m.a[t, k] for t in needing[v]) <= m.n[v, g, p]

    @m.Constraint(m.VG, m.P, doc="(G3): and for nothing else")
    def needed_by_some(m: Any, v: int, g: int, p: int) -> Any:
        return m.n[v, g, p] <= sum(m.a[t, k] for k in asking(g, p) for t in needing[v])

    @m.Constraint(m.VG, m.inner, doc="(G4): what stays was asked for or has stayed")
    def was_there(m: Any, v: int, g: int, p: int) -> Any:
        return m.kappa[v, g, p] <= m.n[v, g, p] + (m.kappa[v, g, p - 1] if p else 0)

    @m.Constraint(m.VG, m.inner, doc="(G5): a hit has stayed")
    def hit_stayed(m: Any, v: int, g: int, p: int) -> Any:
        return m.h[v, g, p] <= m.kappa[v, g, p]

    @m.Constraint(m.VG, m.inner, doc="(G5): a hit is asked for")
    def hit_needed(m: Any, v: int, g: int, p: int) -> Any:
        return m.h[v, g, p] <= m.n[v, g, p + 1]

    @m.Constraint(m.G, m.inner, doc="(G6): what stays fits")
    def capacity(m: Any, g: int, p: int) -> Any:
        held = [instance.size(v) * m.kappa[v, g, p] for v, home in homes if home == g]
        return sum(held) <= instance.capacity if held else pyo.Constraint.Skip

    loads = {
        (v, g): sum(m.n[v, g, p] for p in m.P) - sum(m.h[v, g, p] for p in m.inner)
        for v, g in homes
    }

    @m.Constraint(m.V, doc="(G7): every node is loaded once")
    def loaded(m: Any, v: int) -> Any:
        return sum(loads[v, g] for g in m.G if (v, g) in loads) >= 1

    if instance.order == "given":
        for t in m.T:
            for k in m.K:
                m.a[t, k].fix(int(t == k))
    peer_cost = instance.gpus.peer_cost

    def fetched(t: int, d: int) -> int:
        return peer_cost * sum(instance.weight(v) for v in instance.requests[t] if v % D != d)

    if instance.gpus.objective == "total":
        cost = sum(c * instance.weight(v) * loads[v, g] for v, g in homes)
        peers = sum(fetched(t, k % D) * m.a[t, k] for t in m.T for k in m.K) if peer_cost else 0
        m.objective = pyo.Objective(expr=cost + peers, doc="(G1): the cost of loading")
        return m
    m.theta = pyo.Var(m.P, domain=pyo.NonNegativeReals, doc="(G9): what the slowest GPU pays")

    @m.Constraint(m.G, m.P, doc="(G9): every GPU of a step is waited for")
    def slowest(m: Any, g: int, p: int) -> Any:
        paid = sum(
            c * instance.weight(v) * (m.n[v, g, p] - (m.h[v, g, p - 1] if p else 0))
            for v, home in homes
            if home == g
        )
        k = p * D + g
        if peer_cost and k < count:
            paid += sum(fetched(t, g) * m.a[t, k] for t in m.T)
        return m.theta[p] >= paid

    m.objective = pyo.Objective(expr=sum(m.theta[p] for p in m.P), doc="(G9): the slowest GPUs")
    return m


def decode(m: pyo.ConcreteModel, instance: CacheInstance) -> CacheSolution:
    """Return the order, and what each cache holds whenever something is asked of it again."""
    order = [t for k in m.K for t in m.T if pyo.value(m.a[t, k]) > 0.5]
    held = [
        [{v for v, home in m.VG if home == g and pyo.value(m.kappa[v, g, p]) > 0.5} for g in m.G]
        for p in m.inner
    ]
    return solution_of_held(instance, order, held)
