"""The optimum over all slots: a relaxation without bandwidth, and a schedule that reaches it.

The epoch relaxation O2 asks for a total of every job; if the constructor O3 finds rings of these
totals the schedule is optimal (both reconstructed). Otherwise it is reported with the gap.
"""

from __future__ import annotations

import time

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.result import Limits, MethodOutcome, TracePoint

from .constructor import Construction, construct_repeatedly, worth
from .epochs import epoch_form
from .instance import GadgetInstance, GadgetSolution
from .max_ring import largest_rings
from .slot_problem import ring
from .terms import Terms


def offline(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    restarts: int = 200,
) -> MethodOutcome:
    """Solve the epoch relaxation, then build a schedule of its totals.

    Parameters
    ----------
    restarts : int
        Attempts of the constructor after the first, with noise.

    Raises
    ------
    ModelRefused
        If the network is a graph: the constructor places on two-tier clusters.
    """
    from gadgetopt.solvers.highs import solve_form

    begun = time.perf_counter()
    terms = instance.terms
    if terms.tree is None:
        raise ModelRefused("the network is a graph, expected a two-tier cluster")
    largest = largest_rings(terms)
    relaxation = epoch_form(terms, largest)
    built = time.perf_counter()
    solved = solve_form(relaxation.form, _rest(limits, begun), int(rng.integers(2**31 - 1)))
    relaxed = time.perf_counter()
    if solved.values is None:
        return MethodOutcome(dual_bound=solved.bound, limit_hit=solved.limit_hit)
    target = relaxation.totals(solved.values, len(terms.jobs))
    made = construct_repeatedly(terms, target, largest, rng, _rest(limits, begun), restarts)
    value = worth(terms, made.done)
    return MethodOutcome(
        solution=as_solution(terms, made),
        dual_bound=solved.bound,
        limit_hit=solved.limit_hit,
        trace=(TracePoint(time.perf_counter() - begun, value, solved.bound),),
        phases_s={
            "build": built - begun,
            "relaxation": relaxed - built,
            "construct": time.perf_counter() - relaxed,
        },
        versions=solved.versions,
        notes={"jobs_short_of_target": int((made.done < target).sum())},
    )


def as_solution(terms: Terms, made: Construction) -> GadgetSolution:
    """Return a construction as a solution."""
    return GadgetSolution(
        rings=tuple(
            ring(terms, t, mapping)
            for t, placed in enumerate(made.mappings, start=1)
            for mapping in placed
        )
    )


def _rest(limits: Limits, begun: float) -> Limits:
    if limits.time_s is None:
        return limits
    left = max(0.0, limits.time_s - (time.perf_counter() - begun))
    return Limits(left, limits.threads, limits.memory_mb, limits.rel_gap)
