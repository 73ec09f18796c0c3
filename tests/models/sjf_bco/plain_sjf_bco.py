"""Algorithms 1-3 in their plainest form, as a reference for the fast implementation.

Loads are fractions, available GPUs are found by scanning, every theta and every kappa from 1 to n_g
is run anew, and the course of a partial schedule is found by the evaluator's own simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.models.sjf_bco.evaluate import simulate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.subproblems.placement import estimate_range, estimated_slots

Gpu = tuple[int, int]


@dataclass
class State:
    """Partial schedule: GPUs and starts by job, and the load of each GPU."""

    instance: SjfBcoInstance
    load: dict[Gpu, Fraction]
    gpus: dict[int, list[Gpu]]
    start: dict[int, int]

    def completions(self) -> dict[int, int | None]:
        """Return the completions of the placed jobs, if no other job comes."""
        placed = sorted(self.gpus)
        if not placed:
            return {}
        jobs = tuple(self.instance.jobs[j] for j in placed)
        part = self.instance.model_copy(update={"jobs": jobs})
        placement = []
        for j in placed:
            counts: dict[int, int] = {}
            for s, _ in self.gpus[j]:
                counts[s] = counts.get(s, 0) + 1
            placement.append(counts)
        solution = SjfBcoSolution(
            start_slot=tuple(self.start[j] for j in placed), placement=tuple(placement)
        )
        return dict(zip(placed, simulate(part, solution).completion, strict=True))


#: (state, job, share of load, theta or None, available GPUs) -> GPUs chosen or None.
Choose = Callable[[State, int, Fraction, int | None, list[Gpu]], list[Gpu] | None]


def within(state: State, q: Fraction, theta: int | None, gpus: list[Gpu]) -> list[Gpu]:
    return [g for g in gpus if theta is None or state.load[g] + q <= theta]


def first(size: int, gpus: list[Gpu]) -> list[Gpu] | None:
    return gpus[:size] if len(gpus) >= size else None


def fa_ffp(
    state: State, j: int, q: Fraction, theta: int | None, available: list[Gpu]
) -> list[Gpu] | None:
    candidates = within(state, q, theta, available)
    return first(state.instance.jobs[j].gpus, sorted(candidates, key=lambda g: (state.load[g], g)))


def fa_ffp_opened_first(
    state: State, j: int, q: Fraction, theta: int | None, available: list[Gpu]
) -> list[Gpu] | None:
    used = {s for gpus in state.gpus.values() for s, _ in gpus}
    candidates = within(state, q, theta, available)
    ordered = sorted(candidates, key=lambda g: (g[0] not in used, state.load[g], g))
    return first(state.instance.jobs[j].gpus, ordered)


def lbsgf(
    state: State, j: int, q: Fraction, theta: int | None, available: list[Gpu]
) -> list[Gpu] | None:
    capacities = state.instance.server_gpus
    mean = [
        sum((state.load[s, g] for g in range(c)), Fraction(0)) / c for s, c in enumerate(capacities)
    ]
    job = state.instance.jobs[j]
    wanted = Fraction(repr(job.server_spread_factor)) * job.gpus
    selected: set[int] = set()
    for s in sorted(range(len(capacities)), key=lambda s: (mean[s], s)):
        if sum(capacities[x] for x in selected) >= wanted:
            break
        selected.add(s)
    shortlisted = [g for g in available if g[0] in selected]
    return fa_ffp(state, j, q, theta, shortlisted)


def first_fit(
    state: State, j: int, q: Fraction, theta: int | None, available: list[Gpu]
) -> list[Gpu] | None:
    return first(state.instance.jobs[j].gpus, sorted(within(state, q, theta, available)))


def makespan_of_run(
    instance: SjfBcoInstance,
    order: Sequence[int],
    choose: Callable[[int], Choose],
    theta: int | None,
    availability: str,
) -> tuple[int | None, bool]:
    """Return the true makespan or None, and True if all jobs were placed."""
    every = [(s, g) for s, c in enumerate(instance.server_gpus) for g in range(c)]
    state = State(instance, dict.fromkeys(every, Fraction(0)), {}, {})
    est, (u, _) = estimated_slots(instance), estimate_range(instance)
    now = 0
    for j in order:
        q = est[j] / u
        while True:
            if availability == "queue":
                available = every
            else:
                done = state.completions()
                busy = {
                    g
                    for i, gpus in state.gpus.items()
                    for g in gpus
                    if done[i] is None or done[i] > now
                }
                available = [g for g in every if g not in busy]
            chosen = choose(j)(state, j, q, theta, available)
            if chosen is not None:
                break
            later = (
                [c for c in state.completions().values() if c is not None and c > now]
                if availability == "idle"
                else []
            )
            if not later:
                return None, False
            now = min(later)
        for g in chosen:
            state.load[g] += q
        state.gpus[j], state.start[j] = chosen, now
    if availability == "queue":
        return _queue_makespan(instance, order, state), True
    done = state.completions()
    return (None if None in done.values() else max(done.values())), True  # type: ignore[type-var]


def _queue_makespan(instance: SjfBcoInstance, order: Sequence[int], placed: State) -> int | None:
    """Go through the instants; start each job none of whose GPUs has an unfinished earlier job."""
    state = State(instance, {}, {}, {})
    now = 0
    while True:
        done = state.completions()
        finished = {i for i, c in done.items() if c is not None and c <= now}
        for k, j in enumerate(order):
            ahead = [i for i in order[:k] if set(placed.gpus[i]) & set(placed.gpus[j])]
            if j not in state.start and all(i in finished for i in ahead):
                state.gpus[j], state.start[j] = placed.gpus[j], now
        later = [c for c in state.completions().values() if c is not None and c > now]
        if not later:
            break
        now = min(later)
    done = state.completions()
    if len(done) < len(order) or None in done.values():
        return None
    return max(c for c in done.values() if c is not None)


def literal(
    instance: SjfBcoInstance,
    run: Callable[[int, int], tuple[int | None, bool]],
    kappas: Sequence[int],
    *,
    to_feasible: bool = False,
) -> tuple[int, list[tuple[int, int]]]:
    """Algorithm 1 over `run(kappa, theta)`: return m and the log of (theta, m_theta)."""
    horizon = instance.horizon_slots
    m, left, right = horizon, 1, horizon
    log = []
    while left <= right:
        theta = (left + right) // 2
        m_theta, feasible = horizon, False
        for kappa in kappas:
            makespan, placed = run(kappa, theta)
            feasible = feasible or placed
            if makespan is not None and makespan < m_theta:
                m_theta = makespan
        log.append((theta, m_theta))
        improved = m_theta < m
        m = min(m, m_theta)
        if feasible if to_feasible else improved:
            right = theta - 1
        else:
            left = theta + 1
    return m, log
