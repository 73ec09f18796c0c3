r"""Ring counts: how often each job has a ring of each kind and size between arrivals.

A relaxation of all slots on two-tier clusters (reconstructed). It adds up the slots of an epoch, as
the epoch relaxation (D8) does, but keeps servers and links. Sets: jobs i; epochs e of :math:`n_e`
slots; kinds g of rings of a job: on one server, over several servers of one rack, over racks; sizes
:math:`\kappa`. Counts are :math:`r_{ieg\kappa}`, slots in which the job has such a ring, an
integer; :math:`v_{iegsn}`, slots in which a ring over several servers has n workers on server s;
and :math:`w_{iek}`, slots in which a ring over racks uses rack k. Levels and increments of totals
are those of (D8), with :math:`z_{ie} = \sum_{g, \kappa} \kappa\, r_{ieg\kappa}`.

.. math::
    & \textstyle\sum_{g, \kappa} r_{ieg\kappa} \le n_e \sum_k \chi_{ik} \qquad \text{(D13)} \\
    & \textstyle\sum_{s, n} n\, v_{iegsn} = \sum_\kappa \kappa\, r_{ieg\kappa}, \quad
      \sum_{s, n} v_{iegsn} \ge \sum_\kappa \sigma_{g\kappa} r_{ieg\kappa}, \quad
      \sum_n v_{iegsn} \le \sum_\kappa r_{ieg\kappa} \\
    & \textstyle\sum_n v_{iegsn} \le w_{i,e,rack(s)} \le \sum_\kappa r_{ieg\kappa}, \quad
      \sum_k w_{iek} \ge 2 \sum_\kappa r_{ieg\kappa} \quad \text{over racks} \qquad \text{(D14)} \\
    & \textstyle\sum_i f(l_i^r \kappa)\, r_{ieg\kappa} + \sum_{i,s} f_s(l_i^r n)\, v_{iegsn}
      \le n_e \sum_s f_s(C_s^r) \qquad \text{(D15)} \\
    & \textstyle\sum_i f(b_i) \sum_{g, n} v_{iegsn} \le n_e f(B_s), \qquad
      \sum_i f(b_i)\, w_{iek} \le n_e f(U_k) \qquad \text{(D16)}

In (D13), 1 replaces the sum for a job without levels; a job that reaches no level need not run.
:math:`\sigma_{g\kappa}` is the least number of servers of a ring. (D15) holds for :math:`f(x) =
\lfloor x / h \rfloor` and, on the servers with :math:`C_s^r \ge h` alone, for the load of rings
that only they can hold, :math:`f(x) = x` from h on; on each server alone it holds for v. In (D16)
f is the bandwidth itself, with B and U as sets of jobs can use them, or :math:`\lfloor x / h
\rfloor`, which limits the number of wide hops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ...instance import GadgetInstance
from ...subproblems.max_ring import largest_rings
from ...terms import Terms
from ..certificate.bandwidth_tightening import tightened
from ..certificate.epochs import Epochs, epochs_of
from .ring_kinds import (
    RingKind,
    ring_kinds,
)
from .totals import add_totals

#: Limit on the counts of rings and of their servers; more take too long to write down.
#: Tuned: `benchmarks/constants.py`.
MOST_COUNTS = 100_000
#: Numbers of hops that (D16) limits by wide hops, and of loads that (D15) rounds down to.
#: Tuned: `benchmarks/constants.py`.
HOPS, LOADS = 4, 8


@formulation(
    model_class="MILP",
    strength="relaxation",
    equations="(D13)-(D16) (reconstructed)",
    objective_error=ROUNDING,
)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """Slots with a ring of each kind and size per job and epoch, on servers and links.

    Build the relaxation by ring counts (reconstructed); its values are no decision.

    Raises
    ------
    ModelRefused
        If the network is a graph, or the model is too large.
    """
    terms = instance.terms
    epochs, largest = epochs_of(terms), largest_rings(terms)
    kinds = {job.index: ring_kinds(terms, job, largest[job.index]) for job in terms.jobs}
    if num_counts(terms, epochs, kinds) > MOST_COUNTS:
        raise ModelRefused(f"more than {MOST_COUNTS:,} counts of rings")
    m = pyo.ConcreteModel("ring_counts")
    m.n = pyo.Param(range(len(epochs.length)), initialize=dict(enumerate(epochs.length.tolist())))
    add_totals(m, terms, epochs, largest)
    _rings(m, terms, epochs, kinds)
    _servers(m, terms, epochs, kinds)
    spanning = [job.bandwidth for job in terms.jobs if largest[job.index] > 1]
    _links(m, terms, spanning)
    return m


def num_counts(terms: Terms, epochs: Epochs, kinds: dict[int, list[RingKind]]) -> int:
    """Return the approximate number of counts."""
    ends = len(epochs.length)
    return sum(
        (ends - int(epochs.first[job.index]))
        * sum(len(g.least) + sum(g.most_on(job, s) for s in g.servers) for g in kinds[job.index])
        for job in terms.jobs
    )


def _rings(m: Any, terms: Terms, epochs: Epochs, kinds: dict[int, list[RingKind]]) -> None:
    """Add the counts of rings, and those of their servers and racks: (D13), (D14)."""
    ring, part, rack = [], [], []
    for i, e in m.IE:
        for g, kind in enumerate(kinds[i]):
            ring += [(i, e, g, size) for size in kind.least]
            part += [
                (i, e, g, s, n)
                for s in kind.servers
                for n in range(1, kind.most_on(terms.jobs[i], s) + 1)
            ]
            rack += [(i, e, k) for k in kind.racks]

    def at_most(m: Any, i: int, e: int, *rest: int) -> tuple[int, int]:
        return 0, m.n[e]

    m.ring = pyo.Var(
        ring,
        domain=pyo.NonNegativeIntegers,
        bounds=at_most,
        doc="slots with a ring of kind g, size k",
    )
    m.part = pyo.Var(part, bounds=at_most, doc="slots with n of its workers on s")
    m.rack = pyo.Var(rack, bounds=at_most, doc="slots with a ring through rack k")
    m.counted = pyo.ConstraintList(doc="worker-slots of an epoch are those of its rings")
    m.one_ring = pyo.ConstraintList(doc="(D13): one ring in a slot, none without a level")
    m.parts = pyo.ConstraintList(doc="(D14): servers and racks of rings")
    has_level = defaultdict(list)
    for i, k in m.chi:
        has_level[i].append(m.chi[i, k])
    for i, e in m.IE:
        every = [
            (size, m.ring[i, e, g, size]) for g, kind in enumerate(kinds[i]) for size in kind.least
        ]
        m.counted.add(m.z[i, e] == sum(size * r for size, r in every))
        if every:
            runs = sum(has_level[i]) if i in has_level else 1
            m.one_ring.add(sum(r for _, r in every) <= m.n[e] * runs)
        for g, kind in enumerate(kinds[i]):
            if kind.servers:
                _parts(m, terms, (i, e, g), kind)


def _parts(m: Any, terms: Terms, at: tuple[int, int, int], kind: RingKind) -> None:
    """Add (D14) for the rings of one kind over several servers."""
    i, e, _ = at
    rings = {size: m.ring[*at, size] for size in kind.least}
    slots = sum(rings.values())
    most = {s: range(1, kind.most_on(terms.jobs[i], s) + 1) for s in kind.servers}
    visits = {s: sum(m.part[*at, s, n] for n in most[s]) for s in kind.servers}
    workers = sum(n * m.part[*at, s, n] for s in kind.servers for n in most[s])
    m.parts.add(workers == sum(size * r for size, r in rings.items()))
    m.parts.add(sum(visits.values()) >= sum(kind.least[size] * r for size, r in rings.items()))
    assert terms.tree is not None
    for s in kind.servers:
        m.parts.add(visits[s] <= (m.rack[i, e, int(terms.tree.rack[s])] if kind.racks else slots))
    if kind.racks:
        for k in kind.racks:
            m.parts.add(m.rack[i, e, k] <= slots)
        m.parts.add(sum(m.rack[i, e, k] for k in kind.racks) >= 2 * slots)


def _servers(m: Any, terms: Terms, epochs: Epochs, kinds: dict[int, list[RingKind]]) -> None:
    """Add (D15)."""
    m.capacity = pyo.ConstraintList(doc="(D15): rings share the servers")
    on_one: dict[int, list[tuple[int, int, Any]]] = defaultdict(list)
    on_many: dict[int, list[tuple[int, int, int, Any]]] = defaultdict(list)
    for i, e, g, size in m.ring:
        if not kinds[i][g].servers:
            on_one[e].append((i, size, m.ring[i, e, g, size]))
    for i, e, g, s, n in m.part:
        on_many[e].append((i, s, n, m.part[i, e, g, s, n]))
    for r in range(terms.capacity.shape[1]):
        there, demand = terms.capacity[:, r].tolist(), [int(job.demand[r]) for job in terms.jobs]
        for e in range(len(epochs.length)):
            one = [(demand[i] * size, x) for i, size, x in on_one[e]]
            many = [(s, demand[i] * n, x) for i, s, n, x in on_many[e]]
            for row, limit in _shared(there, one, many):
                m.capacity.add(row <= m.n[e] * limit)
            for s in sorted({s for s, load, _ in many if load}):
                m.capacity.add(sum(load * x for t, load, x in many if t == s) <= m.n[e] * there[s])


def _shared(
    there: list[int], one: list[tuple[int, Any]], many: list[tuple[int, int, Any]]
) -> Iterable[tuple[Any, int]]:
    """Yield left sides and limits in one slot for a resource of all servers together."""
    loads = sorted({load for load, _ in one if load})
    for h in [1, *(c + 1 for c in sorted(set(there))[:-1])]:
        only = [load * x for load, x in one if load >= h]
        if only:
            large = [load * x for s, load, x in many if there[s] >= h and load]
            yield sum(only) + sum(large), sum(c for c in there if c >= h)
    for h in [load for load in loads if load > 1][:LOADS]:
        every = [*one, *((load, x) for _, load, x in many)]
        yield sum((load // h) * x for load, x in every if load >= h), sum(c // h for c in there)


def _links(m: Any, terms: Terms, spanning: list[int]) -> None:
    """Add (D16)."""
    tree = terms.tree
    assert tree is not None
    m.links = pyo.ConstraintList(doc="(D16): hops share the links")
    access: dict[tuple[int, int], list[tuple[int, Any]]] = defaultdict(list)
    uplink: dict[tuple[int, int], list[tuple[int, Any]]] = defaultdict(list)
    for i, e, g, s, n in m.part:
        access[e, s].append((terms.jobs[i].bandwidth, m.part[i, e, g, s, n]))
    for i, e, k in m.rack:
        uplink[e, k].append((terms.jobs[i].bandwidth, m.rack[i, e, k]))
    usable = tightened(tree.access.tolist(), spanning), tightened(tree.uplink.tolist(), spanning)
    for loads, there in zip((access, uplink), usable, strict=True):
        for (e, at), hops in loads.items():
            width = there[at]
            for h in [1, *(width // (q + 1) + 1 for q in range(1, HOPS + 1))]:
                row = [(b // h) * x for b, x in hops if b >= h]
                if row:
                    m.links.add(sum(row) <= m.n[e] * (width // h))
