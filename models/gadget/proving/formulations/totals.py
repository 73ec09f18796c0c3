"""Rows of (D8) that relaxations over epochs share: worker-slots, totals and the utility."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.core as pyo

from ...subproblems.levels import levels_of
from ...terms import Terms
from ..certificate.epochs import Epochs


def add_totals(m: Any, terms: Terms, epochs: Epochs, largest: Sequence[int]) -> None:
    """Add worker-slots, levels and increments of totals, and the utility: (D8).

    Parameters
    ----------
    m : pyo.ConcreteModel
    terms : Terms
    epochs : Epochs
    largest : sequence of int
        Largest ring of each job. The bound on worker-slots that it gives keeps the bound of rounded
        duals finite, also where other rows imply it.
    """
    n = epochs.length.tolist()
    levels = {job.index: levels_of(job) for job in terms.jobs}
    worth = {
        (i, int(k)): float(u)
        for i, x in levels.items()
        for k, u in zip(x.level, x.level_worth, strict=True)
    }
    piece = {
        (i, p): (int(width), float(slope))
        for i, x in levels.items()
        for p, (width, slope) in enumerate(zip(x.width, x.slope, strict=True))
    }
    last = {i: int(x.level[-1]) for i, x in levels.items() if len(x.level)}

    m.I = pyo.RangeSet(0, len(terms.jobs) - 1, doc="jobs")
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
        asked = [int(k) * m.chi[i, int(k)] for k in levels[i].level]
        asked += [m.delta[i, p] for p in range(len(levels[i].width))]
        trained = sum(m.z[i, e] for e in range(int(epochs.first[i]), len(n)))
        return trained - sum(asked) >= 0 if asked else pyo.Constraint.Skip

    @m.Constraint(m.I, doc="(D8): one level, if any")
    def one_level(m: Any, i: int) -> Any:
        chosen = [m.chi[i, int(k)] for k in levels[i].level]
        return sum(chosen) <= 1 if chosen else pyo.Constraint.Skip

    @m.Constraint(m.P, doc="increments come on top of the last level")
    def increments_on_top(m: Any, i: int, p: int) -> Any:
        if i not in last:
            return pyo.Constraint.Skip
        return m.delta[i, p] <= piece[i, p][0] * m.chi[i, last[i]]

    m.utility = pyo.Objective(
        expr=float(sum(job.utility[0] for job in terms.jobs))
        + sum(u * m.chi[key] for key, u in worth.items())
        + sum(slope * m.delta[key] for key, (_, slope) in piece.items()),
        sense=pyo.maximize,
        doc="(D8)",
    )
