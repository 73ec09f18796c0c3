r"""Dorm: most utilisation within limits on unfairness and on changes, at every event.

P. Sun, Y. Wen, N. B. D. Ta, S. Yan, "Towards Distributed Machine Learning in Shared Clusters: A
Dynamically-Partitioned Approach", IEEE SMARTCOMP 2017 (details reconstructed: recalled). Whenever a
job arrives or completes, with A the active jobs, of which those in R already hold
:math:`\bar w, \bar s`:

.. math::
    \max\ & \sum_{i,h,r} \frac{\alpha_i^r w_{ih} + \beta_i^r s_{ih}}{\sum_h C_h^r}
            + (|R| + 1) \sum_i a_i                                              \tag{D1} \\
    & \sum_i (\alpha_i^r w_{ih} + \beta_i^r s_{ih}) \le C_h^r                   \tag{D2} \\
    & a_i \le \sum_h w_{ih} \le F_i                                             \tag{D3} \\
    & \sum_h w_{ih} \le \gamma_i \sum_h s_{ih} < \sum_h w_{ih} + \gamma_i       \tag{D4} \\
    & l_i \ge |d_i - \hat d_i|, \quad \sum_i l_i \le \lceil 2 |R| \theta_1 \rceil \tag{D5} \\
    & |w_{ih} - \bar w_{ih}| \le F_i c_i, \quad
      |s_{ih} - \bar s_{ih}| \le \lceil F_i / \gamma_i \rceil c_i, \quad
      \sum_i c_i \le \lceil \theta_2 |R| \rceil \text{ over running } i         \tag{D6}

with :math:`d_i` the share of the resource that dominates a bundle of gamma workers and a server,
and :math:`\hat d_i` that share under DRF. That as many jobs as possible have a worker comes first,
by the weight of a_i (reconstructed); the right side of (D4) keeps utilisation from being raised by
idle servers (reconstructed).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import PdOrsInstance
from ..subproblems.prices import by_arrival
from ..terms import JobTerms
from .fifo_drf import (
    Counts,
    Course,
    fair_shares,
    outcome_of_courses,
)

Held = dict[int, Counts]


@method(kind="baseline", reference="baseline Dorm (reconstructed: recalled)")
def dorm(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    unfairness: float = 0.1,
    changes: float = 0.1,
    event_time_s: float = 10.0,
) -> MethodOutcome:
    r"""Dorm: a MILP of use, fairness and few changes whenever a job comes or goes.

    Between events jobs keep what they hold. Where (D5) leaves no solution it is left out. The
    solver starts from running jobs as they are and fair shares of the free capacity for the new
    ones; where it finds nothing in time, this start is used (all reconstructed).

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` ends the simulation; unfinished jobs are then rejected.
    unfairness, changes : float
        theta_1 and theta_2.
    event_time_s : float
        Limit of the solver for each MILP. The result depends on the speed of the machine;
        `events_stopped` in the notes counts how often it was not enough.

    Raises
    ------
    ModelRefused
        If jobs are not to be spread, which Dorm does not know.
    """
    rng = fixed_rng()
    if instance.locality == "internal_only":
        raise ModelRefused("dorm: spreads jobs over machines, which the instance forbids")
    clock, terms = Clock(limits), instance.terms
    seed = seed_of(rng)
    courses = [Course(job) for job in terms.jobs]
    order, limit_hit = by_arrival(instance), None
    held: Held = {}
    events = stopped = 0
    for t in range(1, terms.horizon + 1):
        if clock.expired:
            limit_hit = "time_s"
            break
        active = [i for i in order if terms.jobs[i].arrival <= t and not courses[i].complete]
        arrived = any(terms.jobs[i].arrival == t for i in active)
        completed = [i for i in held if courses[i].complete]
        for i in completed:
            del held[i]
        if active and (arrived or completed):
            events += 1
            of_event = Clock(clock.limits(at_most_s=event_time_s))
            held, in_time = _allocation(instance, active, held, unfairness, changes, of_event, seed)
            stopped += not in_time
        for i, counts in held.items():
            courses[i].train(t, counts)
    outcome = outcome_of_courses(instance, courses, limit_hit)
    outcome.notes.update({"events": events, "events_stopped": stopped})
    return outcome


def build(
    instance: PdOrsInstance,
    active: Sequence[int],
    held: Mapping[int, Counts],
    *,
    unfairness: float = 0.1,
    changes: float = 0.1,
    fair: bool = True,
) -> pyo.ConcreteModel:
    """Build (D1)-(D6) for one event, with values from which a solver can start.

    Parameters
    ----------
    instance : PdOrsInstance
    active : sequence of int
        Jobs that have arrived and are not done.
    held : mapping
        Of the running ones, machine to workers and servers.
    unfairness, changes : float
        theta_1 and theta_2.
    fair : bool
        True if (D5) is in the model.
    """
    terms = instance.terms
    jobs, C = terms.jobs, terms.capacity.tolist()
    total = terms.capacity.sum(axis=0).tolist()
    used = [r for r, amount in enumerate(total) if amount]
    running = [i for i in active if i in held]
    start = _start(instance, active, held)
    many = len(instance.resources)

    m = pyo.ConcreteModel("Dorm")
    m.A = pyo.Set(initialize=list(active))
    m.G = pyo.Set(initialize=running, doc="running jobs")
    m.H = pyo.RangeSet(0, len(C) - 1)
    m.R = pyo.Set(initialize=used)
    m.w = pyo.Var(
        m.A,
        m.H,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, h: (0, int(jobs[i].most_workers_on[h])),
        initialize=lambda m, i, h: start.get(i, {}).get(h, (0, 0))[0],
    )
    m.s = pyo.Var(
        m.A,
        m.H,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, h: (0, int(jobs[i].most_servers_on[h])),
        initialize=lambda m, i, h: start.get(i, {}).get(h, (0, 0))[1],
    )
    m.a = pyo.Var(m.A, domain=pyo.Binary, initialize=lambda m, i: int(i in start))
    m.c = pyo.Var(m.G, domain=pyo.Binary, initialize=0, doc="what the job holds changes")

    def workers(i: int) -> Any:
        return sum(m.w[i, h] for h in m.H)

    def servers(i: int) -> Any:
        return sum(m.s[i, h] for h in m.H)

    def taken(i: int, r: int) -> Any:
        return int(jobs[i].alpha[r]) * workers(i) + int(jobs[i].beta[r]) * servers(i)

    @m.Constraint(m.H, m.R, doc="(D2)")
    def capacity(m: Any, h: int, r: int) -> Any:
        load = [
            int(jobs[i].alpha[r]) * m.w[i, h] + int(jobs[i].beta[r]) * m.s[i, h]
            for i in m.A
            if jobs[i].alpha[r] or jobs[i].beta[r]
        ]
        return sum(load) <= C[h][r] if load else pyo.Constraint.Skip

    @m.Constraint(m.A, doc="(D3): a served job has a worker")
    def served(m: Any, i: int) -> Any:
        return m.a[i] <= workers(i)

    @m.Constraint(m.A, doc="(D3)")
    def batch(m: Any, i: int) -> Any:
        return workers(i) <= jobs[i].batch

    @m.Constraint(m.A, doc="(D4): enough servers")
    def ratio(m: Any, i: int) -> Any:
        p, q = jobs[i].gamma.numerator, jobs[i].gamma.denominator
        if instance.ratio == "exact":
            return p * servers(i) == q * workers(i)
        return p * servers(i) >= q * workers(i)

    @m.Constraint(m.A, doc="(D4): not one more than that, in whole numbers")
    def no_idle_server(m: Any, i: int) -> Any:
        p, q = jobs[i].gamma.numerator, jobs[i].gamma.denominator
        return p * (servers(i) - 1) <= q * workers(i) - 1

    if fair:
        _add_fairness(m, instance, taken, unfairness)

    @m.Constraint(m.G, m.H, ["more", "less"], doc="(D6): workers that change")
    def workers_kept(m: Any, i: int, h: int, way: str) -> Any:
        sign = 1 if way == "more" else -1
        return sign * (m.w[i, h] - held[i].get(h, (0, 0))[0]) <= jobs[i].batch * m.c[i]

    @m.Constraint(m.G, m.H, ["more", "less"], doc="(D6): servers that change")
    def servers_kept(m: Any, i: int, h: int, way: str) -> Any:
        sign, most = (1 if way == "more" else -1), int(jobs[i].servers[-1])
        return sign * (m.s[i, h] - held[i].get(h, (0, 0))[1]) <= most * m.c[i]

    if running:
        m.few_changes = pyo.Constraint(
            expr=sum(m.c[i] for i in m.G) <= math.ceil(changes * len(running)), doc="(D6)"
        )
    m.utilisation = pyo.Objective(
        expr=sum(taken(i, r) / total[r] for i in m.A for r in m.R)
        + (many + 1) * sum(m.a[i] for i in m.A),
        sense=pyo.maximize,
        doc="(D1)",
    )
    return m


def _add_fairness(
    m: pyo.ConcreteModel, instance: PdOrsInstance, taken: Any, unfairness: float
) -> None:
    jobs, total = instance.terms.jobs, instance.terms.capacity.sum(axis=0)
    shares = fair_shares(instance, list(m.A))
    dominant = {i: _dominant(jobs[i], total) for i in m.A}
    wanted = {}
    for i in m.A:
        mine = shares.get(i, {}).values()
        n, k = sum(w for w, _ in mine), sum(s for _, s in mine)
        amount = n * jobs[i].alpha + k * jobs[i].beta
        r = dominant[i]
        wanted[i] = 0.0 if r is None else float(amount[r]) / float(total[r])
    m.l = pyo.Var(m.A, domain=pyo.NonNegativeReals, bounds=(0, 1), doc="loss of fairness")

    @m.Constraint(m.A, ["above", "below"], doc="(D5): difference to the share under DRF")
    def loss(m: Any, i: int, way: str) -> Any:
        r = dominant[i]
        if r is None:
            return pyo.Constraint.Skip
        difference = taken(i, r) / float(total[r]) - wanted[i]
        return m.l[i] >= (difference if way == "above" else -difference)

    most = math.ceil(2 * len(instance.resources) * unfairness)
    m.fairness = pyo.Constraint(expr=sum(m.l[i] for i in m.A) <= most, doc="(D5)")


def _dominant(job: JobTerms, total: np.ndarray) -> int | None:
    """Return the resource with the largest share taken by gamma workers and a server."""
    bundle = float(job.gamma) * job.alpha + job.beta
    share = np.where(total > 0, bundle / np.maximum(total, 1), 0.0)
    return int(share.argmax()) if share.any() else None


def _allocation(
    instance: PdOrsInstance,
    active: Sequence[int],
    held: Held,
    unfairness: float,
    changes: float,
    clock: Clock,
    seed: int,
) -> tuple[Held, bool]:
    """Return the units of the active jobs after an event, and True if the solver finished."""
    for fair in (True, False):
        m = build(instance, active, held, unfairness=unfairness, changes=changes, fair=fair)
        solved = solve_model(m, "highs", clock.limits(), seed, warm_start=True)
        if solved.status in (Status.OPTIMAL, Status.FEASIBLE):
            return _read(m), solved.limit_hit in (None, "gap")
        if solved.status is not Status.INFEASIBLE:
            break
    return _start(instance, active, held), False


def _start(instance: PdOrsInstance, active: Sequence[int], held: Mapping[int, Counts]) -> Held:
    """Return the units of running jobs, and fair shares of the free capacity for the others."""
    new = [i for i in active if i not in held]
    return {**held, **fair_shares(instance, new, held)}


def _read(m: pyo.ConcreteModel) -> Held:
    out: Held = {}
    for i in m.A:
        pairs = {h: [round(pyo.value(m.w[i, h])), round(pyo.value(m.s[i, h]))] for h in m.H}
        mine = {h: pair for h, pair in pairs.items() if any(pair)}
        if mine:
            out[i] = mine
    return out
