r"""Order and retention together, (6).

Sets: requests t, positions p of mini-batches, nodes v of at least two requests. Variables:
:math:`a_{tp} = 1` if request t is in batch p; :math:`n_{vp}`, batch p needs node v;
:math:`\kappa_{vp}`, it stays between p and p + 1; :math:`h_{vp}`, batch p finds it. Nodes of one
request are loaded once.

.. math::
    \min\ & \sum_{v,p} c\, w_v (n_{vp} - h_{vp})                                       \tag{J1} \\
    & \sum_p a_{tp} = 1 \ \forall t, \qquad \sum_t a_{tp} = b_p \ \forall p            \tag{J2} \\
    & a_{tp} \le n_{vp} \ \forall t \ni v, \qquad n_{vp} \le \sum_{t \ni v} a_{tp}     \tag{J3} \\
    & \kappa_{vp} \le n_{vp} + \kappa_{v,p-1}                                          \tag{J4} \\
    & h_{v,p+1} \le \kappa_{vp}, \quad h_{v,p+1} \le n_{v,p+1}                         \tag{J5} \\
    & \sum_v z_v \kappa_{vp} \le K                                                     \tag{J6} \\
    & \sum_p h_{vp} \le \sum_p n_{vp} - 1                                              \tag{J7} \\
    & \text{position of request } 0 \le \text{position of request } 1                  \tag{J8} \\
    & a \in \{0, 1\}, \quad n, \kappa, h \in [0, 1]                                    \tag{J9}

For fixed a the rest is an interval matrix, so only a is binary; with sizes :math:`\kappa` is, too.
With batches of one request (J3) is :math:`n_{vp} = \sum_{t \ni v} a_{tp}`. (J8) holds where an
order and its reverse have the same batches; (J7) is implied and makes the relaxation stronger.

With a host :math:`\kappa, h` are of the device and binary, :math:`\kappa', h'` of the host likewise
(reconstructed). What is on the host was needed or on either cache, a node is on one of them, and
what a batch finds on the host costs c' instead of c:

.. math::
    \min\ & \sum_{v,p} w_v \big(c (n_{vp} - h_{vp}) - (c - c') h'_{vp}\big)             \tag{J1'} \\
    & \kappa'_{vp} \le n_{vp} + \kappa_{v,p-1} + \kappa'_{v,p-1}, \quad
      \kappa_{vp} + \kappa'_{vp} \le 1                                                 \tag{J4'} \\
    & h'_{v,p+1} \le \kappa'_{vp}, \quad h_{v,p+1} + h'_{v,p+1} \le n_{v,p+1}          \tag{J5'} \\
    & \sum_v z_v \kappa'_{vp} \le K'                                                   \tag{J6'} \\
    & \sum_p (h_{vp} + h'_{vp}) \le \sum_p n_{vp} - 1                                  \tag{J7'}

(J8) is left out: that reversed orders cost as much with a host was never seen to fail, nor proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import CacheInstance, CacheSolution
from ..subproblems.intervals import intervals_of, solution_of, solution_of_contents
from ..subproblems.sweep import keep_earliest_ends
from .retention import check_one_free_cache, check_size, held_at_most


def check_free(instance: CacheInstance) -> None:
    """Refuse an instance whose order is given, or a model that would be too large.

    Raises
    ------
    ModelRefused
    """
    if instance.order == "given":
        raise ModelRefused("order: the instance fixes it; take a formulation of the retention")
    check_one_free_cache(instance)
    check_size(instance, num_entries(instance))


def num_entries(instance: CacheInstance) -> int:
    """Return about how many entries the model has."""
    repeated = sum(times for times in instance.frequency.values() if times > 1)
    caches = 2 if instance.host_capacity else 1
    return instance.num_batches * (len(instance.requests) + caches * repeated)


def batch_sizes(instance: CacheInstance) -> list[int]:
    """Return the number of requests of each batch; the last one may be smaller."""
    n, b = len(instance.requests), instance.batch_size
    return [min(b, n - k) for k in range(0, n, b)]


def repeated_nodes(instance: CacheInstance) -> dict[int, list[int]]:
    """Return the requests of each node of at least two."""
    of_node: dict[int, list[int]] = {}
    for t, nodes in enumerate(instance.requests):
        for v in nodes:
            of_node.setdefault(v, []).append(t)
    return {v: requests for v, requests in of_node.items() if len(requests) > 1}


def is_reversible(instance: CacheInstance) -> bool:
    """Return True if an order and its reverse have the same batches, and one cache."""
    n = len(instance.requests)
    return n > 1 and n % instance.batch_size == 0 and instance.host_capacity == 0


@formulation(model_class="MILP", equations="(6), (J1)-(J9)")
def build(instance: CacheInstance) -> pyo.ConcreteModel:
    """A binary variable for every request and position; the rest is continuous."""
    check_free(instance)
    requests_of = repeated_nodes(instance)
    sizes = batch_sizes(instance)
    single = instance.batch_size == 1
    once = sum(instance.miss_cost(v) for v in instance.frequency if v not in requests_of)
    last = len(sizes) - 1
    space, _ = held_at_most(instance)
    hosted = instance.host_capacity > 0

    m = pyo.ConcreteModel("joint")
    m.T = pyo.RangeSet(0, len(instance.requests) - 1)
    m.P = pyo.RangeSet(0, last)
    m.V = pyo.Set(initialize=sorted(requests_of))
    m.inner = pyo.RangeSet(0, last - 1)
    m.a = pyo.Var(m.T, m.P, domain=pyo.Binary, doc="(J9): request t is in batch p")
    kept = pyo.UnitInterval if instance.unit_sizes and not hosted else pyo.Binary
    m.kappa = pyo.Var(m.V, m.inner, domain=kept, doc="(J9): node v stays between p and p + 1")
    m.h = pyo.Var(m.V, m.inner, domain=pyo.UnitInterval, doc="(J9): batch p + 1 finds node v")

    @m.Constraint(m.T, doc="(J2): every request is in one batch")
    def one_batch(m: Any, t: int) -> Any:
        return sum(m.a[t, p] for p in m.P) == 1

    @m.Constraint(m.P, doc="(J2): every batch has its number of requests")
    def full_batch(m: Any, p: int) -> Any:
        return sum(m.a[t, p] for t in m.T) == sizes[p]

    if single:

        @m.Expression(m.V, m.P, doc="(J3): batch p needs node v")
        def n(m: Any, v: int, p: int) -> Any:
            return sum(m.a[t, p] for t in requests_of[v])

    else:
        m.n = pyo.Var(m.V, m.P, domain=pyo.UnitInterval, doc="(J9): batch p needs node v")
        pairs = [(t, v) for v in sorted(requests_of) for t in requests_of[v]]
        m.pairs = pyo.Set(initialize=pairs, dimen=2)

        @m.Constraint(m.pairs, m.P, doc="(J3): a batch needs what its requests need")
        def needed(m: Any, t: int, v: int, p: int) -> Any:
            return m.a[t, p] <= m.n[v, p]

        @m.Constraint(m.V, m.P, doc="(J3): and nothing else")
        def needed_by_some(m: Any, v: int, p: int) -> Any:
            return m.n[v, p] <= sum(m.a[t, p] for t in requests_of[v])

    @m.Constraint(m.V, m.inner, doc="(J4): what stays was needed or has stayed")
    def was_there(m: Any, v: int, p: int) -> Any:
        before = m.kappa[v, p - 1] if p else 0
        return m.kappa[v, p] <= m.n[v, p] + before

    @m.Constraint(m.V, m.inner, doc="(J5): a hit has stayed")
    def hit_stayed(m: Any, v: int, p: int) -> Any:
        return m.h[v, p] <= m.kappa[v, p]

    @m.Constraint(m.V, m.inner, doc="(J5): a hit is needed")
    def hit_needed(m: Any, v: int, p: int) -> Any:
        return m.h[v, p] <= m.n[v, p + 1]

    if requests_of:

        @m.Constraint(m.inner, doc="(J6): what stays fits")
        def capacity(m: Any, p: int) -> Any:
            return sum(instance.size(v) * m.kappa[v, p] for v in m.V) <= space

    if hosted and last:
        add_host(m, instance)

    @m.Constraint(m.V, doc="(J7), (J7'): the first use of a node misses")
    def first_misses(m: Any, v: int) -> Any:
        if not last:
            return pyo.Constraint.Skip
        hits = sum(m.h[v, p] + (m.h_host[v, p] if hosted else 0) for p in m.inner)
        uses = len(requests_of[v]) if single else sum(m.n[v, p] for p in m.P)
        return hits <= uses - 1

    if is_reversible(instance) and last:

        @m.Constraint(doc="(J8): of an order and its reverse, one")
        def direction(m: Any) -> Any:
            return sum(p * m.a[0, p] for p in m.P) <= sum(p * m.a[1, p] for p in m.P)

    if single:
        uses: Any = sum(instance.miss_cost(v) * len(requests_of[v]) for v in requests_of)
    else:
        uses = sum(instance.miss_cost(v) * m.n[v, p] for v in m.V for p in m.P)
    hits = sum(instance.miss_cost(v) * m.h[v, p] for v in m.V for p in m.inner)
    if hosted and last:
        gain = instance.remote_cost - instance.host_cost
        hits += sum(gain * instance.weight(v) * m.h_host[v, p] for v in m.V for p in m.inner)
    m.objective = pyo.Objective(expr=once + uses - hits, doc="(J1), (J1'): the cost of loading")
    return m


def add_host(m: pyo.ConcreteModel, instance: CacheInstance) -> None:
    """Add what the host keeps and what batches find there, (J4')-(J6')."""
    _, space = held_at_most(instance)
    m.kappa_host = pyo.Var(m.V, m.inner, domain=pyo.Binary, doc="node v is on the host after p")
    m.h_host = pyo.Var(m.V, m.inner, domain=pyo.Binary, doc="batch p + 1 finds v on the host")

    @m.Constraint(m.V, m.inner, doc="(J4'): what is on the host was needed or on a cache")
    def was_somewhere(m: Any, v: int, p: int) -> Any:
        before = m.kappa[v, p - 1] + m.kappa_host[v, p - 1] if p else 0
        return m.kappa_host[v, p] <= m.n[v, p] + before

    @m.Constraint(m.V, m.inner, doc="(J4'): a node is on one cache")
    def on_one(m: Any, v: int, p: int) -> Any:
        return m.kappa[v, p] + m.kappa_host[v, p] <= 1

    @m.Constraint(m.V, m.inner, doc="(J5'): a hit of the host has stayed there")
    def host_hit_stayed(m: Any, v: int, p: int) -> Any:
        return m.h_host[v, p] <= m.kappa_host[v, p]

    @m.Constraint(m.V, m.inner, doc="(J5'): a node is found once, where it is needed")
    def found_once(m: Any, v: int, p: int) -> Any:
        return m.h[v, p] + m.h_host[v, p] <= m.n[v, p + 1]

    if len(m.V):

        @m.Constraint(m.inner, doc="(J6'): what stays fits on the host")
        def host_capacity(m: Any, p: int) -> Any:
            return sum(instance.size(v) * m.kappa_host[v, p] for v in m.V) <= space


def decode(m: pyo.ConcreteModel, instance: CacheInstance) -> CacheSolution:
    """Return the order, and what the model keeps."""
    order = [t for p in m.P for t in m.T if pyo.value(m.a[t, p]) > 0.5]
    if instance.host_capacity:
        contents = [(_held(m, m.kappa, p), _held(m, m.kappa_host, p)) for p in m.inner]
        return solution_of_contents(instance, order, contents)
    hit = {(v, p): pyo.value(m.h[v, p]) for v in m.V for p in m.inner}
    return kept_solution(instance, order, hit)


def _held(m: pyo.ConcreteModel, kept: Any, p: int) -> set[int]:
    return {v for v in m.V if pyo.value(kept[v, p]) > 0.5}


def kept_solution(
    instance: CacheInstance, order: list[int], hit: dict[tuple[int, int], float]
) -> CacheSolution:
    """Return the solution of an order that keeps what a model hits; in unit caches the best."""
    intervals = intervals_of(instance.batches(tuple(order)))
    if instance.unit_sizes and instance.unit_weights:
        kept = keep_earliest_ends(intervals, instance.capacity)
    else:
        ends = zip(intervals.node.tolist(), intervals.end.tolist(), strict=True)
        kept = np.array([hit.get((v, e - 1), 0) > 0.5 for v, e in ends], dtype=bool)
    return solution_of(instance, order, kept, intervals)
