r"""The evaluator: utility and violated constraints of a decision, exact, from the raw data.

It is written from the problem statement (1)-(9) and shares no code with the derived constants, the
models or the algorithms of this folder. A job with w workers and s servers in a slot trains

.. math::
    N = \frac{w}{\tau + \frac{2 g \gamma}{b F}}, \qquad
    N^{actual} = \frac{w}{\tau + \frac{w}{F} \frac{2 g}{s b}}                             \tag{1}

samples in it, with b the internal bandwidth if and only if all its workers and servers are on one
machine. The first form has the nominal ratio gamma in the place of w / s and decides feasibility;
as (6) asks for at least w / gamma servers, the second is never slower. Amounts and samples are
rationals, as the decimals they are written as, so that nothing is compared with a tolerance.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.pieces.utility import NEGLIGIBLE
from gadgetopt.system.result import Evaluation, Violation

from .instance import Job, PdOrsInstance, PdOrsSolution, SlotPlan, TableUtility


@dataclass(frozen=True)
class SlotCourse:
    """Workers, servers and samples of one job in one slot.

    Attributes
    ----------
    slot, workers, servers : int
    machines : int
        Machines with a worker or a server of the job.
    internal : bool
        True if it trains at the internal speed.
    samples, samples_actual : Fraction
        Trained at the nominal ratio of workers to servers, and at the ratio that there is.
    """

    slot: int
    workers: int
    servers: int
    machines: int
    internal: bool
    samples: Fraction
    samples_actual: Fraction


@dataclass(frozen=True)
class Course:
    """Course of one accepted job over its slots.

    Attributes
    ----------
    slots : tuple of SlotCourse
        In the order of time.
    completion : int or None
        The last slot with a worker.
    effective_completion : int or None
        The first slot by whose end the work is done; None if it never is.
    """

    slots: tuple[SlotCourse, ...]
    completion: int | None
    effective_completion: int | None

    @property
    def samples(self) -> Fraction:
        """Samples trained in all."""
        return sum((c.samples for c in self.slots), Fraction(0))


def evaluate(instance: PdOrsInstance, solution: PdOrsSolution) -> Evaluation:
    """Recompute the total utility of `solution` and list everything wrong with it.

    Returns
    -------
    Evaluation
        Objective: the utility of the accepted jobs (2); None if the solution does not describe
        every job, or names a slot or machine that the job cannot use, or one twice. Components:
        accepted jobs, the median training time (of a job that is not accepted the horizon), the
        part of the worker-slots at internal speed, the part of every resource used over the
        horizon, servers in slots without a worker, and jobs that work on after they are done.

    Notes
    -----
    Constraints: `missing_job`, `slot` (8: before the arrival, or after the horizon),
    `unknown_machine`, `repeated`, `work` (3), `batch` (4), `capacity` (5), `ratio` (6),
    `spread` (a job on several machines where only one is allowed). Amounts are exact.
    """
    broken = tuple(_shape_violations(instance, solution))
    if broken:
        return Evaluation(None, broken)
    found = courses(instance, solution)
    used = _Use(instance, solution)
    violations = [
        violation
        for i, course in enumerate(found)
        if course is not None
        for violation in _job_violations(instance, i, course)
    ]
    violations += used.violations()
    return Evaluation(
        math.fsum(
            utility(job, course.completion)
            for job, course in zip(instance.jobs, found, strict=True)
            if course is not None and course.completion is not None
        ),
        tuple(violations),
        {**_components(instance, found), **used.parts()},
    )


def courses(instance: PdOrsInstance, solution: PdOrsSolution) -> list[Course | None]:
    """Return the course of each job; None for a job that is not accepted."""
    return [
        None if schedule is None else _course(instance, job, schedule)
        for job, schedule in zip(instance.jobs, solution.schedules, strict=True)
    ]


def utility(job: Job, completion: int) -> float:
    """Return u_i of completing in a slot, without overflow; 0 where a sigmoid is negligible."""
    late = completion - job.arrival_slot
    u = job.utility
    if isinstance(u, TableUtility):
        return u.values[late] if late < len(u.values) else 0.0
    z = u.theta2 * (late - u.theta3)
    # exp of the negative argument only, which may underflow but not overflow.
    small = math.exp(-abs(z))
    part = (small if z > 0 else 1.0) / (1.0 + small)
    return u.theta1 * part if part >= NEGLIGIBLE else 0.0


def _course(instance: PdOrsInstance, job: Job, schedule: tuple[SlotPlan, ...]) -> Course:
    slots = tuple(
        _slot_course(instance, job, plan) for plan in sorted(schedule, key=lambda p: p.slot)
    )
    completion = max((c.slot for c in slots if c.workers), default=None)
    wanted = job.epochs * job.samples
    done, effective = Fraction(0), None
    for c in slots:
        done += c.samples
        if done >= wanted:
            effective = c.slot
            break
    return Course(slots, completion, effective)


def _slot_course(instance: PdOrsInstance, job: Job, plan: SlotPlan) -> SlotCourse:
    w = sum(p.workers for p in plan.placements)
    s = sum(p.servers for p in plan.placements)
    machines = sum(p.workers + p.servers > 0 for p in plan.placements)
    internal = machines == 1 and instance.locality != "external_only"
    gbps = job.bandwidth_internal_gbps if internal else job.bandwidth_external_gbps
    b = decimal_rational(gbps) * decimal_rational(instance.slot_s)
    tau, g = decimal_rational(job.sample_time_slots), decimal_rational(job.gradient_gbit)
    gamma = decimal_rational(job.worker_ps_ratio)
    F = job.global_batch
    samples = w / (tau + 2 * g * gamma / (b * F))
    actual = w / (tau + Fraction(w, F) * 2 * g / (s * b)) if s else Fraction(0)
    return SlotCourse(plan.slot, w, s, machines, internal, samples, actual)


def _shape_violations(instance: PdOrsInstance, solution: PdOrsSolution) -> Iterator[Violation]:
    jobs, T, H = len(instance.jobs), instance.horizon_slots, len(instance.machines)
    if len(solution.schedules) != jobs:
        yield Violation("missing_job", f"schedules of {jobs}", jobs - len(solution.schedules))
        return
    for i, (job, schedule) in enumerate(zip(instance.jobs, solution.schedules, strict=True)):
        for t, times in Counter(plan.slot for plan in schedule or ()).items():
            if times > 1:
                yield Violation("repeated", f"job {i}, slot {t}", times - 1)
            if t < job.arrival_slot:
                yield Violation("slot", f"job {i}, slot {t}", job.arrival_slot - t)
            if t > T:
                yield Violation("slot", f"job {i}, slot {t}", t - T)
        for plan in schedule or ():
            for h, times in Counter(p.machine for p in plan.placements).items():
                if times > 1:
                    yield Violation(
                        "repeated", f"job {i}, slot {plan.slot}, machine {h}", times - 1
                    )
                if h >= H:
                    where = f"job {i}, slot {plan.slot}, machine {h}"
                    yield Violation("unknown_machine", where, h - H + 1)


def _job_violations(instance: PdOrsInstance, i: int, course: Course) -> Iterator[Violation]:
    job = instance.jobs[i]
    gamma = decimal_rational(job.worker_ps_ratio)
    for c in course.slots:
        where = f"job {i}, slot {c.slot}"
        if c.workers > job.global_batch:
            yield Violation("batch", where, c.workers - job.global_batch)
        short = c.workers - gamma * c.servers
        if short > 0 or (instance.ratio == "exact" and short):
            yield Violation("ratio", where, abs(short))
        if instance.locality == "internal_only" and c.machines > 1:
            yield Violation("spread", where, c.machines - 1)
    missing = job.epochs * job.samples - course.samples
    if missing > 0:
        yield Violation("work", f"job {i}, samples", missing)


class _Use:
    """Use of every resource by machine and slot, in whole multiples of a common unit."""

    def __init__(self, instance: PdOrsInstance, solution: PdOrsSolution):
        self.instance = instance
        rows = [machine.capacity for machine in instance.machines]
        for job in instance.jobs:
            rows += [job.worker_demand, job.ps_demand]
        exact = [[decimal_rational(x) for x in row] for row in rows]
        # Fractions of small units would make large plans slow.
        self.per_one = [
            math.lcm(*(x.denominator for x in column)) for column in zip(*exact, strict=True)
        ]
        whole = [[int(x * d) for x, d in zip(row, self.per_one, strict=True)] for row in exact]
        self.capacity, demands = whole[: len(instance.machines)], whole[len(instance.machines) :]
        self.used: defaultdict[tuple[int, int], list[int]] = defaultdict(
            lambda: [0] * len(instance.resources)
        )
        for i, schedule in enumerate(solution.schedules):
            alpha, beta = demands[2 * i], demands[2 * i + 1]
            for plan in schedule or ():
                for p in plan.placements:
                    row = self.used[plan.slot, p.machine]
                    for r in range(len(row)):
                        row[r] += alpha[r] * p.workers + beta[r] * p.servers

    def violations(self) -> Iterator[Violation]:
        """Yield what exceeds a machine (5), with its amount."""
        for (t, h), row in sorted(self.used.items()):
            for r, name in enumerate(self.instance.resources):
                excess = row[r] - self.capacity[h][r]
                if excess > 0:
                    where = f"slot {t}, machine {h}, {name}"
                    yield Violation("capacity", where, Fraction(excess, self.per_one[r]))

    def parts(self) -> dict[str, Number]:
        """Return what part of every resource is used over all machines and slots."""
        out: dict[str, Number] = {}
        for r, name in enumerate(self.instance.resources):
            there = self.instance.horizon_slots * sum(row[r] for row in self.capacity)
            used = sum(row[r] for row in self.used.values())
            out[f"used_{name}"] = used / there if there else 0.0
        return out


def _components(instance: PdOrsInstance, found: list[Course | None]) -> dict[str, Number]:
    T = instance.horizon_slots
    times = [
        T if c is None or c.completion is None else c.completion - job.arrival_slot + 1
        for job, c in zip(instance.jobs, found, strict=True)
    ]
    slots = [slot for c in found if c is not None for slot in c.slots]
    worker_slots = sum(c.workers for c in slots)
    internal = sum(c.workers for c in slots if c.internal)
    return {
        "accepted_jobs": sum(c is not None for c in found),
        "median_training_slots": statistics.median(times),
        "internal_share": internal / worker_slots if worker_slots else 0.0,
        "idle_servers": sum(c.servers for c in slots if not c.workers),
        "jobs_done_early": sum(
            c is not None and c.effective_completion not in (None, c.completion) for c in found
        ),
    }
