r"""Randomised rounding of weighted mappings (step 6 of Algorithm 2), with feasible variants.

Algorithm 2 draws one mapping of every job by its weight. It accepts a draw that reaches a share
:math:`\alpha` of the relaxation and loads of at most :math:`\beta` and :math:`\gamma` times the
capacities, so an accepted draw may be infeasible. `violation_free` and `fill` respect every
capacity (both reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.pieces.rounding import choose_at_random

from ..subproblems.decomposition import WeightedMapping
from ..subproblems.graph_placement import empty_room, find_place
from ..subproblems.loads import MappingLoads, mapping_loads, no_loads, overloads
from ..subproblems.slot_problem import Mapping, SlotProblem
from ..terms import Terms

#: Passes over the jobs that have no mapping yet, in one sample of `violation_free`.
#: Tuned: `benchmarks/constants.py`.
PASSES = 6

Weighted = Sequence[Sequence[WeightedMapping]]


@dataclass(frozen=True)
class Sample:
    """One draw.

    Attributes
    ----------
    mappings : tuple of Mapping
    value : float
        P, the sum of pi over the mappings drawn.
    node_factors : tuple of float, one for each resource
    link_factor : float
        Largest ratio of load to capacity, of servers and of links; above 1 it is infeasible.
    """

    mappings: tuple[Mapping, ...]
    value: float
    node_factors: tuple[float, ...]
    link_factor: float

    @property
    def node_factor(self) -> float:
        """The largest of the servers' factors."""
        return max(self.node_factors)

    @property
    def overload(self) -> float:
        """The larger of both factors, at least 1."""
        return max(1.0, self.node_factor, self.link_factor)


def draw(
    problem: SlotProblem, weighted: Weighted, attempts: int, rng: np.random.Generator
) -> list[Sample]:
    """Return independent draws of at most one mapping of each job."""
    terms = problem.terms
    weights = [[x.weight for x in of_job] for of_job in weighted]
    loads = all_loads(problem, weighted)
    samples = []
    for choice in choose_at_random(weights, attempts, rng).tolist():
        total, value, drawn = no_loads(terms), 0.0, []
        for j, k in enumerate(choice):
            if k < 0:
                continue
            mapping = weighted[j][k].mapping
            total.put(loads[j][k])
            value += float(problem.jobs[j].gain[mapping.size])
            drawn.append(mapping)
        samples.append(Sample(tuple(drawn), value, *overloads(terms, total)))
    return samples


def accepted(
    samples: Sequence[Sample], least_value: float, beta: Sequence[float], gamma: float
) -> Sample | None:
    """Return the first draw that Algorithm 2 accepts: each resource keeps its own beta."""
    for sample in samples:
        within = all(f <= b for f, b in zip(sample.node_factors, beta, strict=True))
        if sample.value >= least_value and within and sample.link_factor <= gamma:
            return sample
    return None


def violation_free(
    problem: SlotProblem,
    weighted: Weighted,
    attempts: int,
    rng: np.random.Generator,
    passes: int = PASSES,
) -> list[Mapping]:
    """Draw mappings job by job in random order and keep those that fit; return the best attempt.

    Parameters
    ----------
    attempts : int
    passes : int
        How often an attempt draws again for jobs without a mapping.
    """
    terms = problem.terms
    loads = all_loads(problem, weighted)
    weights = [[x.weight for x in of_job] for of_job in weighted]
    most = [
        max((float(x.gain[y.mapping.size]) for y in of_job), default=0.0)
        for x, of_job in zip(problem.jobs, weighted, strict=True)
    ]
    best: list[Mapping] = []
    best_value = -1.0
    for _ in range(attempts):
        used, kept = no_loads(terms), {}
        for _ in range(passes):
            open_jobs = [j for j in range(len(weighted)) if j not in kept and weighted[j]]
            if not open_jobs:
                break
            choice = choose_at_random([weights[j] for j in open_jobs], 1, rng)[0].tolist()
            for position in rng.permutation(len(open_jobs)).tolist():
                j, k = open_jobs[position], choice[position]
                if k < 0:
                    continue
                used.put(loads[j][k])
                if used.fit(terms, loads[j][k]):
                    kept[j] = weighted[j][k].mapping
                else:
                    used.put(loads[j][k], -1)
        value = sum(float(problem.jobs[j].gain[m.size]) for j, m in kept.items())
        if value > best_value:
            best_value, best = value, [kept[j] for j in sorted(kept)]
        if all(
            not of_job or (j in kept and float(problem.jobs[j].gain[kept[j].size]) == most[j])
            for j, of_job in enumerate(weighted)
        ):
            break  # no attempt can be better
    return best


def fill(problem: SlotProblem, kept: Sequence[Mapping]) -> list[Mapping]:
    """Place the largest ring that fits for each job without one, by falling gain per worker."""
    room = empty_room(problem.terms)
    jobs = {x.job.index: x for x in problem.jobs}
    for mapping in kept:
        room.take(jobs[mapping.job].job, mapping)
    out = list(kept)
    have = {mapping.job for mapping in kept}
    left = [x for x in problem.jobs if x.job.index not in have]
    left.sort(key=lambda x: (-float((x.gain[1:] / np.arange(1, x.most + 1)).max()), x.job.index))
    for x in left:
        for size in range(x.most, 0, -1):
            found = find_place(room, x.job, size) if x.gain[size] > 0 else None
            if found is not None:
                room.take(x.job, found)
                out.append(found)
                break
    return out


def all_loads(problem: SlotProblem, weighted: Weighted) -> list[list[MappingLoads]]:
    """Return the loads of every mapping of every job."""
    terms: Terms = problem.terms
    return [
        [mapping_loads(terms, x.job, y.mapping) for y in of_job]
        for x, of_job in zip(problem.jobs, weighted, strict=True)
    ]
