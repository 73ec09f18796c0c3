r"""CP-W: does a schedule end within M slots? A CP-SAT model of few jobs, twice.

Both models are (reconstructed). A job is local on one server s (:math:`l_{js} = 1`) or spread over
r >= 2 servers (:math:`x_{jr} = 1`), and takes the slots that it takes there without contention,
:math:`d_j(1, 0)` or :math:`d_j(r, 1)`. A local job is an optional interval of fixed length and
demand on its server, from which CP-SAT concludes far more than from one interval with variable
demands on all servers (`formulations/cp_model.py`). Only a spread job has variable demands:

.. math::
    \textstyle\sum_s l_{js} + \sum_r x_{jr} = 1, \quad \sum_s y_{js} = G_j \sum_r x_{jr}, \quad
    \sum_s [y_{js} \ge 1] = \sum_r r\, x_{jr}, \quad 0 \le y_{js} < G_j.

* The relaxation lets spread jobs share servers at no cost. With true durations jobs only end later,
  so if it has no schedule within M slots, there is none.
* The restriction lets at most q spread jobs use a server at a time, where q is the highest level
  that slows no job. Then durations are the true ones, so each of its schedules is one.

What may be added changes no answer: that gangs fit the cluster as a whole, and an order of equal
servers and of identical jobs. CP-SAT takes very different times with and without, and with and
without its linear relaxation.
"""

from __future__ import annotations

from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.cpsat import value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model

from ...instance import SjfBcoInstance, SjfBcoSolution
from ...rates import RateTable
from ...size_limits import refuse_many_pairs
from ...subproblems.symmetry import (
    equal_servers,
    identical_jobs,
    neighbours,
)


def free_level(instance: SjfBcoInstance) -> int:
    """Return the highest level at which every spread job is as fast as alone."""
    rates = instance.rates
    spread = [(j, r) for j in range(len(rates.gpus)) for r in rates.server_counts(j) if r > 1]
    for p in range(2, rates.max_level + 1):
        if any(rates.rate(j, r, p) < rates.rate(j, r, 1) for j, r in spread):
            return p - 1
    return max(1, rates.max_level)


