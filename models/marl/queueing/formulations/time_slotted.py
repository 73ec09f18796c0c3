r"""F3: in every slot a content of every server.

Sets: contents P, with :math:`\sigma_j(P)` by any table; places r, servers that are alike (one rack,
one size), or every server for itself where jobs may not move; slots :math:`\tau` of length
:math:`\Delta`. Variables: :math:`z_{Pr\tau}` servers of r with content P; :math:`v_{P\tau} = 1` if
there is one; :math:`y_{j\tau} = 1` if job j runs, :math:`\chi_{j\tau} = 1` if it does so in several
racks; :math:`q_{j\tau}` iterations done; :math:`d_{j\tau} = 1` if it is finished by the end of the
slot. Whether a job lies on several servers a content tells: it has all tasks, or it has not.

.. math::
    \min\ & \tfrac{1}{|J|} \sum_j \bigl(\Delta - a_j + \Delta \sum_\tau (1 - d_{j\tau})\bigr) \\
    & \sum_P z_{Pr\tau} \le |S_r|, \quad z_{Pr\tau} \le |S_r| v_{P\tau}                \tag{1} \\
    & \sum_{P,r} P_j z_{Pr\tau} = n_j y_{j\tau}, \quad y_{j\tau} = 0 \text{ before } a_j \tag{2} \\
    & \sum_P P_j z_{Pr\tau} \le n_j \rho_{jr\tau}, \quad
      \sum_r \rho_{jr\tau} \le 1 + (|R| - 1) \chi_{j\tau}                              \tag{3} \\
    & q_{j\tau} \le \mathrm{rate}_j(P) + (q^{max}_j - \mathrm{rate}_j(P)) (1 - v_{P\tau})
        \quad \forall P \ni j                                                          \tag{4} \\
    & n_j q_{j\tau} \le \sum_{P,r} \mathrm{rate}_j(P) P_j z_{Pr\tau}                    \tag{5} \\
    & W_j d_{j\tau} \le \sum_{\tau' \le \tau} q_{j\tau'}, \quad
      d_{j\tau} \ge d_{j,\tau-1}, \quad d_{j,last} = 1                                 \tag{6}

with :math:`\mathrm{rate}_j(P) = \lfloor \Delta / (t^0_j (1 + \sigma_j(P)) + \beta_j) \rfloor`,
where :math:`\beta_j` is 0 if P has the whole gang and :math:`\beta^{rack}_j` else; a row (4) with
:math:`\beta^{cross}_j` and :math:`2 - v_{P\tau} - \chi_{j\tau}` follows where racks matter. (5) is
a valid inequality: the slowest task is no faster than the mean. Completion is at the end of a slot.

Without migration there are also :math:`x_{js}`, the tasks of j on server s whenever it runs:

.. math::
    & \Bigl|\sum_P P_j z_{Ps\tau} - x_{js}\Bigr| \le n_j (1 - y_{j\tau} + d_{j,\tau-1}), \quad
      y_{j\tau} \ge y_{j,\tau-1} - d_{j,\tau-1}                                        \tag{7}
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ...subproblems.cluster import Server
from ...subproblems.contents import Content, Slowdowns, enumerate_contents, lots_of
from ..instance import QueueingInstance, QueueingSolution, Running

#: Contents of all places and slots for which a model is built. Tuned: `benchmarks/constants.py`.
MOST_COLUMNS = 100_000


@dataclass(frozen=True)
class _Rate:
    """Iterations of a job in a slot beside content c: in one rack, and across racks."""

    content: int
    job: int
    tasks: int
    in_rack: int
    across: int


@formulation(model_class="ILP", equations="F3 (1)-(7) (reconstructed)", backends=("highs", "cpsat"))
def build(instance: QueueingInstance) -> pyo.ConcreteModel:
    """In every slot a content of every server.

    Raises
    ------
    ModelRefused
        If there are too many contents, boards or a network.
    """
    if instance.has_architecture:
        raise ModelRefused("boards or a network cost something: ring_slots has them, this has not")
    jobs, slots = instance.jobs, range(instance.num_slots)
    lots = lots_of(instance, merged=False)
    found: set[Content] = set()
    for gpus, cpus in {(server.gpus, server.cpus) for server in instance.servers}:
        found.update(enumerate_contents(lots, gpus, cpus, MOST_COLUMNS // len(slots)))
    contents = sorted(found)
    places = places_of(instance)
    fits = [
        (c, r)
        for c, content in enumerate(contents)
        for r, (server, _) in enumerate(places)
        if _fits(instance, content, server)
    ]
    if len(fits) * len(slots) > MOST_COLUMNS:
        raise ModelRefused(
            f"{len(fits) * len(slots)} contents of servers in all slots, expected at most "
            f"{MOST_COLUMNS}"
        )
    rates = _rates(instance, contents)
    fastest = [max((r.in_rack for r in rates if r.job == j), default=0) for j in range(len(jobs))]
    at: dict[int, list[int]] = {}
    for c, r in fits:
        at.setdefault(c, []).append(r)

    m = pyo.ConcreteModel("F3")
    m.contents, m.places = contents, places
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.T = pyo.RangeSet(0, len(slots) - 1)
    m.P = pyo.RangeSet(0, len(contents) - 1)
    m.K = pyo.RangeSet(0, len(places) - 1)
    m.R = pyo.Set(initialize=instance.racks)
    m.PR = pyo.Set(dimen=2, initialize=fits)
    m.z = pyo.Var(
        m.PR,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c, r, t: (0, len(places[r][1])),
        doc="servers with content P",
    )
    m.v = pyo.Var(m.P, m.T, domain=pyo.Binary, doc="some server has content P")
    m.y = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="job j runs")
    m.chi = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="job j runs in several racks")
    m.q = pyo.Var(
        m.J,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, t: (0, fastest[j]),
        doc="iterations done",
    )
    m.d = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="job j is finished")
    for j in m.J:
        m.d[j, slots[-1]].fix(1)
        for t in m.T:
            if t < instance.first_slots[j]:
                m.y[j, t].fix(0)
                if t < slots[-1]:
                    m.d[j, t].fix(0)

    holding: list[list[tuple[int, int]]] = [[] for _ in jobs]
    for c, content in enumerate(contents):
        for j, n in content:
            holding[j].append((c, n))

    @m.Constraint(m.K, m.T, doc="(1): servers")
    def servers(m: Any, r: int, t: int) -> Any:
        used = [m.z[c, r, t] for c in m.P if (c, r) in m.PR]
        return sum(used) <= len(places[r][1]) if used else pyo.Constraint.Skip

    @m.Constraint(m.PR, m.T, doc="(1): contents in use")
    def in_use(m: Any, c: int, r: int, t: int) -> Any:
        return m.z[c, r, t] <= len(places[r][1]) * m.v[c, t]

    @m.Constraint(m.J, m.T, doc="(2): all tasks run or none")
    def gang(m: Any, j: int, t: int) -> Any:
        tasks = sum(n * m.z[c, r, t] for c, n in holding[j] for r in at[c])
        return tasks == jobs[j].num_tasks * m.y[j, t]

    _add_racks(m, instance, holding, at)
    _add_progress(m, instance, rates, fastest, at)
    if not instance.migration:
        _add_homes(m, instance, holding, at)
    add_objective(m, instance)
    return m


def add_objective(m: pyo.ConcreteModel, instance: QueueingInstance) -> None:
    """Minimise the mean time from arrival until a job's last slot ends."""
    number = max(1, len(instance.jobs))
    open_slots = sum(1 - m.d[j, t] for j in m.J for t in m.T)
    waited_s = sum((instance.slot_s - job.arrival_s for job in instance.jobs), start=Fraction(0))
    m.mean_completion_s = pyo.Objective(
        expr=coefficient(instance.slot_s / number) * open_slots + coefficient(waited_s / number)
    )


