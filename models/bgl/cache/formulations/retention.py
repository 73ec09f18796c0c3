r"""Retention at a given order: which features stay between two uses, (5).

Sets: intervals r between consecutive uses of a node, from batch :math:`s_r` to :math:`e_r`, which
cover the boundaries :math:`s_r \le i < e_r`. Parameters: weight :math:`w_r` and size :math:`z_r` of
the node, capacities K of the device and K' of the host, costs c and c' of loading from the graph
store and the host. Variables: :math:`\kappa_r = 1` if the feature stays on the device until its
next use; with a host also :math:`y_r = 1` if it stays anywhere and :math:`x_{ri} = 1` if it is on
the device at boundary i.

.. math::
    \min\ & \sum_{\text{uses}} c\, w
            - \sum_r w_r \big( (c - c') y_r + c' \kappa_r \big)                          \tag{R1} \\
    & \sum_{r: s_r \le i < e_r} z_r x_{ri} \le K                   \quad \forall i       \tag{R2} \\
    & \sum_{r: s_r \le i < e_r} z_r (y_r - x_{ri}) \le K'          \quad \forall i       \tag{R3} \\
    & x_{ri} \le x_{r,i-1}, \quad x_{r,s_r} \le y_r, \quad \kappa_r = x_{r,e_r-1}        \tag{R4} \\
    & \kappa, x, y \in \{0, 1\}                                                          \tag{R5}

Without a host all :math:`x_{ri} = y_r = \kappa_r`, which is (5): with unit sizes an interval
matrix, hence integral. With sizes it is generalised caching and NP-hard.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import CacheInstance, CacheSolution
from ..subproblems.intervals import Intervals, intervals_of

#: Largest objective that doubles hold, and largest number of entries of a model.
#: Tuned: `benchmarks/constants.py`.
_MOST_COST, _MOST_ENTRIES = 2**53, 3 * 10**6


@formulation(model_class="ILP", equations="(5), (R1)-(R5)", backends=("highs", "cpsat"))
def build(instance: CacheInstance) -> pyo.ConcreteModel:
    """Which features stay between their uses, for a given order; sizes, host cache."""
    return retention_model(instance, pyo.Binary)


@formulation(name="retention_lp", model_class="LP", strength="relaxation", equations="(5)")
def build_relaxation(instance: CacheInstance) -> pyo.ConcreteModel:
    """Its linear relaxation, exact for unit sizes without a host."""
    return retention_model(instance, pyo.UnitInterval)


def given_intervals(instance: CacheInstance) -> Intervals:
    """Return the intervals of the given order.

    Raises
    ------
    ModelRefused
        If the order is free.
    """
    if instance.order != "given":
        raise ModelRefused("order: free, but this formulation needs a given one")
    check_one_free_cache(instance)
    return intervals_of(instance.batches(tuple(range(len(instance.requests)))))


def check_one_free_cache(instance: CacheInstance) -> None:
    """Refuse an instance whose cache has a policy, or that has several GPUs.

    Raises
    ------
    ModelRefused
    """
    if instance.policy_cost is not None:
        raise ModelRefused("policy_cost: what leaves is decided freely here, not by a policy")
    if instance.gpus is not None:
        raise ModelRefused("gpus: several, this method is of one cache")


def check_size(instance: CacheInstance, entries: int) -> None:
    """Refuse a model of too many entries, or whose costs have too many digits for doubles.

    Raises
    ------
    ModelRefused
    """
    if entries > _MOST_ENTRIES:
        raise ModelRefused(f"requests: a model of {entries} entries is too large")
    total = sum(instance.miss_cost(v) * k for v, k in instance.frequency.items())
    space = sum(instance.size(v) for v in instance.frequency)
    if max(total, space) >= _MOST_COST:
        raise ModelRefused(
            f"weights, sizes: {total} and {space} together have too many digits for a solver"
        )


def held_at_most(instance: CacheInstance) -> tuple[int, int]:
    """Return the capacities of device and host, no larger than all nodes need."""
    space = sum(instance.size(v) for v in instance.frequency)
    return min(instance.capacity, space), min(instance.host_capacity, space)


def retention_model(instance: CacheInstance, domain: Any) -> pyo.ConcreteModel:
    """Build (R1)-(R4) with variables of a domain."""
    intervals = given_intervals(instance)
    check_size(instance, int((intervals.end - intervals.start).sum()))
    node, start, end = (
        intervals.node.tolist(),
        intervals.start.tolist(),
        intervals.end.tolist(),
    )
    c, c_host = instance.remote_cost, instance.host_cost
    hosted = instance.host_capacity > 0
    device_space, host_space = held_at_most(instance)
    covering: list[list[int]] = [[] for _ in range(intervals.boundaries)]
    for r, (s, e) in enumerate(zip(start, end, strict=True)):
        for i in range(s, e):
            covering[i].append(r)
    batches = instance.batches(tuple(range(len(instance.requests))))
    total = sum(instance.miss_cost(v) for batch in batches for v in batch)

    m = pyo.ConcreteModel("retention")
    m.R = pyo.RangeSet(0, len(node) - 1)
    m.I = pyo.RangeSet(0, intervals.boundaries - 1)
    m.kappa = pyo.Var(m.R, domain=domain, doc="the feature stays on the device")
    if not hosted:

        @m.Constraint(m.I, doc="(R2): what is kept fits on the device")
        def device(m: Any, i: int) -> Any:
            if not covering[i]:
                return pyo.Constraint.Skip
            return sum(instance.size(node[r]) * m.kappa[r] for r in covering[i]) <= device_space

        saved = sum(instance.miss_cost(node[r]) * m.kappa[r] for r in m.R)
        m.objective = pyo.Objective(expr=total - saved, doc="(R1): the cost of loading")
        return m

    m.A = pyo.Set(initialize=[(r, i) for i in m.I for r in covering[i]], dimen=2)
    m.y = pyo.Var(m.R, domain=domain, doc="the feature stays on the device or the host")
    m.x = pyo.Var(m.A, domain=domain, doc="it is on the device at a boundary")

    @m.Constraint(m.I, doc="(R2): what is kept fits on the device")
    def device_holds(m: Any, i: int) -> Any:
        if not covering[i]:
            return pyo.Constraint.Skip
        return sum(instance.size(node[r]) * m.x[r, i] for r in covering[i]) <= device_space

    @m.Constraint(m.I, doc="(R3): the rest fits on the host")
    def host_holds(m: Any, i: int) -> Any:
        if not covering[i]:
            return pyo.Constraint.Skip
        rest = sum(instance.size(node[r]) * (m.y[r] - m.x[r, i]) for r in covering[i])
        return rest <= host_space

    @m.Constraint(m.A, doc="(R4): what has left the device does not return")
    def leaves_once(m: Any, r: int, i: int) -> Any:
        return m.x[r, i] <= (m.y[r] if i == start[r] else m.x[r, i - 1])

    @m.Constraint(m.R, doc="(R4): a hit on the device")
    def stays(m: Any, r: int) -> Any:
        return m.kappa[r] == m.x[r, end[r] - 1]

    saved = sum(
        instance.weight(node[r]) * ((c - c_host) * m.y[r] + c_host * m.kappa[r]) for r in m.R
    )
    m.objective = pyo.Objective(expr=total - saved, doc="(R1): the cost of loading")
    return m


def decode(m: pyo.ConcreteModel, instance: CacheInstance) -> CacheSolution:
    """Return what leaves the caches when, from the values of the model."""
    intervals = given_intervals(instance)
    kept = np.array([pyo.value(m.kappa[r]) > 0.5 for r in m.R], dtype=bool)
    anywhere = kept
    if hasattr(m, "y"):
        anywhere = np.array([pyo.value(m.y[r]) > 0.5 for r in m.R], dtype=bool)
    evicted: list[list[int]] = [[] for _ in m.I]
    demoted: list[list[int]] = [[] for _ in m.I]
    batches = instance.batches(tuple(range(len(instance.requests))))
    for p, batch in enumerate(batches[:-1]):
        evicted[p] = [*batch]
    triples = zip(intervals.node, intervals.start, intervals.end, strict=True)
    for r, (v, s, e) in enumerate(triples):
        if kept[r]:
            evicted[s].remove(v)
        elif anywhere[r]:
            stay = [i for i in range(s, e) if pyo.value(m.x[r, i]) > 0.5]
            if stay:  # on the device first, on the host from the next boundary on
                evicted[s].remove(v)
                evicted[max(stay) + 1].append(int(v))
                demoted[max(stay) + 1].append(int(v))
            else:
                demoted[s].append(int(v))
    order = tuple(range(len(instance.requests)))
    lists = tuple(tuple(sorted(nodes)) for nodes in evicted)
    if instance.host_capacity == 0:
        return CacheSolution(order=order, evicted=lists)
    moved = tuple(tuple(sorted(nodes)) for nodes in demoted)
    return CacheSolution(order=order, evicted=lists, demoted=moved, dropped=((),) * len(moved))
