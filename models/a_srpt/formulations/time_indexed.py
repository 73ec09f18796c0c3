r"""Time-indexed programs: when each job starts, and in (F) in which configuration.

Sets: jobs j, ticks t, servers m, configurations q of job j with duration :math:`d_j(q)`. Variables:
:math:`z_{j,q,t} = 1` if job j starts at t in configuration q.

.. math::
    \min\ & \sum_{j,q,t} w_j (t + d_j(q))\, z_{j,q,t} \\
    \text{TI-1}\quad & \sum_{q,t} z_{j,q,t} = 1 && \text{for every job} \\
    \text{TI-2}\quad & \sum_{j,q} \sum_{t' = t - d_j(q) + 1}^{t} q_m z_{j,q,t'} \le c_m
        && \text{for every server and tick}

The pool relaxation is the same with one server of G GPUs and one configuration of duration
:math:`d_j^{min}`. Jobs of one (g, d, w) are exchangeable there; by template, an integer variable
:math:`z_{c,t}` counts the starts of a class c with releases :math:`e_1 \le \dots \le e_n`:

.. math::
    \text{TA-1}\quad \sum_t z_{c,t} = n, \qquad
    \text{TA-2}\quad \sum_{t < e_{k+1}} z_{c,t} \le k \ \text{where}\ e_{k+1} > e_k, \qquad
    \text{TA-3}\quad \text{capacity as in TI-2}.

The horizon is :math:`\max r_j + \sum d_j^{max}`, in the pool :math:`\max r_j + \sum d_j^{min}`:
after the last release an optimal schedule is never idle.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import ASrptInstance, ASrptSolution
from ..subproblems.configurations import Configuration, Configurations
from .horizon import refuse_long, refuse_many, safe_horizon


@formulation(model_class="ILP", equations="(5) with configurations", backends=("highs", "cpsat"))
def build(instance: ASrptInstance) -> pyo.ConcreteModel:
    """A binary variable for every job, configuration and start; servers tick by tick.

    Raises
    ------
    ModelRefused
        If there are too many starts.
    """
    servers = range(instance.num_servers)
    horizon = safe_horizon(instance)
    refuse_long(horizon)
    configurations = Configurations(instance)
    ways = [configurations.of(j) for j in range(len(instance.jobs))]
    release = instance.release_ticks.tolist()
    refuse_many(
        sum(horizon - release[j] - c.ticks + 1 for j, of_job in enumerate(ways) for c in of_job)
    )
    m = pyo.ConcreteModel()
    m.J = pyo.RangeSet(0, len(ways) - 1)
    m.T = pyo.RangeSet(0, horizon - 1)
    m.M = pyo.RangeSet(0, len(servers) - 1)
    m.starts = pyo.Set(
        dimen=3,
        initialize=[
            (j, q, t)
            for j, of_job in enumerate(ways)
            for q, c in enumerate(of_job)
            for t in range(release[j], horizon - c.ticks + 1)
        ],
    )
    m.z = pyo.Var(m.starts, domain=pyo.Binary, doc="job j starts at t in configuration q")
    _add_choice(m, ways, release, horizon)
    running = _running(m, ways)

    @m.Constraint(m.M, m.T, doc="TI-2: a server's GPUs")
    def capacity(m: Any, server: int, t: int) -> Any:
        terms = [
            ways[j][q].gpus[server] * m.z[j, q, s]
            for j, q, s in running[t]
            if ways[j][q].gpus[server]
        ]
        return sum(terms) <= instance.gpus_per_server[server] if terms else pyo.Constraint.Skip

    _add_objective(m, instance, ways)
    return m


def decode(model: pyo.ConcreteModel, instance: ASrptInstance) -> ASrptSolution:
    """Return the schedule of the starts that are chosen."""
    configurations = Configurations(instance)
    jobs = range(len(instance.jobs))
    chosen = {j: (q, t) for j, q, t in model.starts if model.z[j, q, t].value > 0.5}
    rows = [configurations.of(j)[chosen[j][0]].gpus for j in jobs]
    return configurations.solution([chosen[j][1] for j in jobs], rows)


def pool_horizon(instance: ASrptInstance) -> int:
    """Return a tick by which some optimal schedule of the pool has ended."""
    return int(instance.release_ticks.max() + instance.min_ticks.sum())


@formulation(
    name="pool_time_indexed",
    model_class="ILP",
    strength="relaxation",
    equations="(5)",
    backends=("highs", "cpsat"),
)
def build_pool(instance: ASrptInstance) -> pyo.ConcreteModel:
    """The pool: one resource, shortest durations.

    Raises
    ------
    ModelRefused
        If there are too many starts.
    """
    horizon = pool_horizon(instance)
    refuse_long(horizon)
    ticks, release = instance.min_ticks.tolist(), instance.release_ticks.tolist()
    gpus = instance.gpus.tolist()
    refuse_many(sum(horizon - r - d + 1 for r, d in zip(release, ticks, strict=True)))
    ways = [[Configuration((g,), d)] for g, d in zip(gpus, ticks, strict=True)]
    m = pyo.ConcreteModel()
    m.J = pyo.RangeSet(0, len(ways) - 1)
    m.T = pyo.RangeSet(0, horizon - 1)
    m.starts = pyo.Set(
        dimen=3,
        initialize=[
            (j, 0, t) for j in range(len(ways)) for t in range(release[j], horizon - ticks[j] + 1)
        ],
    )
    m.z = pyo.Var(m.starts, domain=pyo.Binary, doc="job j starts at t")
    _add_choice(m, ways, release, horizon)
    running = _running(m, ways)

    @m.Constraint(m.T, doc="TI-2: the cluster's GPUs")
    def capacity(m: Any, t: int) -> Any:
        terms = [gpus[j] * m.z[j, q, s] for j, q, s in running[t]]
        return sum(terms) <= instance.total_gpus if terms else pyo.Constraint.Skip

    _add_objective(m, instance, ways)
    return m


@formulation(
    name="pool_templates",
    model_class="ILP",
    strength="relaxation",
    equations="(TI-agg)",
    backends=("highs", "cpsat"),
)
def build_templates(instance: ASrptInstance) -> pyo.ConcreteModel:
    """The pool with equal jobs counted together.

    Raises
    ------
    ModelRefused
        If there are too many starts.
    """
    horizon = pool_horizon(instance)
    refuse_long(horizon)
    classes: dict[tuple[int, int, Fraction], list[int]] = {}
    for g, d, w, r in zip(
        instance.gpus.tolist(),
        instance.min_ticks.tolist(),
        [job.weight for job in instance.jobs],
        instance.release_ticks.tolist(),
        strict=True,
    ):
        classes.setdefault((g, d, w), []).append(r)
    keys, releases = list(classes), [sorted(e) for e in classes.values()]
    refuse_many(sum(horizon - e[0] - k[1] + 1 for e, k in zip(releases, keys, strict=True)))
    m = pyo.ConcreteModel()
    m.C = pyo.RangeSet(0, len(keys) - 1)
    m.T = pyo.RangeSet(0, horizon - 1)
    m.starts = pyo.Set(
        dimen=2,
        initialize=[
            (c, t) for c, e in enumerate(releases) for t in range(e[0], horizon - keys[c][1] + 1)
        ],
    )
    m.z = pyo.Var(
        m.starts,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c, t: (0, min(len(releases[c]), instance.total_gpus // keys[c][0])),
        doc="jobs of class c that start at t",
    )

    @m.Constraint(m.C, doc="TA-1: every job starts")
    def all_start(m: Any, c: int) -> Any:
        ticks = range(releases[c][0], horizon - keys[c][1] + 1)
        return sum(m.z[c, t] for t in ticks) == len(releases[c])

    m.R = pyo.Set(
        dimen=2,
        initialize=[
            (c, k) for c, e in enumerate(releases) for k in range(1, len(e)) if e[k] > e[k - 1]
        ],
    )

    @m.Constraint(m.R, doc="TA-2: no more start than are released")
    def released(m: Any, c: int, k: int) -> Any:
        until = min(releases[c][k], horizon - keys[c][1] + 1)
        return sum(m.z[c, t] for t in range(releases[c][0], until)) <= k

    running: list[list[tuple[int, int]]] = [[] for _ in range(horizon)]
    for c, t in m.starts:
        for tick in range(t, t + keys[c][1]):
            running[tick].append((c, t))

    @m.Constraint(m.T, doc="TA-3: the cluster's GPUs")
    def capacity(m: Any, t: int) -> Any:
        terms = [keys[c][0] * m.z[c, s] for c, s in running[t]]
        return sum(terms) <= instance.total_gpus if terms else pyo.Constraint.Skip

    m.completion = pyo.Objective(
        expr=sum(coefficient(keys[c][2] * (t + keys[c][1])) * m.z[c, t] for c, t in m.starts)
    )
    return m


def _add_choice(
    m: pyo.ConcreteModel, ways: list[list[Configuration]], release: list[int], horizon: int
) -> None:
    @m.Constraint(m.J, doc="TI-1: every job starts once")
    def one_start(m: Any, j: int) -> Any:
        return (
            sum(
                m.z[j, q, t]
                for q, c in enumerate(ways[j])
                for t in range(release[j], horizon - c.ticks + 1)
            )
            == 1
        )


def _running(
    m: pyo.ConcreteModel, ways: list[list[Configuration]]
) -> list[list[tuple[int, int, int]]]:
    """Return the starts under which a job runs in each tick."""
    running: list[list[tuple[int, int, int]]] = [[] for _ in m.T]
    for j, q, s in m.starts:
        for t in range(s, s + ways[j][q].ticks):
            running[t].append((j, q, s))
    return running


def _add_objective(
    m: pyo.ConcreteModel, instance: ASrptInstance, ways: list[list[Configuration]]
) -> None:
    m.completion = pyo.Objective(
        expr=sum(
            coefficient(instance.jobs[j].weight * (t + ways[j][q].ticks)) * m.z[j, q, t]
            for j, q, t in m.starts
        )
    )
