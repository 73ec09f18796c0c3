r"""F2: an integer variable for every content of a server and every rack.

Sets: contents P, multisets of jobs that fit into a server, with :math:`\sigma_j(P)` the slowdown of
j in P by any table; servers that are alike, of one size in rack r (with servers of several sizes r
counts sizes, too). Variables: :math:`z_{Pr}` servers with content P; :math:`v_P = 1` if there is
one; :math:`\sigma_j`, :math:`\mu_j`, :math:`\chi_j`, :math:`\rho_{jr}` as in F1.

.. math::
    \min\ & \tfrac{1}{|J|} \sum_j W_j \bigl(t^0_j (1 + \sigma_j) + \beta^{rack}_j \mu_j
        + (\beta^{cross}_j - \beta^{rack}_j) \chi_j\bigr)                                     \\
    & \sum_P z_{Pr} \le |S_r|                                                          \tag{1} \\
    & \sum_{P,r} P_j z_{Pr} = n_j                                                      \tag{2} \\
    & z_{Pr} \le \min(|S_r|, \min_{j \in P} \lfloor n_j / P_j \rfloor) v_P             \tag{3} \\
    & \sigma_j \ge \sigma_j(P) v_P \quad \forall P \ni j                               \tag{4} \\
    & n_j \sigma_j \ge \sum_{P,r} \sigma_j(P) P_j z_{Pr}                               \tag{5} \\
    & \sum_{P \ni j, r} z_{Pr} \le 1 + (n_j - 1) \mu_j, \quad
      \sum_P P_j z_{Pr} \le n_j \rho_{jr}, \quad
      \sum_r \rho_{jr} \le 1 + (|R| - 1) \chi_j, \quad \chi_j \le \mu_j                \tag{6}

(5) is a valid inequality: the largest slowdown is at least the mean over the tasks. Without it the
linear relaxation knows no slowdown. A placement is a list of contents, and servers of a rack are
interchangeable, so that no symmetry of servers is left.

With boards, P is a column: a content of a server with a board, and the GPUs of each of its jobs. Of
the seatings of a content those are kept in which no other serves every job as well. What comes
after the first term of the objective is :math:`c_j` then, with :math:`b_j(P)` the ring of j in P:

.. math::
    & c_j \ge \beta^{rack}_j \mu_j + (\beta^{cross}_j - \beta^{rack}_j) \chi_j, \quad
      c_j \ge V_j / b_j(P)\, v_P \ \ \forall P \ni j, \quad
      n_j c_j \ge \sum_{P,r} V_j / b_j(P)\, P_j z_{Pr}                                     \tag{7}
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.pieces.server_boards import Seating, seatings, undominated
from gadgetopt.system.declaring import formulation

from ....subproblems.contents import Content, Lot, Slowdowns, enumerate_contents, lots_of
from ...formulations.assignment import mean_completion_s
from ...instance import PlacementInstance, PlacementSolution
from ..layout import placed
from ..terms import Terms

#: Contents of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_CONTENTS = 50_000


@dataclass(frozen=True)
class Column:
    """What a server holds.

    Attributes
    ----------
    content : Content
    board : int or None
        Of the server; None without boards.
    seats : tuple
        GPUs of each job of the content; none without boards.
    inside_s : tuple of Fraction
        What an iteration of each job pays for its ring.
    """

    content: Content
    board: int | None = None
    seats: Seating = ()
    inside_s: tuple[Fraction, ...] = ()


def columns_of(instance: PlacementInstance, lots: list[Lot]) -> list[Column]:
    """Return all contents, on boards with the seatings that no other is as good as.

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    contents = contents_of(instance, lots)
    if not instance.boards:
        return [Column(content) for content in contents]
    found: list[Column] = []
    for b, board in enumerate(instance.boards):
        for content in contents:
            needs = [n * instance.jobs[j].gpus_per_task for j, n in content]
            if sum(needs) <= board.gpus:
                sent = [instance.rings_gbytes[j] for j, _ in content]
                ways = undominated(seatings(board, needs, sent))
                found += [Column(content, b, seats, inside_s) for seats, inside_s in ways]
            if len(found) > MOST_CONTENTS:
                raise ModelRefused(f"a server has more than {MOST_CONTENTS} possible columns")
    return found


