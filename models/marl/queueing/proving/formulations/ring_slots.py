r"""F3r: F3 with rings inside servers and levels of a network.

A column c is a content P of a server with the GPUs of each of its jobs. With migration only how
fast their rings are matters, and of the seatings of a content those are kept in which no other
serves every job as well. Let :math:`0 = c_{j0} < c_{j1} < \dots` be what an iteration of job j can
pay for communication: every :math:`V_j / b` of a column and every :math:`\beta_j(L)`. Beside F3's
variables, with columns in the place of contents, :math:`\lambda_{jk\tau} = 1` if job j pays
:math:`c_{jk}` in slot :math:`\tau`, and :math:`\rho_{ja\tau} = 1` if it is on a server of address
a, which is a rack if there is no network. k(c) is what a column makes its job pay: its own ring
there, and :math:`\beta_j(1)` if it has not all tasks of the job.

.. math::
    & \sum_c z_{cr\tau} \le |S_r|, \quad z_{cr\tau} \le |S_r| v_{c\tau}                \tag{1} \\
    & \sum_{c,r} P_j z_{cr\tau} = n_j y_{j\tau}, \quad y_{j\tau} = 0 \text{ before } a_j \tag{2} \\
    & \sum_{c,r \text{ at } a} P_j z_{cr\tau} \le n_j \rho_{ja\tau}, \quad
      \lambda_{jk\tau} \ge \rho_{ja\tau} + \rho_{ja'\tau} - 1, \quad
      \lambda_{jk(c)\tau} \ge v_{c\tau}                                                \tag{3} \\
    & q_{j\tau} \le \mathrm{rate}_j(c, k)
      + (q^{max}_j - \mathrm{rate}_j(c, k)) (2 - v_{c\tau} - \lambda_{jk\tau})
      \quad \forall k > k(c)                                                           \tag{4}

with :math:`\mathrm{rate}_j(c, k) = \lfloor \Delta / (t^0_j (1 + \sigma_j(P)) + c_{jk}) \rfloor`,
and (4) for k(c) without :math:`\lambda`; k in (3) is that of the level of a and a'. The worst
neighbours and the slowest hop may be at different servers, so every column meets every dearer
ring. (5) and (6) are F3's. Without migration a column names its GPUs, and (7) holds the tasks on
every server, and on every GPU, to a home.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.server_boards import Board, Seating, seatings, undominated
from gadgetopt.system.declaring import formulation

from ....subproblems.cluster import Server
from ....subproblems.contents import Content, Slowdowns, enumerate_contents, lots_of
from ...formulations.time_slotted import MOST_COLUMNS, add_objective, places_of
from ...instance import QueueingInstance, QueueingSolution, Running


@dataclass(frozen=True)
class Column:
    """What a server holds: tasks of its jobs, and the GPUs of each of them.

    Attributes
    ----------
    content : Content
    seats : tuple
        GPUs of each job of the content; empty without boards.
    slowdowns, inside_s : tuple of Fraction
        Of each job, by its neighbours and by its ring there.
    """

    content: Content
    seats: Seating
    slowdowns: tuple[Fraction, ...]
    inside_s: tuple[Fraction, ...]


@formulation(
    model_class="ILP", equations="F3r (1)-(7) (reconstructed)", backends=("highs", "cpsat")
)
def build(instance: QueueingInstance) -> pyo.ConcreteModel:
    """F3 with rings inside servers and levels of a network.

    Raises
    ------
    ModelRefused
        If there are too many columns.
    """
    jobs, slots = instance.jobs, range(instance.num_slots)
    places = places_of(instance)
    columns_of = _columns_by_kind(instance)
    columns = sorted({c for found in columns_of.values() for c in found}, key=_key)
    number = {column: c for c, column in enumerate(columns)}
    fits = [
        (number[column], r)
        for r, (server, _) in enumerate(places)
        for column in columns_of[_kind(server)]
    ]
    if len(fits) * len(slots) > MOST_COLUMNS:
        raise ModelRefused(
            f"{len(fits) * len(slots)} columns in all slots, expected at most {MOST_COLUMNS}"
        )
    m = pyo.ConcreteModel("F3r")
    m.columns, m.places = columns, places
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.T = pyo.RangeSet(0, len(slots) - 1)
    m.C = pyo.RangeSet(0, len(columns) - 1)
    m.K = pyo.RangeSet(0, len(places) - 1)
    m.CR = pyo.Set(dimen=2, initialize=sorted(fits))
    m.z = pyo.Var(
        m.CR,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c, r, t: (0, len(places[r][1])),
        doc="servers with column c",
    )
    m.v = pyo.Var(m.C, m.T, domain=pyo.Binary, doc="some server has column c")
    m.y = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="job j runs")
    m.d = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="job j is finished")
    _fix_ends(m, instance)
    at: dict[int, list[int]] = {}
    for c, r in m.CR:
        at.setdefault(c, []).append(r)
    holding: list[list[tuple[int, int, int]]] = [[] for _ in jobs]
    for c, column in enumerate(columns):
        for i, (j, n) in enumerate(column.content):
            holding[j].append((c, i, n))

    @m.Constraint(m.K, m.T, doc="(1): servers")
    def servers(m: Any, r: int, t: int) -> Any:
        used = [m.z[c, r, t] for c in m.C if (c, r) in m.CR]
        return sum(used) <= len(places[r][1]) if used else pyo.Constraint.Skip

    @m.Constraint(m.CR, m.T, doc="(1): columns in use")
    def in_use(m: Any, c: int, r: int, t: int) -> Any:
        return m.z[c, r, t] <= len(places[r][1]) * m.v[c, t]

    @m.Constraint(m.J, m.T, doc="(2): all tasks run or none")
    def gang(m: Any, j: int, t: int) -> Any:
        tasks = sum(n * m.z[c, r, t] for c, _, n in holding[j] for r in at[c])
        return tasks == jobs[j].num_tasks * m.y[j, t]

    _add_progress(m, instance, holding, at)
    if not instance.migration:
        _add_homes(m, instance, holding, at)
    add_objective(m, instance)
    return m


def _kind(server: Server) -> tuple[int, int, int]:
    return server.gpus, server.cpus, server.board


def _key(column: Column) -> tuple[object, ...]:
    return column.content, column.seats


def _columns_by_kind(instance: QueueingInstance) -> dict[tuple[int, int, int], list[Column]]:
    """Return the columns of each kind of server."""
    lots = lots_of(instance, merged=False)
    slowdowns = Slowdowns(instance, lots)
    most = MOST_COLUMNS // instance.num_slots
    found = {}
    for kind in {_kind(server) for server in instance.servers}:
        gpus, cpus, number = kind
        board = instance.boards[number] if instance.boards else None
        columns = [
            Column(content, seats, tuple(slowdowns.of(content)), inside_s)
            for content in enumerate_contents(lots, gpus, cpus, most)
            for seats, inside_s in _seatings(instance, content, board)
        ]
        if len(columns) > most:
            raise ModelRefused(f"a server has more than {most} possible columns")
        found[kind] = columns
    return found


def _seatings(
    instance: QueueingInstance, content: Content, board: Board | None
) -> list[tuple[Seating, tuple[Fraction, ...]]]:
    """Return the ways to give the jobs of a content their GPUs, and what their rings take there.

    With migration only those that no other is as good as for every job, one of each.
    """
    if board is None:
        return [((), (Fraction(0),) * len(content))]
    ways = seatings(
        board,
        [n * instance.jobs[j].gpus_per_task for j, n in content],
        [instance.rings_gbytes[j] for j, _ in content],
    )
    return undominated(ways) if instance.migration else ways


def _fix_ends(m: pyo.ConcreteModel, instance: QueueingInstance) -> None:
    """Let no job run before it is there, and all be finished in the last slot."""
    last = instance.num_slots - 1
    for j in m.J:
        m.d[j, last].fix(1)
        for t in range(instance.first_slots[j]):
            m.y[j, t].fix(0)
            if t < last:
                m.d[j, t].fix(0)


def _add_progress(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    holding: list[list[tuple[int, int, int]]],
    at: dict[int, list[int]],
) -> None:
    """(3)-(6): what communication costs, iterations, and when a job is finished."""
    far: dict[tuple[object, object], int] = {}
    for s, t in itertools.combinations(range(len(instance.servers)), 2):
        here, there = address_of(instance, s), address_of(instance, t)
        if here != there:
            far[min(here, there), max(here, there)] = instance.level(s, t)
    costs = [_costs(m, instance, j, holding[j], set(far.values())) for j in m.J]
    m.JK = pyo.Set(dimen=2, initialize=[(j, k) for j in m.J for k in range(1, len(costs[j]))])
    m.pays = pyo.Var(m.JK, m.T, domain=pyo.Binary, doc="job j pays c_jk")

    def own_s(j: int, c: int, i: int, n: int) -> Fraction:
        apart_s = instance.span_s(j, 1) if n < instance.jobs[j].num_tasks else Fraction(0)
        return max(m.columns[c].inside_s[i], apart_s)

    def rate(j: int, c: int, i: int, comm_s: Fraction) -> int:
        base_s = instance.jobs[j].base_iteration_s * (1 + m.columns[c].slowdowns[i])
        return int(instance.slot_s // (base_s + comm_s))

    fastest = [
        max((rate(j, c, i, own_s(j, c, i, n)) for c, i, n in holding[j]), default=0) for j in m.J
    ]
    m.q = pyo.Var(
        m.J,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, t: (0, fastest[j]),
        doc="iterations done",
    )
    apart = [
        (j, c, i, costs[j].index(own_s(j, c, i, n)))
        for j in m.J
        for c, i, n in holding[j]
        if n < instance.jobs[j].num_tasks
    ]
    m.paid_there = pyo.ConstraintList(doc="(3): rings inside servers")
    m.slowest = pyo.ConstraintList(doc="(4): the slowest task")
    m.slowest_ring = pyo.ConstraintList(doc="(4): the slowest hop")
    for t in m.T:
        for j in m.J:
            for c, i, n in holding[j]:
                own = rate(j, c, i, own_s(j, c, i, n))
                if own < fastest[j]:
                    m.slowest.add(m.q[j, t] <= own + (fastest[j] - own) * (1 - m.v[c, t]))
        for j, c, i, k in apart:
            if k:
                m.paid_there.add(m.pays[j, k, t] >= m.v[c, t])
            for dearer in range(k + 1, len(costs[j])):
                slow = rate(j, c, i, costs[j][dearer])
                off = 2 - m.v[c, t] - m.pays[j, dearer, t]
                m.slowest_ring.add(m.q[j, t] <= slow + (fastest[j] - slow) * off)
    _add_levels(m, instance, holding, at, costs, far)

    @m.Constraint(m.J, m.T, doc="(5): no faster than the mean of the tasks")
    def mean(m: Any, j: int, t: int) -> Any:
        over = sum(
            rate(j, c, i, own_s(j, c, i, n)) * n * m.z[c, r, t]
            for c, i, n in holding[j]
            for r in at[c]
        )
        return instance.jobs[j].num_tasks * m.q[j, t] <= over

    @m.Constraint(m.J, m.T, doc="(6): all iterations done")
    def finished(m: Any, j: int, t: int) -> Any:
        if t < instance.first_slots[j]:
            return pyo.Constraint.Skip
        done = sum(m.q[j, k] for k in m.T if instance.first_slots[j] <= k <= t)
        return instance.jobs[j].iterations * m.d[j, t] <= done

    @m.Constraint(m.J, m.T, doc="(6): finished jobs stay finished")
    def stays(m: Any, j: int, t: int) -> Any:
        if t == 0 or (m.d[j, t].fixed and m.d[j, t - 1].fixed):
            return pyo.Constraint.Skip
        return m.d[j, t] >= m.d[j, t - 1]


def address_of(instance: QueueingInstance, s: int) -> tuple[int, ...]:
    """Return a server's address, its rack if there is no network."""
    server = instance.servers[s]
    return (server.rack,) if instance.network is None else server.address


