r"""An optimal point of the augmented program without a solver, for one resource.

By P3 the program ignores bandwidth: with all :math:`\kappa` workers on one server, a ring needs no
flow. So its optimum is that of a fractional knapsack over the cluster's total capacity, and any
combination of rings with these masses and within all capacities is an optimal point
(reconstructed). Whole rings are placed first, as real rings; what is left of the masses is spread
over the remaining capacity, all workers of a ring on one server. The program has many optimal
points; a simplex method ends at another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..terms import JobTerms
from .decomposition import ZERO, Decomposition, WeightedMapping
from .graph_placement import empty_room, find_place
from .hull import fractional_choice
from .slot_problem import Mapping, SlotProblem


def has_closed_form(problem: SlotProblem) -> bool:
    """Return True if there is one resource, and every job can use every server that has any."""
    capacity = problem.terms.capacity
    if capacity.shape[1] != 1:
        return False
    least = min((c for c in capacity[:, 0].tolist() if c), default=0)
    return all(0 < int(x.job.demand[0]) <= least for x in problem.jobs)


def augmented_optimum(
    problem: SlotProblem, sizes: Sequence[Sequence[int]]
) -> tuple[float, Decomposition]:
    """Return the optimum of the augmented program, and an optimal point as mappings.

    Parameters
    ----------
    problem : SlotProblem
        With `has_closed_form`.
    sizes : sequence of sequence of int
        The ring sizes admitted for each job.
    """
    value, masses = _masses(problem, sizes)
    terms = problem.terms
    room = empty_room(terms)
    found: list[list[WeightedMapping]] = [[] for _ in problem.jobs]
    left: list[tuple[int, int, float]] = []

    def order(part: tuple[int, int, float]) -> tuple[int, int, int]:
        j, size, _ = part
        return -size, -problem.jobs[j].job.bandwidth, j

    for j, size, mass in sorted(masses, key=order):
        job = problem.jobs[j].job
        mapping = find_place(room, job, size) if mass == 1 else None
        if mapping is None:
            left.append((j, size, mass))
            continue
        room.take(job, mapping)
        found[j].append(WeightedMapping(1.0, mapping))
    free = room.free[:, 0].astype(float)
    lost = 0.0
    for j, size, mass in left:
        job, rest = problem.jobs[j].job, mass
        each = size * int(job.demand[0])
        # Servers with the most room first: there a ring is most likely to fit.
        for s in np.argsort(-free, kind="stable").tolist():
            part = min(rest, float(free[s]) / each)
            if part <= ZERO:
                break
            found[j].append(WeightedMapping(part, _on_one_server(problem, job, s, size)))
            free[s] -= part * each
            rest -= part
        lost += max(0.0, rest)
    return value, Decomposition(tuple(map(tuple, found)), lost)


def _masses(
    problem: SlotProblem, sizes: Sequence[Sequence[int]]
) -> tuple[float, list[tuple[int, int, float]]]:
    """Return the optimum, and the mass of each job and ring size where it is positive."""
    gains, listed = [], []
    for x, allowed in zip(problem.jobs, sizes, strict=True):
        admitted = sorted(set(allowed))
        # Where a size is left out, a gain of 0 keeps it off the hull.
        gain = np.zeros(max(admitted, default=0) + 1)
        gain[admitted] = x.gain[admitted]
        gains.append(gain)
        listed.append(int(x.job.demand[0]))
    choice = fractional_choice(gains, listed, int(problem.terms.capacity.sum()))
    return choice.value, [
        (j, size, mass)
        for j, of_job in enumerate(choice.shares)
        for size, mass in of_job.items()
        if mass > ZERO
    ]


def _on_one_server(problem: SlotProblem, job: JobTerms, server: int, size: int) -> Mapping:
    routes = None if problem.terms.tree is not None else ((),) * size
    return Mapping(job.index, ((server, size),), routes)