def contents_of(instance: PlacementInstance, lots: list[Lot]) -> list[Content]:
    """Return all contents of the largest servers.

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    found: set[Content] = set()
    for server in {(server.gpus, server.cpus) for server in instance.servers}:
        found.update(enumerate_contents(lots, *server, MOST_CONTENTS))
    return sorted(found)


@formulation(model_class="MILP", equations="F2 (1)-(6) (reconstructed)")
def build(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Servers of each rack with each content, all contents enumerated.

    Raises
    ------
    ModelRefused
        If there are too many contents.
    """
    jobs = instance.jobs
    lots = lots_of(instance, merged=False)
    columns = columns_of(instance, lots)
    contents = [column.content for column in columns]
    slowdowns = Slowdowns(instance, lots)
    sigma = [coefficients(slowdowns.of(content)) for content in contents]
    holding: list[list[tuple[int, int, int]]] = [[] for _ in jobs]
    for c, content in enumerate(contents):
        for place, (j, n) in enumerate(content):
            holding[j].append((c, place, n))
    classes = list(instance.server_classes.items())

    m = pyo.ConcreteModel("F2")
    m.columns = columns
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.P = pyo.RangeSet(0, len(contents) - 1)
    m.R = pyo.RangeSet(0, len(classes) - 1)
    m.racks = pyo.Set(initialize=instance.racks)
    fitting = [(c, r) for c in m.P for r in m.R if _fits(instance, columns[c], classes[r][0])]
    m.PR = pyo.Set(dimen=2, initialize=fitting)
    most = {
        (c, r): min(len(classes[r][1]), *(jobs[j].num_tasks // n for j, n in contents[c]))
        for c, r in fitting
    }
    m.z = pyo.Var(
        m.PR,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c, r: (0, most[c, r]),
        doc="servers with content P",
    )
    m.v = pyo.Var(m.P, domain=pyo.Binary, doc="some server has content P")
    m.sigma = pyo.Var(
        m.J, bounds=lambda m, j: (0, max((sigma[c][k] for c, k, _ in holding[j]), default=0))
    )
    m.mu = pyo.Var(m.J, domain=pyo.Binary, doc="job j lies on several servers")
    m.chi = pyo.Var(m.J, domain=pyo.Binary, doc="job j lies in several racks")
    m.rho = pyo.Var(m.J, m.racks, domain=pyo.Binary, doc="job j is in rack r")
    at = {c: [r for r in m.R if (c, r) in m.PR] for c in m.P}

    @m.Constraint(m.R, doc="(1): servers")
    def servers(m: Any, r: int) -> Any:
        used = [m.z[c, r] for c in m.P if (c, r) in m.PR]
        return sum(used) <= len(classes[r][1]) if used else pyo.Constraint.Skip

    @m.Constraint(m.J, doc="(2): all tasks are placed")
    def all_placed(m: Any, j: int) -> Any:
        tasks = [n * m.z[c, r] for c, _, n in holding[j] for r in at[c]]
        return sum(tasks) == jobs[j].num_tasks if tasks else pyo.Constraint.Infeasible

    @m.Constraint(m.PR, doc="(3): contents in use")
    def in_use(m: Any, c: int, r: int) -> Any:
        return m.z[c, r] <= most[c, r] * m.v[c]

    @m.Constraint(m.P, m.J, doc="(4): the largest slowdown")
    def largest(m: Any, c: int, j: int) -> Any:
        slowed = [x for x, (k, _) in zip(sigma[c], contents[c], strict=True) if k == j]
        if not slowed or not slowed[0]:
            return pyo.Constraint.Skip
        return m.sigma[j] >= slowed[0] * m.v[c]

    @m.Constraint(m.J, doc="(5): no less than the mean over the tasks")
    def mean(m: Any, j: int) -> Any:
        over = sum(
            sigma[c][k] * n * m.z[c, r] for c, k, n in holding[j] for r in at[c] if sigma[c][k]
        )
        return jobs[j].num_tasks * m.sigma[j] >= over

    _add_spread(m, instance, holding, at, classes)
    if instance.boards:
        _add_rings(m, instance, holding, at)
        objective = with_rings_s(m, instance)
    else:
        objective = mean_completion_s(m, instance)
    m.mean_completion_s = pyo.Objective(expr=objective)
    return m


def _fits(instance: PlacementInstance, column: Column, server: Any) -> bool:
    gpus = sum(n * instance.jobs[j].gpus_per_task for j, n in column.content)
    cpus = sum(n * instance.jobs[j].cpus_per_task for j, n in column.content)
    return gpus <= server.gpus and cpus <= server.cpus and column.board in (None, server.board)


def _add_rings(
    m: pyo.ConcreteModel,
    instance: PlacementInstance,
    holding: list[list[tuple[int, int, int]]],
    at: dict[int, list[int]],
) -> None:
    """(7): what communication costs, in the network or inside servers."""
    add_comm(m, instance)
    inside = [coefficients(column.inside_s) for column in m.columns]
    m.rings = pyo.ConstraintList(doc="(7): the slowest ring")
    m.mean_ring = pyo.ConstraintList(doc="(7): no less than the mean over the tasks")
    for j, job in enumerate(instance.jobs):
        paying = [(c, k, n) for c, k, n in holding[j] if inside[c][k]]
        for c, k, _ in paying:
            m.rings.add(m.comm[j] >= inside[c][k] * m.v[c])
        if paying:
            over = sum(inside[c][k] * n * m.z[c, r] for c, k, n in paying for r in at[c])
            m.mean_ring.add(job.num_tasks * m.comm[j] >= over)


def add_comm(m: pyo.ConcreteModel, instance: PlacementInstance) -> None:
    """Add what an iteration of each job pays for communication, no less than for the network."""
    m.comm = pyo.Var(m.J, domain=pyo.NonNegativeReals, doc="seconds of communication")

    @m.Constraint(m.J, doc="(7): the network")
    def network(m: Any, j: int) -> Any:
        job = instance.jobs[j]
        far_s = coefficient(job.cross_comm_s - job.rack_comm_s)
        return m.comm[j] >= coefficient(job.rack_comm_s) * m.mu[j] + far_s * m.chi[j]


def with_rings_s(m: pyo.ConcreteModel, instance: PlacementInstance) -> Any:
    """Return the objective with what `add_comm` adds."""
    total: Any = 0
    for j, job in enumerate(instance.jobs):
        share = Fraction(job.iterations, len(instance.jobs))
        total += coefficient(share * job.base_iteration_s) * (1 + m.sigma[j])
        total += coefficient(share) * m.comm[j]
    return total


def _add_spread(
    m: pyo.ConcreteModel,
    instance: PlacementInstance,
    holding: list[list[tuple[int, int, int]]],
    at: dict[int, list[int]],
    classes: list[Any],
) -> None:
    """(6): jobs on several servers and in several racks."""
    jobs = instance.jobs
    for j, job in enumerate(jobs):
        if job.num_tasks == 1:
            m.mu[j].fix(0)
        if job.num_tasks == 1 or len(instance.racks) == 1:
            m.chi[j].fix(0)

    @m.Constraint(m.J, doc="(6): several servers")
    def several_servers(m: Any, j: int) -> Any:
        used = [m.z[c, r] for c, _, _ in holding[j] for r in at[c]]
        if jobs[j].num_tasks == 1 or not used:
            return pyo.Constraint.Skip
        return sum(used) <= 1 + (jobs[j].num_tasks - 1) * m.mu[j]

    @m.Constraint(m.J, m.racks, doc="(6): racks in use")
    def rack(m: Any, j: int, rack: int) -> Any:
        tasks = [
            n * m.z[c, r] for c, _, n in holding[j] for r in at[c] if classes[r][0].rack == rack
        ]
        if m.chi[j].fixed or not tasks:
            return pyo.Constraint.Skip
        return sum(tasks) <= jobs[j].num_tasks * m.rho[j, rack]

    @m.Constraint(m.J, doc="(6): several racks")
    def several_racks(m: Any, j: int) -> Any:
        if m.chi[j].fixed:
            return pyo.Constraint.Skip
        return sum(m.rho[j, r] for r in m.racks) <= 1 + (len(m.racks) - 1) * m.chi[j]

    @m.Constraint(m.J, doc="(6): several racks are several servers")
    def racks_are_servers(m: Any, j: int) -> Any:
        return pyo.Constraint.Skip if m.chi[j].fixed else m.chi[j] <= m.mu[j]


def decode(m: pyo.ConcreteModel, instance: PlacementInstance) -> PlacementSolution:
    """Give every server of a class a content."""
    if instance.boards:
        return _seated(m, instance)
    terms = Terms(instance, merged=False)
    numbers = {(kind.gpus, kind.cpus): k for k, kind in enumerate(terms.kinds)}
    servers = []
    for c, r in m.PR:
        server = list(instance.server_classes)[r]
        place = (numbers[server.gpus, server.cpus], server.rack, m.columns[c].content)
        servers += [place] * round(pyo.value(m.z[c, r]))
    return placed(terms, servers)


def _seated(m: pyo.ConcreteModel, instance: PlacementInstance) -> PlacementSolution:
    """Give every server of a class a column, and its jobs their GPUs."""
    free = [list(members) for members in instance.server_classes.values()]
    found: list[list[tuple[int, int, tuple[int, ...]]]] = [[] for _ in instance.jobs]
    for c, r in m.PR:
        for _ in range(round(pyo.value(m.z[c, r]))):
            s = free[r].pop(0)
            for (j, n), gpus in zip(m.columns[c].content, m.columns[c].seats, strict=True):
                found[j].append((s, n, gpus))
    return PlacementSolution(
        tasks=tuple(tuple((s, n) for s, n, _ in sorted(of)) for of in found),
        gpus=tuple(tuple(gpus for _, _, gpus in sorted(of)) for of in found),
    )
