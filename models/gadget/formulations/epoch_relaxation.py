r"""Epoch relaxation in Pyomo: total capacity between arrivals, an upper bound.

The relaxation is (reconstructed); `subproblems/epochs.py` has it as arrays. Sets: jobs i; epochs e,
the intervals between arrivals, :math:`n_e` slots long; levels k of job i, totals worth more than
any smaller total; and, where the table is concave, increments p of falling slope :math:`v_{ip}` and
width :math:`d_{ip}` on top of the last level :math:`L_i`.

.. math::
    \max\ & \textstyle\sum_i \big( u_i(0) + \sum_k (u_i(k) - u_i(0)) \chi_{ik}
        + \sum_p v_{ip} \delta_{ip} \big) \\
    & \textstyle\sum_e z_{ie} \ge \sum_k k \chi_{ik} + \sum_p \delta_{ip} \quad \forall i \\
    & \textstyle\sum_k \chi_{ik} \le 1, \qquad
      \delta_{ip} \le d_{ip} \chi_{i L_i} \quad \forall i, p \\
    & \textstyle\sum_i l_i^r z_{ie} \le n_e \sum_s C_s^r \quad \forall e, r \\
    & 0 \le z_{ie} \le n_e \bar N_i, \quad \chi_{ik} \in \{0, 1\}, \quad
      0 \le \delta_{ip} \le d_{ip} \qquad \text{(D8)}

:math:`\bar N_i` is the largest ring of the job that can be embedded alone. Jobs do not train before
they arrive, and the table ends at the budget (3). A job without a chosen level is worth
:math:`u_i(0)`. A job with a concave table has no levels; its increments start at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from ..instance import GadgetInstance
from ..subproblems.epochs import epochs_of, levels_of
from ..subproblems.max_ring import largest_rings


def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """Build the epoch relaxation (reconstructed); its values are totals, not a decision."""
    terms = instance.terms
    epochs = epochs_of(terms)
    n = epochs.length.tolist()
    largest = largest_rings(terms)
    total_capacity = terms.capacity.sum(axis=0).tolist()
    levels = {job.index: levels_of(job) for job in terms.jobs}
    worth = {
        (i, int(k)): float(u)
        for i, x in levels.items()
        for k, u in zip(x.level, x.level_worth, strict=True)
    }
    piece = {
        (i, p): (float(width), float(slope))
        for i, x in levels.items()
        for p, (width, slope) in enumerate(zip(x.width, x.slope, strict=True))
    }
    last = {i: int(x.level[-1]) for i, x in levels.items() if len(x.level)}

    m = pyo.ConcreteModel("epochs")
    m.I = pyo.RangeSet(0, len(terms.jobs) - 1, doc="jobs")
    m.E = pyo.RangeSet(0, len(n) - 1, doc="epochs")
    m.R = pyo.RangeSet(0, len(instance.resources) - 1, doc="resources")
    present = [(i, e) for i in m.I for e in range(int(epochs.first[i]), len(n))]
    m.IE = pyo.Set(dimen=2, initialize=present, doc="epochs from the arrival of job i on")
    m.K = pyo.Set(dimen=2, initialize=list(worth), doc="levels of the jobs")
    m.P = pyo.Set(dimen=2, initialize=list(piece), doc="increments of the jobs")
    m.z = pyo.Var(
        m.IE, bounds=lambda m, i, e: (0, n[e] * largest[i]), doc="worker-slots of job i in epoch e"
    )
    m.chi = pyo.Var(m.K, domain=pyo.Binary, doc="job i reaches level k")
    m.delta = pyo.Var(
        m.P, bounds=lambda m, i, p: (0, piece[i, p][0]), doc="worker-slots of increment p"
    )

    @m.Constraint(m.I, doc="(D8): a job trains its level and increments")
    def reached(m: Any, i: int) -> Any:
        asked = sum(int(k) * m.chi[i, int(k)] for k in levels[i].level)
        asked += sum(m.delta[i, p] for p in range(len(levels[i].width)))
        trained = sum(m.z[i, e] for e in range(int(epochs.first[i]), len(n)))
        return trained - asked >= 0

    @m.Constraint(m.I, doc="(D8): one level, if any")
    def one_level(m: Any, i: int) -> Any:
        chosen = [m.chi[i, int(k)] for k in levels[i].level]
        return sum(chosen) <= 1 if chosen else pyo.Constraint.Skip

    @m.Constraint(m.P, doc="increments come on top of the last level")
    def increments_on_top(m: Any, i: int, p: int) -> Any:
        if i not in last:
            return pyo.Constraint.Skip
        return m.delta[i, p] <= piece[i, p][0] * m.chi[i, last[i]]

    @m.Constraint(m.E, m.R, doc="(D8): the cluster's capacity in all slots of the epoch")
    def capacity(m: Any, e: int, r: int) -> Any:
        users = np.flatnonzero(epochs.first <= e).tolist()
        load = [int(terms.jobs[i].demand[r]) * m.z[i, e] for i in users if terms.jobs[i].demand[r]]
        return sum(load) <= n[e] * total_capacity[r] if load else pyo.Constraint.Skip

    m.utility = pyo.Objective(
        expr=float(sum(job.utility[0] for job in terms.jobs))
        + sum(u * m.chi[key] for key, u in worth.items())
        + sum(slope * m.delta[key] for key, (_, slope) in piece.items()),
        sense=pyo.maximize,
        doc="(D8)",
    )
    return m
