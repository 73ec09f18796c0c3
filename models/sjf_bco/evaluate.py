r"""Exact evaluation of a solution: makespan and violations by equations (1)-(9).

The evaluator follows the problem statement in rational arithmetic and shares no table with the
solvers. Job j starts at the beginning of slot a_j and holds y_js GPUs on each server until it has
done F_j iterations. In a slot in which it is active it does floor(1/tau_j) iterations, where

.. math::
    \tau_j = \frac{\frac{m_j}{G_j} 2 (G_j - 1)}{B_j} + \frac{\frac{m_j}{G_j} (G_j - 1)}{C}
        + \xi_2 \omega r_j + \Delta^f_j M_j + \Delta^b_j                                  \tag{8}

with B_j = b^i on one server and B_j = b^e / f(alpha, k_j) on several, k_j = max(1, xi_1 p_j), and
p_j the largest number of active spread jobs on any server that j uses (6)-(7). Levels change only
when a spread job starts or completes, so the slots between two events are one step. The clamp
k_j >= 1, half-open slots, and non-negative rather than positive y_js are (reconstructed): there the
paper is ambiguous or contradicts itself.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, pairwise

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.result import Evaluation, Violation

from .instance import SjfBcoInstance, SjfBcoSolution


@dataclass
class Simulation:
    """Simulated execution of a schedule.

    Attributes
    ----------
    completion : list of int or None
        The instant C_j at which each job completes; None for a job that stalls forever.
    phases : list of list of (start, end, level)
        The slots each job spends at each contention level, in order.
    """

    completion: list[int | None]
    phases: list[list[tuple[int, int, int]]] = field(default_factory=list)


def evaluate(instance: SjfBcoInstance, solution: SjfBcoSolution) -> Evaluation:
    """Recompute the makespan of `solution` and list all violations.

    Returns
    -------
    Evaluation
        Objective: the makespan in slots, the largest completion instant; None if a job never
        completes or the solution does not cover every job. Components: mean, smallest and largest
        completion, GPU utilisation, spread jobs, the largest contention level, and the slots lost
        to contention.

    Notes
    -----
    Constraints: `missing_job`, `negative` (a GPU count or start below 0), `unknown_server`, `gang`
    (1), `capacity` (2), `preemption` (3: a stated completion before the job is done), `stalled`
    (9), `horizon`, `gpu_ids` (stated GPUs that do not exist, contradict the counts or are shared).
    """
    broken = list(_shape_violations(instance, solution))
    if broken:
        return Evaluation(objective=None, violations=tuple(broken))
    simulation = simulate(instance, solution)
    violations = [
        *_gang_violations(instance, solution),
        *_completion_violations(instance, solution, simulation),
        *_capacity_violations(instance, solution, simulation),
        *_gpu_id_violations(instance, solution, simulation),
    ]
    finished = [c for c in simulation.completion if c is not None]
    if len(finished) < len(instance.jobs):
        return Evaluation(objective=None, violations=tuple(violations))
    makespan = max(finished)
    busy = sum(
        (c - a) * sum(y.values())
        for a, c, y in zip(solution.start_slot, finished, solution.placement, strict=True)
    )
    components: dict[str, Number] = {
        "mean_completion_slots": Fraction(sum(finished), len(finished)),
        "min_completion_slots": min(finished),
        "max_completion_slots": makespan,
        "gpu_utilisation": Fraction(busy, makespan * instance.total_gpus),
        "spread_jobs": sum(_spread(y) for y in solution.placement),
        "largest_level": max((p for phases in simulation.phases for _, _, p in phases), default=0),
        "contention_slots": _contention_slots(instance, solution, simulation),
    }
    return Evaluation(makespan, tuple(violations), components)


def simulate(
    instance: SjfBcoInstance, solution: SjfBcoSolution, clock: IterationClock | None = None
) -> Simulation:
    """Simulate the schedule event by event: starts, completions, and the levels between them.

    Schedules with the same placement can share a `clock`, which caches rates.
    """
    clock = clock or IterationClock(instance, solution.placement)
    used = [[s for s, count in y.items() if count > 0] for y in solution.placement]
    spread = [len(servers) > 1 for servers in used]
    remaining = [job.iterations for job in instance.jobs]
    level = [0] * len(remaining)
    rate = [0] * len(remaining)
    since = [0] * len(remaining)  # instant up to which `remaining` is up to date
    version = [0] * len(remaining)
    spread_on: defaultdict[int, set[int]] = defaultdict(set)
    completion: list[int | None] = [None] * len(remaining)
    phases: list[list[tuple[int, int, int]]] = [[] for _ in remaining]
    finishes: list[tuple[int, int, int]] = []
    starts = sorted((a, j) for j, a in enumerate(solution.start_slot))

    def account(j: int, now: int) -> None:
        """Credit job j with the slots since its last update."""
        if now > since[j]:
            remaining[j] -= rate[j] * (now - since[j])
            phases[j].append((since[j], now, level[j]))
            since[j] = now

    def set_rate(j: int, now: int) -> None:
        """Set the current level of job j and predict its completion."""
        p = max(len(spread_on[s]) for s in used[j]) if spread[j] else 0
        if version[j] and p == level[j]:
            return
        account(j, now)
        level[j], rate[j] = p, clock.rate(j, p)
        version[j] += 1
        if rate[j]:
            heapq.heappush(finishes, (now - (-remaining[j] // rate[j]), j, version[j]))

    next_start = 0
    while next_start < len(starts) or finishes:
        if finishes and finishes[0][2] != version[finishes[0][1]]:
            heapq.heappop(finishes)
            continue
        upcoming = [finishes[0][0]] if finishes else []
        if next_start < len(starts):
            upcoming.append(starts[next_start][0])
        now = min(upcoming)
        touched: set[int] = set()
        # Completions release their GPUs before new jobs start in the same slot.
        while finishes and finishes[0][0] == now:
            _, j, stamp = heapq.heappop(finishes)
            if stamp != version[j]:
                continue
            account(j, now)
            completion[j] = now
            version[j] += 1
            if spread[j]:
                for s in used[j]:
                    spread_on[s].discard(j)
                    touched.add(s)
        while next_start < len(starts) and starts[next_start][0] == now:
            j = starts[next_start][1]
            next_start += 1
            since[j] = now
            if spread[j]:
                for s in used[j]:
                    spread_on[s].add(j)
                    touched.add(s)
            else:
                set_rate(j, now)
        for j in {i for s in touched for i in spread_on[s]}:
            set_rate(j, now)
    return Simulation(completion, [_merged(p) for p in phases])


class IterationClock:
    """Rates floor(1/tau_j) by (8) for the placements of one schedule, cached per job and level."""

    def __init__(self, instance: SjfBcoInstance, placement: tuple[Mapping[int, int], ...]):
        self.instance = instance
        self.placement = placement
        self.known: dict[tuple[int, int], int] = {}
        self.intra: Fraction = decimal_rational(instance.intra_bw_mb_per_slot)
        self.inter: Fraction = decimal_rational(instance.inter_bw_mb_per_slot)
        self.reduce: Fraction = decimal_rational(instance.gpu_reduce_mb_per_slot)
        self.alpha: Fraction = decimal_rational(instance.degradation_alpha)
        self.xi_1: Fraction = decimal_rational(instance.contention_coeff)
        self.overhead: Fraction = decimal_rational(instance.overhead_coeff) * decimal_rational(
            instance.overhead_unit_slots
        )

    def rate(self, j: int, p: int) -> int:
        """Return the number of iterations that job j completes in a slot at level p."""
        if (j, p) not in self.known:
            tau = self.tau(j, p)
            self.known[j, p] = tau.denominator // tau.numerator
        return self.known[j, p]

    def tau(self, j: int, p: int) -> Fraction:
        """Return the slots that one iteration of job j takes at level p, by (8)."""
        job, workers = self.instance.jobs[j], self.instance.jobs[j].gpus
        servers = sum(1 for y in self.placement[j].values() if y > 0)
        bandwidth = self.inter / self.degradation(p) if p else self.intra
        share = decimal_rational(job.grad_size_mb) / workers
        overhead = self.overhead * servers
        if servers == 1 and self.instance.overhead_free_local:
            overhead = Fraction(0)
        return (
            share * 2 * (workers - 1) / bandwidth
            + share * (workers - 1) / self.reduce
            + overhead
            + decimal_rational(job.fwd_slots_per_sample) * decimal_rational(job.minibatch_samples)
            + decimal_rational(job.bwd_slots)
        )

    def degradation(self, p: int) -> Fraction:
        """Return f(alpha, k) = k + alpha (k - 1) at k = xi_1 p, by option clamped at 1."""
        k = self.xi_1 * p
        if self.instance.clamp_contention and k < 1:
            k = Fraction(1)
        return k + self.alpha * (k - 1)


def _spread(y: Mapping[int, int]) -> bool:
    return sum(1 for count in y.values() if count > 0) > 1


def _merged(phases: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge adjacent phases of the same level."""
    out: list[tuple[int, int, int]] = []
    for p, group in groupby(phases, key=lambda phase: phase[2]):
        run = list(group)
        out.append((run[0][0], run[-1][1], p))
    return out