def _costs(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    j: int,
    held: list[tuple[int, int, int]],
    levels: set[int],
) -> list[Fraction]:
    """Return what an iteration of a job can pay, in ascending order from 0."""
    found = {Fraction(0)}
    if instance.jobs[j].num_tasks > 1:
        apart_s = instance.span_s(j, 1)
        found |= {apart_s, *(max(apart_s, instance.span_s(j, level)) for level in levels)}
        for c, i, n in held:
            if n < instance.jobs[j].num_tasks:
                found.add(max(m.columns[c].inside_s[i], apart_s))
    return sorted(found)


def _add_levels(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    holding: list[list[tuple[int, int, int]]],
    at: dict[int, list[int]],
    costs: list[list[Fraction]],
    far: dict[tuple[object, object], int],
) -> None:
    """(3): jobs at several addresses, where that costs more than several servers of one."""
    pairs: dict[int, list[tuple[object, object, int]]] = {}
    for j in m.J:
        for (a, b), level in sorted(far.items(), key=str):
            cost_s = instance.span_s(j, level)
            if instance.jobs[j].num_tasks > 1 and cost_s > instance.span_s(j, 1):
                pairs.setdefault(j, []).append((a, b, costs[j].index(cost_s)))
    addresses = sorted({address for pair in far for address in pair}, key=str)
    m.A = pyo.RangeSet(0, len(addresses) - 1)
    m.JF = pyo.Set(initialize=sorted(pairs))
    m.rho = pyo.Var(m.JF, m.A, m.T, domain=pyo.Binary, doc="job j is at address a")
    where = {a: k for k, a in enumerate(addresses)}

    @m.Constraint(m.JF, m.A, m.T, doc="(3): addresses in use")
    def address(m: Any, j: int, a: int, t: int) -> Any:
        tasks = [
            n * m.z[c, r, t]
            for c, _, n in holding[j]
            for r in at[c]
            if address_of(instance, m.places[r][1][0]) == addresses[a]
        ]
        if not tasks:
            return pyo.Constraint.Skip
        return sum(tasks) <= instance.jobs[j].num_tasks * m.rho[j, a, t]

    m.distance = pyo.ConstraintList(doc="(3): levels of the network")
    for j, of_job in pairs.items():
        for a, b, k in of_job:
            for t in m.T:
                both = m.rho[j, where[a], t] + m.rho[j, where[b], t]
                m.distance.add(m.pays[j, k, t] >= both - 1)


