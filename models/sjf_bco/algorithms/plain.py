r"""Algorithms 1-3 of the paper, step by step: smallest job first, balanced contention and overhead.

Nothing here is fast: the GPUs that are free are found by scanning, every theta and every kappa is
run anew, and when jobs complete is asked of the evaluator's simulation after each step.

Letters, as in the paper: G_j GPUs of job j, est_j its estimated slots, u at least as large as
every est_j / rho_j, q_j = est_j / u what it adds to the load U of each of its GPUs, O_s the GPUs of
server s, lambda_j its spread factor, T the horizon, theta the limit on loads, kappa the largest
job that FA-FFP places, m the makespan.

What the paper leaves open is marked (reconstructed).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational

from ..evaluate import simulate
from ..instance import SjfBcoInstance, SjfBcoSolution

#: Server and number on it.
Gpu = tuple[int, int]


@dataclass
class State:
    """A schedule in the making: the clock, GPUs and starts of the jobs placed, loads U."""

    instance: SjfBcoInstance
    q: list[Fraction]
    U: dict[Gpu, Fraction]
    now: int = 0
    gpus: dict[int, list[Gpu]] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)

    def completions(self) -> dict[int, int | None]:
        """Return when the placed jobs complete if no other job comes; None of one that never does.

        They are simulated anew each time: a job that comes later slows those that share a server
        with it, so that what was known when a job was placed is out of date.
        """
        placed = sorted(self.gpus)
        if not placed:
            return {}
        jobs = tuple(self.instance.jobs[j] for j in placed)
        part = self.instance.model_copy(update={"jobs": jobs})
        return dict(zip(placed, simulate(part, self.solution()).completion, strict=True))

    def solution(self) -> SjfBcoSolution:
        """Return the jobs placed so far as a decision."""
        placement = []
        for j in sorted(self.gpus):
            y: dict[int, int] = {}
            for s, _ in sorted(self.gpus[j]):
                y[s] = y.get(s, 0) + 1
            placement.append(y)
        return SjfBcoSolution(
            start_slot=tuple(self.start[j] for j in sorted(self.gpus)), placement=tuple(placement)
        )

    def available(self) -> list[Gpu]:
        """Return the GPUs that no unfinished job has."""
        done = self.completions()
        busy = set()
        for j, gpus in self.gpus.items():
            end = done[j]
            if end is None or end > self.now:
                busy.update(gpus)
        return [g for g in self.U if g not in busy]

    def next_completion(self) -> int | None:
        """Return the next completion after now; None if no job is running."""
        return min((c for c in self.completions().values() if c and c > self.now), default=None)


#: (state, job, limit theta) -> True if the job was placed.
Place = Callable[[State, int, int], bool]


def sjf_bco(instance: SjfBcoInstance) -> tuple[int, SjfBcoSolution | None]:
    """Algorithm 1: return m and the schedule; m = T and none if no makespan is below T."""
    sizes = [job.gpus for job in instance.jobs]
    n_g = max(sizes)
    # jobs by G_j, smallest first; ties by index (reconstructed)
    order = sorted(range(len(sizes)), key=lambda j: (sizes[j], j))
    T = instance.horizon_slots
    m, best = T, None
    # lines 2-27: bisection of theta over 1..T
    left, right = 1, T
    while left <= right:
        # theta is an integer (reconstructed; the paper has (left + right) / 2)
        theta = (left + right) // 2
        m_theta, y_theta = T, None
        for kappa in range(1, n_g + 1):
            state = empty(instance)
            feasible = True
            for j in order:
                place = fa_ffp if sizes[j] <= kappa else lbsgf
                if not place(state, j, theta):  # line 15
                    feasible = False
                    break
            # Line 17 as printed compares the makespan of the jobs placed, so that a run that fails
            # early would win. Here it counts as T (reconstructed).
            mk = makespan(state) if feasible else T
            if mk < m_theta:
                m_theta, y_theta = mk, state.solution()
        if m_theta < m:
            m, best = m_theta, y_theta
            right = theta - 1
        else:
            left = theta + 1
    return m, best


def fa_ffp(state: State, j: int, theta: int) -> bool:
    """Algorithm 2, fragment-aware first-fit packing: the GPUs of least load within the limit."""
    while True:
        candidates = within_limit(state, j, theta, state.available())
        if enough(state, j, candidates):
            return True
        later = state.next_completion()
        if later is None:
            return False
        state.now = later


def lbsgf(state: State, j: int, theta: int) -> bool:
    """Algorithm 3, least busy server-GPU first: the servers of least mean load, then as above."""
    O = state.instance.server_gpus  # noqa: E741
    job = state.instance.jobs[j]
    mean = [sum((state.U[s, g] for g in range(O[s])), Fraction(0)) / O[s] for s in range(len(O))]
    # the shortest list of servers that has lambda_j G_j GPUs; all if none has (reconstructed)
    wanted = decimal_rational(job.server_spread_factor) * job.gpus
    selected: list[int] = []
    for s in sorted(range(len(O)), key=lambda s: (mean[s], s)):
        if sum(O[x] for x in selected) >= wanted:
            break
        selected.append(s)
    while True:
        available = [g for g in state.available() if g[0] in selected]
        if enough(state, j, within_limit(state, j, theta, available)):
            return True
        later = state.next_completion()
        if later is None:
            return False
        state.now = later


def within_limit(state: State, j: int, theta: int, gpus: list[Gpu]) -> list[Gpu]:
    """Return the GPUs whose load stays within theta with job j on them."""
    return [g for g in gpus if state.U[g] + state.q[j] <= theta]


def enough(state: State, j: int, candidates: list[Gpu]) -> bool:
    """Start job j now on the G_j candidates of least load, if there are so many."""
    size = state.instance.jobs[j].gpus
    if len(candidates) < size:
        return False
    # ties by server and GPU (reconstructed)
    start(state, j, sorted(candidates, key=lambda g: (state.U[g], g))[:size])
    return True


def start(state: State, j: int, gpus: list[Gpu]) -> None:
    """Let job j start now, and add q_j to the load of its GPUs."""
    state.gpus[j], state.start[j] = gpus, state.now
    for g in gpus:
        state.U[g] += state.q[j]


def makespan(state: State) -> int:
    """Return the makespan of a complete run, from its simulation; T if a job never completes."""
    T = state.instance.horizon_slots
    return max(T if c is None else c for c in state.completions().values())


def empty(instance: SjfBcoInstance) -> State:
    """Return a cluster without a job, and the loads q_j = est_j / u.

    est_j is the shortest duration of job j where the instance has no estimate, u the least number
    that is at least 1 and every est_j over the shortest duration (both reconstructed).
    """
    rho_min = [int(d) for d in instance.rates.exec_min]
    est = [
        Fraction(d) if job.est_slots is None else decimal_rational(job.est_slots)
        for job, d in zip(instance.jobs, rho_min, strict=True)
    ]
    u = max(Fraction(1), *(e / d for e, d in zip(est, rho_min, strict=True)))
    every = [(s, g) for s, O_s in enumerate(instance.server_gpus) for g in range(O_s)]
    return State(instance, [e / u for e in est], dict.fromkeys(every, Fraction(0)))
