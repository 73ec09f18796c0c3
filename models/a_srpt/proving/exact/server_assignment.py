"""Servers for a schedule of the pool: which keep every job at its shortest duration.

Starts are given, so every job runs in a known interval, and CP-SAT chooses the arrangement of its
GPUs: a variable for every one, and a row for every server and every moment at which a job starts.
Servers of one size are interchangeable; so are the jobs, where they hold the same GPUs.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ...subproblems.configurations import (
    Configurations,
    Row,
)


def servers_for(
    configurations: Configurations, starts: Ints, limits: Limits, seed: int
) -> tuple[Status, list[Row]]:
    """Return GPUs on every server for every job that keep these starts and shortest durations.

    Returns
    -------
    status : Status
        `OPTIMAL` if there are such, `INFEASIBLE` if there are none, else `NO_SOLUTION`.
    rows : list of tuple of int
    """
    instance = configurations.instance
    ends = starts + instance.min_ticks
    model = cp_model.CpModel()
    chosen = []
    for j in range(len(starts)):
        rows = [c.gpus for c in configurations.fastest(j)]
        literals = [model.new_bool_var("") for _ in rows]
        model.add_exactly_one(literals)
        chosen.append((rows, literals))
    for now in np.unique(starts):
        running = np.flatnonzero((starts <= now) & (now < ends))
        for m, capacity in enumerate(instance.gpus_per_server):
            terms = [
                row[m] * literal
                for j in running
                for row, literal in zip(*chosen[j], strict=True)
                if row[m]
            ]
            model.add(sum(terms) <= capacity)
    solved = solve_cp(model, limits, seed)
    if solved.values is None:
        return solved.status, []
    values = solved.values
    return Status.OPTIMAL, [
        next(row for row, literal in zip(rows, literals, strict=True) if value_of(values, literal))
        for rows, literals in chosen
    ]
