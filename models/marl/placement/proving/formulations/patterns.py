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
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficients
from gadgetopt.system.declaring import formulation

from ....subproblems.contents import Content, Lot, Slowdowns, enumerate_contents, lots_of
from ...formulations.assignment import mean_completion_s
from ...instance import PlacementInstance, PlacementSolution
from ..layout import placed
from ..terms import Terms

#: Contents of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_CONTENTS = 50_000


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
    contents = contents_of(instance, lots)
    slowdowns = Slowdowns(instance, lots)
    sigma = [coefficients(slowdowns.of(content)) for content in contents]
    holding: list[list[tuple[int, int, int]]] = [[] for _ in jobs]
    for c, content in enumerate(contents):
        for place, (j, n) in enumerate(content):
            holding[j].append((c, place, n))
    classes = list(instance.server_classes.items())

    m = pyo.ConcreteModel("F2")
    m.contents = contents
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.P = pyo.RangeSet(0, len(contents) - 1)
    m.R = pyo.RangeSet(0, len(classes) - 1)
    m.racks = pyo.Set(initialize=instance.racks)
    fitting = [(c, r) for c in m.P for r in m.R if _fits(instance, contents[c], classes[r][0])]
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
    m.mean_completion_s = pyo.Objective(expr=mean_completion_s(m, instance))
    return m


def _fits(instance: PlacementInstance, content: Content, server: Any) -> bool:
    gpus = sum(n * instance.jobs[j].gpus_per_task for j, n in content)
    cpus = sum(n * instance.jobs[j].cpus_per_task for j, n in content)
    return gpus <= server.gpus and cpus <= server.cpus


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
    terms = Terms(instance, merged=False)
    numbers = {(kind.gpus, kind.cpus): k for k, kind in enumerate(terms.kinds)}
    servers = []
    for c, r in m.PR:
        server = list(instance.server_classes)[r]
        place = (numbers[server.gpus, server.cpus], server.rack, m.contents[c])
        servers += [place] * round(pyo.value(m.z[c, r]))
    return placed(terms, servers)
