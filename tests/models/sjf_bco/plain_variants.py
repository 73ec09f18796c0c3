"""What the paper's text admits beside its pseudo-code, on top of the plain algorithm.

GPUs with queues instead of idle ones, servers in use first, first fit, and the bisection that goes
left whenever all jobs could be placed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gadgetopt.models.sjf_bco.algorithms.plain import Gpu, State, empty, fa_ffp, lbsgf, start
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance

#: (state, job, theta or None) -> True if the job was placed.
Place = Callable[[State, int, float], bool]

__all__ = ["fa_ffp", "fa_ffp_opened_first", "first_fit", "lbsgf", "literal", "makespan_of_run"]


def first(state: State, j: int, theta: float, key: Callable[[Gpu], object]) -> bool:
    """Place a job on the GPUs within the limit that come first by a key."""
    size = state.instance.jobs[j].gpus
    while True:
        within = [g for g in state.available() if state.U[g] + state.q[j] <= theta]
        if len(within) >= size:
            start(state, j, sorted(within, key=key)[:size])  # type: ignore[arg-type]
            return True
        later = state.next_completion()
        if later is None:
            return False
        state.now = later


def fa_ffp_opened_first(state: State, j: int, theta: float) -> bool:
    used = {s for gpus in state.gpus.values() for s, _ in gpus}
    return first(state, j, theta, lambda g: (g[0] not in used, state.U[g], g))


def first_fit(state: State, j: int, theta: float) -> bool:
    return first(state, j, theta, lambda g: g)


class Queues(State):
    """All GPUs are candidates, busy or not; nothing happens while jobs are placed."""

    def available(self) -> list[Gpu]:
        return list(self.U)

    def next_completion(self) -> int | None:
        return None


def makespan_of_run(
    instance: SjfBcoInstance,
    order: Sequence[int],
    place: Callable[[int], Place],
    theta: int | None,
    availability: str,
) -> tuple[int | None, bool]:
    """Return the true makespan or None, and True if all jobs were placed."""
    state = empty(instance)
    if availability == "queue":
        state = Queues(instance, state.q, state.U)
    for j in order:
        if not place(j)(state, j, float("inf") if theta is None else theta):
            return None, False
    if availability == "queue":
        return _queue_makespan(instance, order, state), True
    done = state.completions()
    return (None if None in done.values() else max(done.values())), True  # type: ignore[type-var]


def _queue_makespan(instance: SjfBcoInstance, order: Sequence[int], placed: State) -> int | None:
    """Go through the instants; start each job none of whose GPUs has an unfinished earlier job."""
    state = empty(instance)
    while True:
        done = state.completions()
        finished = {i for i, c in done.items() if c is not None and c <= state.now}
        for k, j in enumerate(order):
            ahead = [i for i in order[:k] if set(placed.gpus[i]) & set(placed.gpus[j])]
            if j not in state.start and all(i in finished for i in ahead):
                state.gpus[j], state.start[j] = placed.gpus[j], state.now
        later = state.next_completion()
        if later is None:
            break
        state.now = later
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
