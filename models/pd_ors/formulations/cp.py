r"""The whole horizon as a CP-SAT model: that of `compact.py` in whole numbers.

Reconstructed. The work condition :math:`\sigma A + B \ge W` of integers A, B is a condition
:math:`a A + b B \ge c` of small whole numbers (`whole_work`), so that nothing is rounded there. S1
to S4 of `compact.py` are in it, with a, b, c for :math:`\sigma`, 1, W.

Utilities are rounded up to multiples of 1/S, with S a power of two. Hence CP-SAT's bound, divided
by S, bounds the optimum as it stands, and the schedule found is less than I/S below the optimum, I
being the number of jobs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.decoding import slot_plan, solution
from ..terms import JobTerms
from .aggregated import completions, useful_jobs
from .compact import internal_machines, refuse_too_many

#: Bits of the sum of all utilities. By definition.
UTILITY_BITS = 40

#: Finer lattices than this are refused: sums over a horizon must stay below 2^63. By definition.
FINEST_LATTICE = 2**40


@dataclass(frozen=True)
class WholeWork:
    """The work condition of a job in whole numbers.

    A internal and B external worker-slots suffice if and only if
    `internal * A + external * B >= level`.
    """

    internal: int
    external: int
    level: int


def whole_work(job: JobTerms) -> WholeWork:
    r"""Return small whole numbers (a, b, c) that decide as :math:`\sigma A + B \ge W` does.

    With b = 1, 2, 4, ... and :math:`a = \lfloor b \sigma \rceil`, c is the least value of a pair
    that suffices, and all is well if that of every pair that does not is less. This happens by the
    time that b exceeds A over the distance between the two in the exact condition.

    Raises
    ------
    ModelRefused
        If no b up to `FINEST_LATTICE` will do.
    """
    needed = job.external_needed.tolist()
    b = 1
    while b <= FINEST_LATTICE:
        a = round(b * job.sigma)
        c = min(a * A + b * B for A, B in enumerate(needed))
        if max(a * A + b * (B - 1) for A, B in enumerate(needed) if B) < c:
            return WholeWork(a, b, c)
        b *= 2
    raise ModelRefused(f"job {job.index}: its work is too close to a multiple of worker-slots")


def utility_scale(jobs: list[JobTerms]) -> float:
    """Return S, the power of two by which all utilities together have `UTILITY_BITS` bits."""
    total = sum(float(job.utility.max()) for job in jobs)
    return math.ldexp(1.0, UTILITY_BITS - math.frexp(total)[1])


class HorizonModel:
    """Variables of the model, and a method for each family of constraints.

    Parameters
    ----------
    instance : PdOrsInstance
    jobs : list of JobTerms
        Those that can complete while they are worth something.
    clock : Clock
        Building raises `TimeoutError` when time is up.

    Raises
    ------
    ModelRefused
        If there are too many triples of job, machine and slot, as for `compact`.
    """

    clock: Clock
    instance: PdOrsInstance
    jobs: list[JobTerms]

    def __init__(self, instance: PdOrsInstance, jobs: list[JobTerms], clock: Clock):
        self.instance, self.jobs, self.clock = instance, jobs, clock
        self.H = range(len(instance.machines))
        self.D = {job.index: completions(job) for job in jobs}
        self.slots: dict[int, range] = {
            job.index: range(job.arrival, self.D[job.index][-1] + 1) for job in jobs
        }
        refuse_too_many(len(self.H) * sum(map(len, self.slots.values())))
        self.work: dict[int, WholeWork] = {job.index: whole_work(job) for job in jobs}
        self.model: cp_model.CpModel = cp_model.CpModel()
        new = self.model.new_bool_var
        self.y: dict[tuple[int, int], cp_model.IntVar] = {
            (i, t): new(f"y[{i},{t}]") for i in self.D for t in self.D[i]
        }
        self.z: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self.q: dict[tuple[int, int], cp_model.IntVar] = {}
        self.internal: dict[tuple[int, int, int], tuple[cp_model.IntVar, cp_model.IntVar]] = {}
        self.external: dict[tuple[int, int, int], tuple[cp_model.IntVar, cp_model.IntVar]] = {}
        for job in jobs:
            self._add_counts(job)

    def _add_counts(self, job: JobTerms) -> None:
        """Add modes, workers and servers of a job."""
        self._check_time()
        i, model = job.index, self.model
        for t in self.slots[i]:
            for h, most in internal_machines(job).items():
                self.z[i, h, t] = model.new_bool_var(f"z[{i},{h},{t}]")
                self.internal[i, h, t] = self._pair(most, int(job.servers[most]), f"I[{i},{h},{t}]")
            if not job.most_external:
                continue
            self.q[i, t] = model.new_bool_var(f"q[{i},{t}]")
            for h in self.H:
                workers, servers = int(job.most_workers_on[h]), int(job.most_servers_on[h])
                self.external[i, h, t] = self._pair(workers, servers, f"E[{i},{h},{t}]")

    def _pair(
        self, workers: int, servers: int, name: str
    ) -> tuple[cp_model.IntVar, cp_model.IntVar]:
        return (
            self.model.new_int_var(0, workers, f"w{name}"),
            self.model.new_int_var(0, servers, f"s{name}"),
        )

    def _check_time(self) -> None:
        if self.clock.expired:
            raise TimeoutError

    # -- constraints -------------------------------------------------------------------------

    def jobs_complete_once(self) -> None:
        """(20): at most one completion slot."""
        for i, slots in self.D.items():
            self.model.add_at_most_one(self.y[i, t] for t in slots)

    def slots_have_one_mode(self) -> None:
        """(22): one mode per slot, and none after completion."""
        for i, slots in self.slots.items():
            for t in slots:
                modes = [self.z[i, h, t] for h in self.H if (i, h, t) in self.z]
                modes += [self.q[i, t]] if (i, t) in self.q else []
                self.model.add(sum(modes) <= sum(self.y[i, d] for d in self.D[i] if d >= t))

    def internal_blocks_are_on_their_machine(self) -> None:
        """(23), S4: workers with their servers, at least one, only where the job runs."""
        for job in self.jobs:
            most = internal_machines(job)
            for t in self.slots[job.index]:
                for h, M in most.items():
                    z = self.z[job.index, h, t]
                    w, s = self.internal[job.index, h, t]
                    self.model.add(w <= M * z)
                    self.model.add(s <= int(job.servers[M]) * z)
                    self.model.add(s >= z)
                    self._servers_suffice(job, w, s)

    def spread_jobs_have_their_servers(self) -> None:
        """(24), S4: workers with their servers, at least one, only where the job is spread."""
        for job in self.jobs:
            for t in self.slots[job.index]:
                if (job.index, t) not in self.q:
                    continue
                q = self.q[job.index, t]
                pairs = [self.external[job.index, h, t] for h in self.H]
                for h, (w, s) in enumerate(pairs):
                    self.model.add(w <= int(job.most_workers_on[h]) * q)
                    self.model.add(s <= int(job.most_servers_on[h]) * q)
                workers, servers = sum(w for w, _ in pairs), sum(s for _, s in pairs)
                self.model.add(workers <= job.most_external * q)
                self.model.add(servers >= q)
                self._servers_suffice(job, workers, servers)

    def _servers_suffice(
        self, job: JobTerms, workers: cp_model.LinearExprT, servers: cp_model.LinearExprT
    ) -> None:
        p, q = job.gamma.numerator, job.gamma.denominator
        if self.instance.ratio == "exact":
            self.model.add(p * servers == q * workers)
        else:
            self.model.add(p * servers >= q * workers)

    def machines_have_capacity(self) -> None:
        """(25): no machine holds more than it has, in any slot."""
        C = self.instance.terms.capacity.tolist()
        for t in range(1, self.instance.horizon_slots + 1):
            self._check_time()
            for h in self.H:
                held = [
                    (job, pair)
                    for job in self.jobs
                    for kind in (self.internal, self.external)
                    if (pair := kind.get((job.index, h, t))) is not None
                ]
                for r, capacity in enumerate(C[h]):
                    used = [
                        int(job.alpha[r]) * w + int(job.beta[r]) * s
                        for job, (w, s) in held
                        if job.alpha[r] or job.beta[r]
                    ]
                    if used:
                        self.model.add(sum(used) <= capacity)

    def work_is_done(self) -> None:
        """S2 and S3: progress and worker-slots by every slot."""
        for job in self.jobs:
            self._check_time()
            i, work = job.index, self.work[job.index]
            most = max(
                work.internal * int(job.most_internal.max()), work.external * job.most_external
            )
            done: cp_model.LinearExprT = 0
            count: cp_model.LinearExprT = 0
            for t in self.slots[i]:
                inside = sum(self.internal[i, h, t][0] for h in self.H if (i, h, t) in self.z)
                outside = sum(self.external[i, h, t][0] for h in self.H if (i, t) in self.q)
                done = done + work.internal * inside + work.external * outside
                count = count + inside + outside
                due = {d: work.level - max(0, d - t) * most for d in self.D[i]}
                if max(due.values()) > 0:
                    self.model.add(
                        done >= sum(level * self.y[i, d] for d, level in due.items() if level > 0)
                    )
                completed = [self.y[i, d] for d in self.D[i] if d <= t]
                if completed:
                    self.model.add(count >= job.least_worker_slots * sum(completed))

    def utility_is_maximised(self, scale: float) -> None:
        """(19), in multiples of 1 / scale, rounded up."""
        self.model.maximize(
            sum(
                math.ceil(float(job.utility[t]) * scale) * self.y[job.index, t]
                for job in self.jobs
                for t in self.D[job.index]
            )
        )

    # -- the solution ------------------------------------------------------------------------

    def decode(self, values: np.ndarray) -> PdOrsSolution:
        """Return the decision of an incumbent."""
        plans = {}
        for job in self.jobs:
            i = job.index
            if any(value_of(values, self.y[i, t]) for t in self.D[i]):
                plans[i] = [slot_plan(job, t, self._counts(values, i, t)) for t in self.slots[i]]
        return solution(self.instance, plans)

    def _counts(self, values: np.ndarray, i: int, t: int) -> dict[int, tuple[int, int]]:
        for kind, runs in (
            (self.internal, [h for h in self.H if self._holds(values, self.z.get((i, h, t)))]),
            (self.external, self.H if self._holds(values, self.q.get((i, t))) else []),
        ):
            if runs:
                found = {h: kind[i, h, t] for h in runs}
                return {
                    h: (value_of(values, w), value_of(values, s)) for h, (w, s) in found.items()
                }
        return {}

    @staticmethod
    def _holds(values: np.ndarray, variable: cp_model.IntVar | None) -> bool:
        return variable is not None and bool(value_of(values, variable))


def assemble(instance: PdOrsInstance, jobs: list[JobTerms], clock: Clock) -> HorizonModel:
    """Build the whole model but its objective.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    model = HorizonModel(instance, jobs, clock)
    model.jobs_complete_once()
    model.slots_have_one_mode()
    model.internal_blocks_are_on_their_machine()
    model.spread_jobs_have_their_servers()
    model.machines_have_capacity()
    model.work_is_done()
    return model


@method(kind="exact", reference="(19)-(25) (reconstructed)", formulation="cpsat", backend="cpsat")
def cpsat(instance: PdOrsInstance, limits: Limits) -> MethodOutcome:
    """The whole horizon in CP-SAT, utilities in whole numbers, the bound corrected for it.

    Raises
    ------
    ModelRefused
        If the model is too large, or the work of a job has no condition in whole numbers of
        reasonable size.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    seed = seed_of(rng)
    jobs = useful_jobs(instance)
    if not jobs:
        return MethodOutcome(solution(instance, {}), 0.0, 0.0)
    scale = utility_scale(jobs)
    try:
        with clock.phase("build"):
            model = assemble(instance, jobs, clock)
            model.utility_is_maximised(scale)
    except TimeoutError:
        return MethodOutcome(solution(instance, {}), 0.0, limit_hit="time_s")
    with solver_watched(scale):
        solved = solve_cp(model.model, clock.limits(), seed)
    return MethodOutcome.of(
        solved,
        solution(instance, {}) if solved.values is None else model.decode(solved.values),
        scale=scale,
        phases_s=clock.phases_s,
        notes={"rounding_of_utilities": len(model.jobs) / scale},
    )