def _add_homes(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    holding: list[list[tuple[int, int, int]]],
    at: dict[int, list[int]],
) -> None:
    """(7): jobs that do not move, from their servers or their GPUs."""
    jobs = instance.jobs
    most = max(server.gpus for server in instance.servers) if instance.boards else 0
    m.G = pyo.RangeSet(-1, most - 1)
    # GPU -1 stands for the server itself: how many tasks it has.
    m.x = pyo.Var(
        m.J,
        m.K,
        m.G,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, s, g: (0, jobs[j].num_tasks if g < 0 else 1),
    )

    def there(j: int, s: int, g: int, t: int) -> Any:
        return sum(
            (n if g < 0 else 1) * m.z[c, s, t]
            for c, i, n in holding[j]
            if s in at[c] and (g < 0 or g in m.columns[c].seats[i])
        )

    def away(j: int, g: int, t: int) -> Any:
        before = m.d[j, t - 1] if t else 0
        return (jobs[j].num_tasks if g < 0 else 1) * (1 - m.y[j, t] + before)

    @m.Constraint(m.J, m.K, m.G, m.T, doc="(7): no more than at home")
    def no_more(m: Any, j: int, s: int, g: int, t: int) -> Any:
        return there(j, s, g, t) - m.x[j, s, g] <= away(j, g, t)

    @m.Constraint(m.J, m.K, m.G, m.T, doc="(7): no less than at home")
    def no_less(m: Any, j: int, s: int, g: int, t: int) -> Any:
        return m.x[j, s, g] - there(j, s, g, t) <= away(j, g, t)

    @m.Constraint(m.J, m.T, doc="(7): no interruption")
    def goes_on(m: Any, j: int, t: int) -> Any:
        if t == 0:
            return pyo.Constraint.Skip
        return m.y[j, t] >= m.y[j, t - 1] - m.d[j, t - 1]


def decode(m: pyo.ConcreteModel, instance: QueueingInstance) -> QueueingSolution:
    """Give the servers of each place their columns, slot by slot."""
    slots = []
    for t in m.T:
        free = [list(reversed(members)) for _, members in m.places]
        tasks: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {}
        for c, r in m.CR:
            for _ in range(round(pyo.value(m.z[c, r, t]))):
                s, column = free[r].pop(), m.columns[c]
                for i, (j, n) in enumerate(column.content):
                    gpus = column.seats[i] if instance.boards else ()
                    tasks.setdefault(j, []).append((s, n, gpus))
        slots.append(
            tuple(
                Running(
                    job=j,
                    tasks=tuple((s, n) for s, n, _ in sorted(tasks[j])),
                    gpus=tuple(g for _, _, g in sorted(tasks[j])) if instance.boards else (),
                )
                for j in sorted(tasks)
            )
        )
    while slots and not slots[-1]:
        slots.pop()
    return QueueingSolution(slots=tuple(slots))
