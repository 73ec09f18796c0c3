r"""Constraint programs of (F) and of the pool, for CP-SAT.

Every job j has a start in :math:`[r_j, L_j - d_j]`, where :math:`L_j` bounds its completion in any
schedule as good as a known one, an end, and the objective is :math:`\sum w_j C_j`.

* Model A: an optional interval of fixed length for every configuration q, exactly one of which is
  present; a cumulative constraint for every server.
* Model B: integers :math:`q_{j,m}` and a duration tied to them by a table of configurations; a
  cumulative constraint for every server with these demands.
* Pool: an interval of the shortest duration with demand :math:`g_j` in one cumulative constraint.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.solvers.cpsat import value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model

from ...instance import ASrptInstance
from ...subproblems.configurations import Configurations, Row
from ..serial_schedule import Schedule, latest_starts


class ScheduleModel:
    """Starts, ends and the objective; one method per family of constraints.

    Parameters
    ----------
    instance : ASrptInstance
    known : Schedule
        Schedules worse than this one are left out.
    allowed : array of bool, shape (jobs, ticks), optional
        Starts that a schedule may have.
    """

    instance: ASrptInstance
    known: Schedule
    model: cp_model.CpModel

    def __init__(self, instance: ASrptInstance, known: Schedule, allowed: Bools | None = None):
        self.instance, self.known = instance, known
        self.J = range(len(instance.jobs))
        self.model = m = cp_model.CpModel()
        latest = latest_starts(instance, known.value)
        self.horizon: int = int((latest + instance.max_ticks).max())
        self.shortest: list[int] = instance.min_ticks.tolist()
        self.start: list[cp_model.IntVar] = []
        for j in self.J:
            if allowed is None:
                domain = cp_model.Domain(int(instance.release_ticks[j]), int(latest[j]))
            else:
                domain = cp_model.Domain.from_values(np.flatnonzero(allowed[j]).tolist())
            self.start.append(m.new_int_var_from_domain(domain, f"start[{j}]"))
        self.end: list[cp_model.IntVar] = [
            m.new_int_var(
                int(instance.release_ticks[j]) + self.shortest[j],
                int(latest[j]) + self.shortest[j],
                f"end[{j}]",
            )
            for j in self.J
        ]
        self.cost: int = sum(
            int(w) * e for w, e in zip(instance.whole_weights, self.end, strict=True)
        )
        m.minimize(self.cost)
        self.rows: list[list[tuple[Row, cp_model.IntVar]]] = []
        self.gpus: list[list[cp_model.IntVar]] = []

    def costs_at_least(self, bound: int) -> None:
        """Add a known bound, times the weight scale."""
        self.model.add(self.cost >= bound)

    def one_interval_a_configuration(self, configurations: Configurations) -> None:
        """Model A."""
        m = self.model
        demands: list[list[tuple[cp_model.IntervalVar, int]]] = [
            [] for _ in self.instance.gpus_per_server
        ]
        for j in self.J:
            entries = []
            for q, c in enumerate(configurations.of(j)):
                present = m.new_bool_var(f"present[{j},{q}]")
                run = m.new_optional_interval_var(
                    self.start[j], c.ticks, self.end[j], present, f"run[{j},{q}]"
                )
                entries.append((c.gpus, present))
                for server, gpus in enumerate(c.gpus):
                    if gpus:
                        demands[server].append((run, gpus))
                if c.gpus == self.known.rows[j]:
                    m.add_hint(present, True)
            m.add_exactly_one([present for _, present in entries])
            self.rows.append(entries)
        for pairs, capacity in zip(demands, self.instance.gpus_per_server, strict=True):
            m.add_cumulative([run for run, _ in pairs], [x for _, x in pairs], capacity)

    def gpus_from_a_table(self, configurations: Configurations) -> None:
        """Model B."""
        m, capacities = self.model, self.instance.gpus_per_server
        runs = []
        for j in self.J:
            ways = configurations.of(j)
            gpus = [
                m.new_int_var(0, max(c.gpus[s] for c in ways), f"gpus[{j},{s}]")
                for s in range(len(capacities))
            ]
            ticks = m.new_int_var_from_domain(
                cp_model.Domain.from_values(sorted({c.ticks for c in ways})), f"ticks[{j}]"
            )
            m.add_allowed_assignments([*gpus, ticks], [(*c.gpus, c.ticks) for c in ways])
            runs.append(m.new_interval_var(self.start[j], ticks, self.end[j], f"run[{j}]"))
            self.gpus.append(gpus)
            for variable, x in zip(gpus, self.known.rows[j], strict=True):
                m.add_hint(variable, x)
        for s, capacity in enumerate(capacities):
            m.add_cumulative(runs, [gpus[s] for gpus in self.gpus], capacity)
        m.add_cumulative(runs, self.instance.gpus.tolist(), self.instance.total_gpus)

    def costs_at_most(self, bound: int) -> None:
        """Ask for any schedule of this cost, times the weight scale."""
        self.model.clear_objective()
        self.model.add(self.cost <= bound)

    def one_literal_a_start(self, allowed: Bools) -> None:
        """Add the rows of (5), with jobs at their shortest: the pool as a time-indexed program."""
        m, total = self.model, self.instance.total_gpus
        demands: dict[int, list[tuple[int, cp_model.IntVar]]] = {}
        for j, (gpus, ticks) in enumerate(zip(self.instance.gpus, self.shortest, strict=True)):
            starts = np.flatnonzero(allowed[j]).tolist()
            literals = [m.new_bool_var(f"start[{j}]={t}") for t in starts]
            m.add_exactly_one(literals)
            m.add(self.start[j] == sum(t * x for t, x in zip(starts, literals, strict=True)))
            for t, x in zip(starts, literals, strict=True):
                for now in range(t, t + ticks):
                    demands.setdefault(now, []).append((int(gpus), x))
        for pairs in demands.values():
            if sum(gpus for gpus, _ in pairs) > total:
                m.add(sum(gpus * x for gpus, x in pairs) <= total)

    def pool_of_shortest_jobs(self) -> None:
        """Add the pool: shortest durations and one resource."""
        runs = [
            self.model.new_interval_var(self.start[j], ticks, self.end[j], f"run[{j}]")
            for j, ticks in enumerate(self.shortest)
        ]
        demands = self.instance.gpus.tolist()
        self.model.add_cumulative(runs, demands, self.instance.total_gpus)

    def hint_starts(self) -> None:
        """Suggest the known schedule's starts."""
        for j in self.J:
            self.model.add_hint(self.start[j], int(self.known.starts[j]))

    def decode(self, values: Floats) -> tuple[list[int], list[Row]]:
        """Return starts and GPUs on every server."""
        starts = [value_of(values, start) for start in self.start]
        if self.gpus:
            return starts, [tuple(value_of(values, x) for x in row) for row in self.gpus]
        return starts, [
            next(row for row, present in entries if value_of(values, present))
            for entries in self.rows
        ]
