r"""The constraint program: start times, and at most m jobs at a time.

Variables: the start :math:`a_j` of each job and the makespan C. Jobs are intervals
:math:`[a_j, a_j + p_j)`.

.. math::
    \min\ & C                                                                            \tag{C1} \\
    & \text{cumulative}\big(([a_j, a_j + p_j), 1)_j,\ m\big),
      \quad a_j + p_j \le C \ \forall j                                                  \tag{C2} \\
    & a_i \le a_j \quad \forall i < j: p_i = p_j                                         \tag{C3}

Machines have no number: where at most m jobs run at a time, each that starts finds a machine that
is free. (C3) orders equal jobs.
"""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.graham import list_schedule, makespan_s
from ..counting import combinatorial_bound
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution


class CumulativeModel:
    """The variables, and one method per family of constraints.

    Parameters
    ----------
    instance : ParallelMachinesInstance
    known : list of list of int
        Jobs of each machine in a schedule, whose makespan is the horizon.
    """

    instance: ParallelMachinesInstance
    known: list[list[int]]
    model: cp_model.CpModel

    def __init__(self, instance: ParallelMachinesInstance, known: list[list[int]]):
        self.instance, self.known = instance, known
        self.p: tuple[int, ...] = instance.processing_s
        self.J = range(len(self.p))
        self.horizon_s: int = makespan_s(instance, known)
        self.model = m = cp_model.CpModel()
        self.start: list[cp_model.IntVar] = [
            m.new_int_var(0, self.horizon_s - self.p[j], f"a[{j}]") for j in self.J
        ]
        self.run: list[cp_model.IntervalVar] = [
            m.new_fixed_size_interval_var(self.start[j], self.p[j], f"run[{j}]") for j in self.J
        ]
        self.makespan: cp_model.IntVar = m.new_int_var(
            combinatorial_bound(instance), self.horizon_s, "C"
        )
        m.minimize(self.makespan)

    def machines_are_not_overbooked(self) -> None:
        """(C2): at most m jobs at a time."""
        self.model.add_cumulative(self.run, [1] * len(self.J), self.instance.machines)

    def makespan_spans_jobs(self) -> None:
        """(C2): every job ends by the makespan."""
        for j in self.J:
            self.model.add(self.start[j] + self.p[j] <= self.makespan)

    def equal_jobs_are_ordered(self) -> None:
        """(C3): jobs of one processing time start in order."""
        last: dict[int, int] = {}
        for j in self.J:
            if self.p[j] in last:
                self.model.add(self.start[last[self.p[j]]] <= self.start[j])
            last[self.p[j]] = j

    def hint_known(self) -> None:
        """Suggest the known schedule."""
        starts: dict[int, list[int]] = {}
        for jobs in self.known:
            end_s = 0
            for j in jobs:
                starts.setdefault(self.p[j], []).append(end_s)
                end_s += self.p[j]
        for times in starts.values():
            times.sort(reverse=True)
        for j in self.J:
            self.model.add_hint(self.start[j], starts[self.p[j]].pop())
        self.model.add_hint(self.makespan, self.horizon_s)

    def decode(self, values: Floats) -> ParallelMachinesSolution:
        """Give each job, in order of its start, a machine that is free."""
        start_s = [round(values[a.index]) for a in self.start]
        jobs_of: list[list[int]] = [[] for _ in range(self.instance.used_machines)]
        free_s = [0] * len(jobs_of)
        for j in sorted(self.J, key=lambda j: (start_s[j], j)):
            i = min(range(len(jobs_of)), key=free_s.__getitem__)
            jobs_of[i].append(j)
            free_s[i] = start_s[j] + self.p[j]
        return ParallelMachinesSolution.of(jobs_of)


@method(kind="exact", reference="(C1)-(C3)", formulation="cumulative", backend="cpsat")
def cp_cumulative(instance: ParallelMachinesInstance, limits: Limits) -> MethodOutcome:
    """Start times, and no more than m jobs at a time (native CP-SAT).

    Raises
    ------
    ModelRefused
        If the processing times together have too many digits.
    """
    rng = fixed_rng()
    if instance.total_s >= 2**53:
        raise ModelRefused(f"processing_s: {instance.total_s} s together have too many digits")
    clock = Clock(limits)
    with clock.phase("build"):
        model = CumulativeModel(instance, list_schedule(instance, instance.longest_first))
        model.machines_are_not_overbooked()
        model.makespan_spans_jobs()
        model.equal_jobs_are_ordered()
        model.hint_known()
    with solver_watched(bound_of=round_up):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng))
    return MethodOutcome.of(
        solved,
        None if solved.values is None else model.decode(solved.values),
        bound_of=round_up,
        phases_s=clock.phases_s,
        claimed_objective=solved.objective,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
