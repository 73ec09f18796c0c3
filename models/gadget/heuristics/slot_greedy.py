r"""Greedy slot heuristic: add the most valuable worker next, in near-linear time.

The paper has no such heuristic (reconstructed). Ring sizes come from the closed form of the linear
relaxation, step 3 of Algorithm 2 with one resource: workers are added one by one by falling
marginal gain until the cluster is full. Rings are placed greedily, large ones first. A ring that
does not fit is made smaller, and the remaining room goes to rings that can still grow.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..subproblems.graph_placement import AnyRoom, empty_room, find_place
from ..subproblems.hull import envelope
from ..subproblems.slot_problem import Mapping, SlotProblem


def slot_greedy(problem: SlotProblem) -> list[Mapping]:
    """Choose ring sizes by marginal gain and place the rings greedily."""
    room = empty_room(problem.terms)
    sizes = _sizes(problem)
    order = sorted(
        np.flatnonzero(sizes).tolist(),
        key=lambda j: (-sizes[j], -problem.jobs[j].job.bandwidth, j),
    )
    placed: dict[int, Mapping] = {}
    short: list[int] = []
    for j in order:
        mapping = find_place(room, problem.jobs[j].job, int(sizes[j]))
        if mapping is None:
            short.append(j)
            continue
        room.take(problem.jobs[j].job, mapping)
        placed[j] = mapping
    # Jobs that did not fit or were not chosen, the most valuable per worker first.
    rest = short + [j for j in range(len(problem.jobs)) if sizes[j] == 0]
    rest.sort(key=lambda j: (-float(problem.jobs[j].gain[1:].max()) / problem.jobs[j].most, j))
    for j in rest:
        if not room.free.any():
            break
        best = _largest(room, problem, j)
        if best is not None:
            room.take(problem.jobs[j].job, best)
            placed[j] = best
    return [placed[j] for j in sorted(placed)]


def _largest(room: AnyRoom, problem: SlotProblem, j: int) -> Mapping | None:
    """Return a place for the most valuable ring of the job that still fits."""
    gain = problem.jobs[j].gain
    for size in np.argsort(-gain[1:], kind="stable") + 1:
        if gain[size] <= 0:
            break
        mapping = find_place(room, problem.jobs[j].job, int(size))
        if mapping is not None:
            return mapping
    return None


def _sizes(problem: SlotProblem) -> Ints:
    """Return ring sizes by falling marginal gain on the envelopes, within total capacity."""
    jobs = problem.jobs
    if not jobs:
        return np.empty(0, dtype=np.int64)
    most = np.array([job.most for job in jobs])
    steps = np.concatenate([_steps(job.gain) for job in jobs])
    owner = np.repeat(np.arange(len(jobs)), most)
    worthwhile = np.flatnonzero(steps > 0)
    # Stable sort: ties go to the earlier job, and its workers stay in order.
    order = worthwhile[np.argsort(-steps[worthwhile], kind="stable")]
    demand = np.array([job.job.demand for job in jobs])[owner[order]]
    fits = (np.cumsum(demand, axis=0) <= problem.terms.capacity.sum(axis=0)).all(axis=1)
    return np.bincount(owner[order[fits]], minlength=len(jobs))


def _steps(gain: Floats) -> Floats:
    """Return the marginal gain of each further worker on the concave envelope; non-increasing."""
    steps = gain[1:] - gain[:-1]
    if len(steps) > 1 and (steps[1:] > steps[:-1]).any():
        steps = np.minimum.accumulate(np.diff(envelope(gain)))
    return steps