class WithinModel:
    """Variables and constraints of the relaxation; the rest is added by methods.

    Parameters
    ----------
    instance : SjfBcoInstance
    makespan : int
        M in slots.

    Raises
    ------
    ModelRefused
        If there are too many pairs of jobs and servers.
    """

    def __init__(self, instance: SjfBcoInstance, makespan: int):
        refuse_many_pairs(instance)
        self.instance, self.makespan = instance, makespan
        self.rates: RateTable = instance.rates
        self.J, self.S = range(len(instance.jobs)), range(len(instance.server_gpus))
        self.model = m = cp_model.CpModel()
        self.start = [m.new_int_var(0, makespan, f"a[{j}]") for j in self.J]
        #: l_js, x_jr, and for spread jobs y_js and whether it is positive.
        self.local: dict[tuple[int, int], cp_model.IntVar] = {}
        self.spread: dict[tuple[int, int], cp_model.IntVar] = {}
        self.y: dict[tuple[int, int], cp_model.IntVar] = {}
        self.uses: dict[tuple[int, int], cp_model.IntVar] = {}
        #: Duration, end and interval of a spread job, there if it is spread.
        self.run: dict[int, tuple[cp_model.IntVar, cp_model.IntVar, cp_model.IntervalVar]] = {}
        #: Intervals and demands on each server.
        self._held: dict[int, list[tuple[cp_model.IntervalVar, cp_model.LinearExprT]]] = {
            s: [] for s in self.S
        }
        for j in self.J:
            self._may_be_local(j)
            self._may_be_spread(j)
            of_job = [x for (i, _), x in (*self.local.items(), *self.spread.items()) if i == j]
            m.add_exactly_one(of_job)
        for s, capacity in enumerate(instance.server_gpus):
            held = self._held[s]
            m.add_cumulative([run for run, _ in held], [gpus for _, gpus in held], capacity)

    def _slots(self, j: int, r: int) -> int | None:
        """Return the slots of job j on r servers without contention, None if more than M."""
        slots = self.rates.duration(j, r, self.rates.levels(r)[0])
        return slots if slots is not None and slots <= self.makespan else None

    def _may_be_local(self, j: int) -> None:
        """On one server, job j is an interval of fixed length there."""
        gang = self.rates.gpus[j]
        slots = self._slots(j, 1) if 1 in self.rates.server_counts(j) else None
        if slots is None:
            return
        for s, capacity in enumerate(self.instance.server_gpus):
            if gang <= capacity:
                here = self.local[j, s] = self.model.new_bool_var(f"l[{j},{s}]")
                run = self.model.new_optional_fixed_size_interval_var(
                    self.start[j], slots, here, f"run[{j},{s}]"
                )
                self._held[s].append((run, gang))
                self.model.add(self.start[j] <= self.makespan - slots).only_enforce_if(here)

    def _may_be_spread(self, j: int) -> None:
        """On several servers, job j holds its gang, less than the gang on each."""
        m, gang = self.model, self.rates.gpus[j]
        slots = {r: d for r in self.rates.server_counts(j) if r > 1 and (d := self._slots(j, r))}
        if not slots:
            return
        for r in slots:
            self.spread[j, r] = m.new_bool_var(f"x[{j},{r}]")
        is_spread = m.new_bool_var(f"x[{j}]")
        m.add(sum(self.spread[j, r] for r in slots) == is_spread)
        duration = m.new_int_var(min(slots.values()), max(slots.values()), f"d[{j}]")
        end = m.new_int_var(0, self.makespan, f"e[{j}]")
        for r, d in slots.items():
            m.add(duration == d).only_enforce_if(self.spread[j, r])
        run = m.new_optional_interval_var(self.start[j], duration, end, is_spread, f"run[{j}]")
        self.run[j] = duration, end, run
        for s, capacity in enumerate(self.instance.server_gpus):
            y = self.y[j, s] = m.new_int_var(0, min(capacity, gang - 1), f"y[{j},{s}]")
            uses = self.uses[j, s] = m.new_bool_var(f"u[{j},{s}]")
            m.add(y >= 1).only_enforce_if(uses)
            m.add(y == 0).only_enforce_if(~uses)
            m.add_implication(uses, is_spread)
            self._held[s].append((run, y))
        m.add(sum(self.y[j, s] for s in self.S) == gang * is_spread)
        m.add(sum(self.uses[j, s] for s in self.S) == sum(r * self.spread[j, r] for r in slots))

    # -- what may be added -----------------------------------------------------------------------

    def spread_jobs_never_slow_down(self) -> None:
        """The restriction: no more spread jobs use a server at a time than slow no job."""
        level = free_level(self.instance)
        for s in self.S:
            runs = [
                self.model.new_optional_interval_var(
                    self.start[j], duration, end, self.uses[j, s], f"n[{j},{s}]"
                )
                for j, (duration, end, _) in self.run.items()
            ]
            if level == 1:
                self.model.add_no_overlap(runs)
            else:
                self.model.add_cumulative(runs, [1] * len(runs), level)

    def gangs_fit_the_cluster(self) -> None:
        """The cluster holds no more GPUs than it has."""
        m, runs = self.model, []
        for j in self.J:
            slots = {x: self._slots(j, r) for (i, r), x in self.spread.items() if i == j} | {
                x: self._slots(j, 1) for (i, _), x in self.local.items() if i == j
            }
            duration = m.new_int_var(0, self.makespan, f"d[{j}]")
            end = m.new_int_var(0, self.makespan, f"e[{j}]")
            for x, d in slots.items():
                m.add(duration == d).only_enforce_if(x)
            runs.append(m.new_interval_var(self.start[j], duration, end, f"run[{j}]"))
        m.add_cumulative(runs, self.rates.gpus, self.instance.total_gpus)

    def exchangeable_jobs_and_servers_are_ordered(self) -> None:
        """Identical jobs start in order of index; equal servers are ordered by load."""
        for i, j in neighbours(identical_jobs(self.instance)):
            self.model.add(self.start[i] <= self.start[j])
        for pair in neighbours(equal_servers(self.instance)):
            rank = [sum((j + 1) * self._gpus(j, s) for j in self.J) for s in pair]
            self.model.add(rank[0] >= rank[1])

    def _gpus(self, j: int, s: int) -> cp_model.LinearExprT:
        """Return the GPUs of job j on server s."""
        local = self.rates.gpus[j] * self.local[j, s] if (j, s) in self.local else 0
        return local + self.y.get((j, s), 0)

    def decode(self, values: Floats) -> SjfBcoSolution:
        """Return starts and placements from values by variable index."""
        placement = []
        for j in self.J:
            gpus = {}
            for s in self.S:
                if (j, s) in self.local and value_of(values, self.local[j, s]):
                    gpus[s] = self.rates.gpus[j]
                elif (j, s) in self.y and (on_server := value_of(values, self.y[j, s])):
                    gpus[s] = on_server
            placement.append(gpus)
        return SjfBcoSolution(
            start_slot=tuple(value_of(values, a) for a in self.start), placement=tuple(placement)
        )