def places_of(instance: QueueingInstance) -> list[tuple[Server, tuple[int, ...]]]:
    """Return servers that are alike as one place; each for itself where jobs may not move."""
    if instance.migration:
        return list(instance.server_classes.items())
    return [(server, (s,)) for s, server in enumerate(instance.servers)]


def _fits(instance: QueueingInstance, content: Content, server: Server) -> bool:
    gpus = sum(n * instance.jobs[j].gpus_per_task for j, n in content)
    cpus = sum(n * instance.jobs[j].cpus_per_task for j, n in content)
    return gpus <= server.gpus and cpus <= server.cpus


def _rates(instance: QueueingInstance, contents: list[Content]) -> list[_Rate]:
    """Return what every job does in a slot beside every content it is in."""
    slowdowns = Slowdowns(instance, lots_of(instance, merged=False))
    rates = []
    for c, content in enumerate(contents):
        for (j, n), slowdown in zip(content, slowdowns.of(content), strict=True):
            job = instance.jobs[j]
            whole = n == job.num_tasks
            alone_s = job.base_iteration_s * (1 + slowdown)
            in_rack_s = alone_s if whole else alone_s + job.rack_comm_s
            across_s = alone_s if whole else alone_s + job.cross_comm_s
            rates.append(
                _Rate(c, j, n, int(instance.slot_s // in_rack_s), int(instance.slot_s // across_s))
            )
    return rates


def _add_racks(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    holding: list[list[tuple[int, int]]],
    at: dict[int, list[int]],
) -> None:
    """(3): jobs in several racks."""
    apart = [
        job.num_tasks > 1 and len(instance.racks) > 1 and job.cross_comm_s > job.rack_comm_s
        for job in instance.jobs
    ]
    for j in m.J:
        if not apart[j]:
            m.chi[j, :].fix(0)
    m.JT = pyo.Set(dimen=2, initialize=[(j, t) for j in m.J if apart[j] for t in m.T])
    m.rho = pyo.Var(m.JT, m.R, domain=pyo.Binary, doc="job j is in rack r")

    @m.Constraint(m.JT, m.R, doc="(3): racks in use")
    def rack(m: Any, j: int, t: int, rack: int) -> Any:
        tasks = [
            n * m.z[c, r, t] for c, n in holding[j] for r in at[c] if m.places[r][0].rack == rack
        ]
        return (
            sum(tasks) <= instance.jobs[j].num_tasks * m.rho[j, t, rack]
            if tasks
            else pyo.Constraint.Skip
        )

    @m.Constraint(m.JT, doc="(3): several racks")
    def several_racks(m: Any, j: int, t: int) -> Any:
        return sum(m.rho[j, t, r] for r in m.R) <= 1 + (len(m.R) - 1) * m.chi[j, t]


def _add_progress(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    rates: list[_Rate],
    fastest: list[int],
    at: dict[int, list[int]],
) -> None:
    """(4)-(6): iterations, and when a job is finished."""
    m.N = pyo.RangeSet(0, len(rates) - 1)

    @m.Constraint(m.N, m.T, doc="(4): the slowest task")
    def slowest(m: Any, k: int, t: int) -> Any:
        rate = rates[k]
        if rate.in_rack == fastest[rate.job]:
            return pyo.Constraint.Skip
        lost = fastest[rate.job] - rate.in_rack
        return m.q[rate.job, t] <= rate.in_rack + lost * (1 - m.v[rate.content, t])

    @m.Constraint(m.N, m.T, doc="(4): the slowest task, across racks")
    def slowest_across(m: Any, k: int, t: int) -> Any:
        rate = rates[k]
        if rate.across == rate.in_rack or m.chi[rate.job, t].fixed:
            return pyo.Constraint.Skip
        lost = fastest[rate.job] - rate.across
        off = 2 - m.v[rate.content, t] - m.chi[rate.job, t]
        return m.q[rate.job, t] <= rate.across + lost * off

    of_job: list[list[_Rate]] = [[] for _ in instance.jobs]
    for rate in rates:
        of_job[rate.job].append(rate)

    @m.Constraint(m.J, m.T, doc="(5): no faster than the mean of the tasks")
    def mean(m: Any, j: int, t: int) -> Any:
        over = sum(
            r.in_rack * r.tasks * m.z[r.content, place, t]
            for r in of_job[j]
            if r.in_rack
            for place in at[r.content]
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


def _add_homes(
    m: pyo.ConcreteModel,
    instance: QueueingInstance,
    holding: list[list[tuple[int, int]]],
    at: dict[int, list[int]],
) -> None:
    """(7): jobs that do not move."""
    jobs = instance.jobs
    m.x = pyo.Var(
        m.J, m.K, domain=pyo.NonNegativeIntegers, bounds=lambda m, j, s: (0, jobs[j].num_tasks)
    )

    def before(j: int, t: int) -> Any:
        return m.d[j, t - 1] if t else 0

    def tasks(j: int, s: int, t: int) -> Any:
        return sum(n * m.z[c, s, t] for c, n in holding[j] if s in at[c])

    @m.Constraint(m.J, m.K, m.T, doc="(7): no more than at home")
    def no_more(m: Any, j: int, s: int, t: int) -> Any:
        away = jobs[j].num_tasks * (1 - m.y[j, t] + before(j, t))
        return tasks(j, s, t) - m.x[j, s] <= away

    @m.Constraint(m.J, m.K, m.T, doc="(7): no less than at home")
    def no_less(m: Any, j: int, s: int, t: int) -> Any:
        away = jobs[j].num_tasks * (1 - m.y[j, t] + before(j, t))
        return m.x[j, s] - tasks(j, s, t) <= away

    @m.Constraint(m.J, m.T, doc="(7): no interruption")
    def goes_on(m: Any, j: int, t: int) -> Any:
        if t == 0:
            return pyo.Constraint.Skip
        return m.y[j, t] >= m.y[j, t - 1] - m.d[j, t - 1]


@formulation(
    name="time_slotted_lp",
    model_class="LP",
    strength="relaxation",
    equations="F3 (1)-(7) without integrality (reconstructed)",
)
def build_relaxation(instance: QueueingInstance) -> pyo.ConcreteModel:
    """Its linear relaxation.

    Raises
    ------
    ModelRefused
        If there are too many contents, boards or a network.
    """
    from pyomo.core.plugins.transform.discrete_vars import RelaxIntegerVars

    m = build(instance)
    RelaxIntegerVars().apply_to(m)
    return m


def decode(m: pyo.ConcreteModel, instance: QueueingInstance) -> QueueingSolution:
    """Give the servers of each place their contents, slot by slot."""
    slots = []
    for t in m.T:
        free = [list(reversed(members)) for _, members in m.places]
        tasks: dict[int, list[tuple[int, int]]] = {}
        for c, r in m.PR:
            for _ in range(round(pyo.value(m.z[c, r, t]))):
                s = free[r].pop()
                for j, n in m.contents[c]:
                    tasks.setdefault(j, []).append((s, n))
        slots.append(tuple(Running(job=j, tasks=tuple(sorted(tasks[j]))) for j in sorted(tasks)))
    while slots and not slots[-1]:
        slots.pop()
    return QueueingSolution(slots=tuple(slots))