def _contention_slots(
    instance: SjfBcoInstance, solution: SjfBcoSolution, simulation: Simulation
) -> int:
    """Return the slots lost to contention: total execution time less that at the best level."""
    clock = IterationClock(instance, solution.placement)
    lost = 0
    for j, job in enumerate(instance.jobs):
        done = simulation.completion[j]
        alone = clock.rate(j, 1 if _spread(solution.placement[j]) else 0)
        if done is not None and alone:
            lost += done - solution.start_slot[j] - -(-job.iterations // alone)
    return lost


# -- violations --------------------------------------------------------------------------------


def _shape_violations(instance: SjfBcoInstance, solution: SjfBcoSolution) -> Iterator[Violation]:
    """Yield violations that make a simulation impossible."""
    jobs, servers = len(instance.jobs), len(instance.server_gpus)
    lists = {
        "start_slot": solution.start_slot,
        "placement": solution.placement,
        "completion_slot": solution.completion_slot,
        "gpu_ids": solution.gpu_ids,
    }
    for name, entries in lists.items():
        if entries is not None and len(entries) != jobs:
            yield Violation("missing_job", f"{name} of {jobs} jobs", jobs - len(entries))
    for j, a in enumerate(solution.start_slot):
        if a < 0:
            yield Violation("negative", f"start_slot[{j}]", -a)
    for j, y in enumerate(solution.placement):
        for s, count in y.items():
            if count < 0:
                yield Violation("negative", f"placement[{j}][{s}]", -count)
            if s >= servers:
                yield Violation("unknown_server", f"placement[{j}][{s}]", s - servers + 1)
        if j < jobs and sum(y.values()) <= 0:
            yield Violation("gang", f"job {j}", instance.jobs[j].gpus)


def _gang_violations(instance: SjfBcoInstance, solution: SjfBcoSolution) -> Iterator[Violation]:
    for j, (job, y) in enumerate(zip(instance.jobs, solution.placement, strict=True)):
        if sum(y.values()) != job.gpus:
            yield Violation("gang", f"job {j}", sum(y.values()) - job.gpus)


def _completion_violations(
    instance: SjfBcoInstance, solution: SjfBcoSolution, simulation: Simulation
) -> Iterator[Violation]:
    for j, done in enumerate(simulation.completion):
        if done is None:
            yield Violation("stalled", f"job {j}", instance.jobs[j].iterations)
            continue
        if done > instance.horizon_slots:
            yield Violation("horizon", f"job {j}", done - instance.horizon_slots)
        if solution.completion_slot is not None and solution.completion_slot[j] < done:
            yield Violation("preemption", f"job {j}", done - solution.completion_slot[j])


def _holding(
    solution: SjfBcoSolution, simulation: Simulation, horizon: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (job, start, end) while each job holds its GPUs; a stalled job never releases them."""
    for j, (a, done) in enumerate(zip(solution.start_slot, simulation.completion, strict=True)):
        end = max(horizon, a + 1) if done is None else done
        if solution.completion_slot is not None:
            end = max(end, solution.completion_slot[j])
        yield j, a, end


def _capacity_violations(
    instance: SjfBcoInstance, solution: SjfBcoSolution, simulation: Simulation
) -> Iterator[Violation]:
    """Yield each maximal slot interval in which a server holds more GPUs than it has (2)."""
    changes: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for j, start, end in _holding(solution, simulation, instance.horizon_slots):
        for s, count in solution.placement[j].items():
            changes[s][start] += count
            changes[s][end] -= count
    for s in sorted(changes):
        used, over_since, worst = 0, None, 0
        for t in sorted(changes[s]):
            used += changes[s][t]
            excess = used - instance.server_gpus[s]
            if excess > 0:
                over_since = t if over_since is None else over_since
                worst = max(worst, excess)
            elif over_since is not None:
                yield Violation("capacity", f"server {s}, slots {over_since}-{t - 1}", worst)
                over_since, worst = None, 0


def _gpu_id_violations(
    instance: SjfBcoInstance, solution: SjfBcoSolution, simulation: Simulation
) -> Iterator[Violation]:
    if solution.gpu_ids is None:
        return
    holds: defaultdict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for j, start, end in _holding(solution, simulation, instance.horizon_slots):
        ids = solution.gpu_ids[j]
        for s in {*ids, *solution.placement[j]}:
            stated, counted = len(set(ids.get(s, ()))), solution.placement[j].get(s, 0)
            if stated != counted:
                yield Violation("gpu_ids", f"job {j}, server {s}", stated - counted)
            for g in ids.get(s, ()):
                if s >= len(instance.server_gpus) or g >= instance.server_gpus[s]:
                    yield Violation("gpu_ids", f"job {j}, GPU {g} of server {s}", 1)
                holds[s, g].append((start, end, j))
    for (s, g), intervals in sorted(holds.items()):
        intervals.sort()
        for (_, end, i), (start, _, j) in pairwise(intervals):
            if start < end:
                where = f"GPU {g} of server {s}, jobs {i} and {j}"
                yield Violation("gpu_ids", where, end - start)
