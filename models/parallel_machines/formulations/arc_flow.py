r"""The arc-flow model: a machine is a path through the times at which its jobs start and end.

Nodes :math:`V \subseteq \{0, \dots, U\}` are loads that some jobs sum to, U being LPT's makespan.
An arc (u, u + d) is a job of processing time d that starts at u. Of the jobs of a machine the
longest is first, so arcs of d leave only those nodes that longer jobs or jobs of d reach. The path
of a machine may end at any node. Parameters: :math:`b_d`, the number of jobs of processing time d;
L, the combinatorial bound; :math:`v_1 < v_2 < \dots` the nodes above L, :math:`v_0 = L`. Variables:
:math:`f_{ud}`, the number of machines on an arc; :math:`e_v`, of those that end at v;
:math:`y_k = 1` if the makespan is at least :math:`v_k`.

.. math::
    \min\ & L + \sum_k (v_k - v_{k-1})\, y_k                                         \tag{F1} \\
    & \sum_d f_{0d} + e_0 = m                                                        \tag{F2} \\
    & \sum_d f_{v-d,d} = \sum_d f_{vd} + e_v           \quad \forall v > 0           \tag{F3} \\
    & \sum_u f_{ud} = b_d                              \quad \forall d               \tag{F4} \\
    & \sum_{v \ge v_k} e_v \le m\, y_k                 \quad \forall k               \tag{F5} \\
    & f, e \in \mathbb{Z}_{\ge 0},\ y \in \{0, 1\}                                   \tag{F6}

Machines have no number, hence no symmetry, and equal jobs are one commodity. The flow is that of
Valério de Carvalho (1999) for cutting stock, used for this problem by Mrad and Souayah (2018);
how the makespan enters, (F1) and (F5), is ours (reconstructed).

J. M. Valério de Carvalho, "Exact solution of bin-packing problems using column generation and
branch-and-bound", Annals of Operations Research 86 (1999) 629-659. M. Mrad, N. Souayah, "An
Arc-Flow Model for the Makespan Minimization Problem on Identical Parallel Machines", IEEE Access 6
(2018) 5300-5307.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..algorithms.graham import list_schedule, makespan_s
from ..counting import combinatorial_bound
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .makespan import add_makespan, jobs_by_time
from .numbers import check_digits

#: Arcs of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_ARCS = 400_000


@dataclass(frozen=True)
class Network:
    """Nodes of an arc-flow model, and its arcs as pairs of a node and a processing time."""

    nodes: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]


def network(instance: ParallelMachinesInstance, longest_s: int) -> Network:
    """Return the nodes and arcs of paths of at most this length, the longest job first.

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    nodes = {0}
    arcs: dict[tuple[int, int], None] = {}  # in order, each once
    for d, count in instance.demand.items():
        reached = dict.fromkeys(nodes, 0)  # jobs of d that the shortest way there has
        for u in sorted(nodes):
            v = u
            for used in range(reached[u], count):
                if v + d > longest_s or reached.get(v, used) < used:
                    break
                arcs[v, d] = None
                v += d
                reached[v] = min(reached.get(v, used + 1), used + 1)
        nodes.update(reached)
        if len(arcs) > MOST_ARCS:
            raise ModelRefused(f"the arc-flow model has more than {MOST_ARCS} arcs")
    return Network(tuple(sorted(nodes)), tuple(arcs))


@formulation(model_class="ILP", equations="(F1)-(F6)", backends=("highs", "cpsat"))
def build(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """Machines as paths through the times at which jobs can start.

    Raises
    ------
    ModelRefused
        If there are too many arcs.
    """
    return _model(instance, pyo.NonNegativeIntegers, pyo.Binary)


def build_packing(instance: ParallelMachinesInstance, capacity_s: int) -> pyo.ConcreteModel:
    """Build (F2)-(F4), which schedules of at most this makespan satisfy.

    Raises
    ------
    ModelRefused
        If there are too many arcs.
    """
    return _flow(instance, capacity_s, pyo.NonNegativeIntegers)


@formulation(name="arc_flow_lp", model_class="LP", strength="relaxation", equations="(F1)-(F5)")
def build_relaxation(instance: ParallelMachinesInstance) -> pyo.ConcreteModel:
    """Its linear relaxation: fractional paths."""
    return _model(instance, pyo.NonNegativeReals, pyo.UnitInterval)


def decode(m: pyo.ConcreteModel, instance: ParallelMachinesInstance) -> ParallelMachinesSolution:
    """Follow a path for each machine, and give it jobs of the processing times on it."""
    flow = {arc: round(pyo.value(m.f[arc])) for arc in m.A}
    leaving = defaultdict(list)
    for u, d in flow:
        leaving[u].append(d)
    paths = []
    for _ in range(instance.used_machines):
        v, path = 0, []
        while True:
            d = next((d for d in leaving[v] if flow[v, d]), None)
            if d is None:
                break
            flow[v, d] -= 1
            path.append(d)
            v += d
        paths.append(path)
    return jobs_by_time(instance, paths)


def _model(instance: ParallelMachinesInstance, flow: Any, step: Any) -> pyo.ConcreteModel:
    longest_s = makespan_s(instance, list_schedule(instance, instance.longest_first))
    m = _flow(instance, longest_s, flow)
    m.del_component(m.objective)
    # (F1), (F5)
    ending = {v: m.e[v] for v in m.V}
    add_makespan(m, ending, combinatorial_bound(instance), instance.used_machines, step)
    return m


def _flow(instance: ParallelMachinesInstance, longest_s: int, flow: Any) -> pyo.ConcreteModel:
    """Build (F2)-(F4) with paths of at most this length."""
    check_digits(instance)
    net = network(instance, longest_s)
    machines = instance.used_machines
    leaving, entering, of_time = defaultdict(list), defaultdict(list), defaultdict(list)
    for u, d in net.arcs:
        leaving[u].append((u, d))
        entering[u + d].append((u, d))
        of_time[d].append((u, d))

    m = pyo.ConcreteModel("arc_flow")
    m.V = pyo.Set(initialize=net.nodes)
    m.A = pyo.Set(dimen=2, initialize=net.arcs)
    m.D = pyo.Set(initialize=list(instance.demand))

    def most(_m: Any, _u: int, d: int) -> tuple[int, int]:
        return 0, instance.demand[d]

    m.f = pyo.Var(m.A, domain=flow, bounds=most, doc="(F6): machines that start a job of d at u")
    m.e = pyo.Var(m.V, domain=flow, bounds=(0, machines), doc="(F6): machines that end at v")
    m.start = pyo.Constraint(
        expr=sum(m.f[a] for a in leaving[0]) + m.e[0] == machines,
        doc="(F2): every machine has a path",
    )

    @m.Constraint([v for v in net.nodes if v], doc="(F3): a path goes on or ends")
    def conservation(m: Any, v: int) -> Any:
        return sum(m.f[a] for a in entering[v]) == sum(m.f[a] for a in leaving[v]) + m.e[v]

    @m.Constraint(m.D, doc="(F4): every job is on a path")
    def demand(m: Any, d: int) -> Any:
        return sum(m.f[a] for a in of_time[d]) == instance.demand[d]

    m.objective = pyo.Objective(expr=0)
    return m
