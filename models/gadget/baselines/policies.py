"""Baseline policies of the paper: FIFO, DRF and Tiresias.

The paper says that FIFO and Tiresias give every job a fixed number of workers in [1, 10], and that
all place greedily "where a cycle can be attained". The policies in detail are (reconstructed).
None uses utilities, none has a guarantee. `subproblems/placement.py` places the rings, on graphs
`subproblems/graph_placement.py`.

M. Yu et al., "GADGET: Online Resource Optimization for Scheduling
Ring-All-Reduce Learning Jobs", INFOCOM 2022.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import (
    GadgetInstance,
    GadgetSolution,
    Job,
    Ring,
)
from ..subproblems.graph_placement import cut, empty_room, find_place
from ..subproblems.slot_problem import Mapping, ring
from ..terms import Terms

Draw = Literal["clip", "within"]

#: Maps a slot and the worker-slots done to the rings of the slot.
Policy = Callable[[int, list[int]], list[Mapping]]


@method(kind="baseline", reference="baseline FIFO")
def fifo(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    most_workers: int = 10,
    draw: Draw = "clip",
    backfill: bool = False,
) -> MethodOutcome:
    """First in, first out: a job keeps its servers until its budget is used.

    Run jobs in the order of arrival, each on its servers until its budget is used.

    A job that has started keeps its placement; its last ring is cut to the rest of the budget.
    While the first waiting job does not fit, those behind it wait too. A job whose ring would not
    even fit the empty cluster is passed over.

    Parameters
    ----------
    instance, limits, rng
    most_workers : int, default 10
        The number of workers of each job is drawn once, from 1 to this.
    draw : "clip" or "within"
        How N_i limits the draw: the number drawn is cut to N_i, or drawn from 1 to N_i at most.
    backfill : bool, default False
        Let jobs behind one that does not fit start.
    """
    terms = instance.terms
    sizes, budget = fixed_workers(instance, rng, most_workers, draw), budgets(instance)
    empty = empty_room(terms)
    waiting = [
        i
        for i in _by_arrival(terms)
        if min(sizes[i], budget[i]) > 0 and find_place(empty, terms.jobs[i], sizes[i])
    ]
    room = empty_room(terms)
    running: dict[int, Mapping] = {}

    def policy(slot: int, done: list[int]) -> list[Mapping]:
        for i in [i for i in running if done[i] >= budget[i]]:
            room.take(terms.jobs[i], running.pop(i), -1)
        for i in [i for i in waiting if terms.jobs[i].arrival <= slot]:
            mapping = find_place(room, terms.jobs[i], sizes[i])
            if mapping is not None:
                room.take(terms.jobs[i], mapping)
                running[i] = mapping
                waiting.remove(i)
            elif not backfill:
                break
        return [cut(mapping, _left(budget[i], done[i])) for i, mapping in running.items()]

    return _run(instance, limits, policy)


@method(kind="baseline", reference="baseline DRF")
def drf(
    instance: GadgetInstance,
    limits: Limits,
    *,
    share_links: bool = False,
) -> MethodOutcome:
    r"""Dominant resource fairness: every slot shared anew, worker by worker.

    The next worker goes to the job with the smallest dominant share, :math:`\max_r \kappa_i l_i^r /
    \sum_s C_s^r`, ties to the earlier arrival, as long as the total capacity allows. Then rings are
    placed, the largest first; a ring that does not fit gets fewer workers.

    Parameters
    ----------
    instance, limits
    share_links : bool, default False
        Count links as a resource: a ring of two or more takes 2 b_i of the access links of all
        servers.

    Raises
    ------
    ModelRefused
        If `share_links` is True and the network is a graph, which has no access links.
    """
    terms, budget = instance.terms, budgets(instance)
    if share_links and terms.tree is None:
        raise ModelRefused("share_links: the network is a graph, expected a two-tier cluster")
    most = [_largest(instance, i) for i in range(len(terms.jobs))]
    order = _by_arrival(terms)
    rank = np.argsort(order).tolist()

    def policy(slot: int, done: list[int]) -> list[Mapping]:
        active = {i: min(most[i], _left(budget[i], done[i])) for i in _arrived(terms, order, slot)}
        sizes = _fair_sizes(terms, rank, active, share_links)
        room = empty_room(terms)
        placed = []
        for i in sorted(sizes, key=lambda i: (-sizes[i], rank[i])):
            for size in range(sizes[i], 0, -1):
                mapping = find_place(room, terms.jobs[i], size)
                if mapping is not None:
                    room.take(terms.jobs[i], mapping)
                    placed.append(mapping)
                    break
        return placed

    return _run(instance, limits, policy)


@method(kind="baseline", reference="baseline Tiresias")
def tiresias(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    most_workers: int = 10,
    draw: Draw = "clip",
    threshold: float = 0.0,
) -> MethodOutcome:
    """Least attained service first, every slot anew.

    Attained service is the number of GPU-slots so far, of the resource `gpu` or else of the first
    one. Ties go to the earlier arrival. A job gets its fixed number of workers, or the rest of its
    budget, if the ring fits.

    Parameters
    ----------
    instance, limits, rng
    most_workers, draw
        As in `fifo`.
    threshold : float, default 0
        If positive, there are two queues: jobs with less service than this go first, and within a
        queue the earlier arrival.
    """
    terms = instance.terms
    sizes, budget = fixed_workers(instance, rng, most_workers, draw), budgets(instance)
    names = instance.resources
    gpu = names.index("gpu") if "gpu" in names else 0
    each = [job.worker_demand[gpu] for job in instance.jobs]
    order = _by_arrival(terms)

    def attained(i: int, done: list[int]) -> float:
        service = each[i] * done[i]
        return float(service >= threshold) if threshold > 0 else service

    def policy(slot: int, done: list[int]) -> list[Mapping]:
        room = empty_room(terms)
        placed = []
        # Stable sort: ties stay in the order of arrival.
        for i in sorted(_arrived(terms, order, slot), key=lambda i: attained(i, done)):
            size = min(sizes[i], _left(budget[i], done[i]))
            mapping = find_place(room, terms.jobs[i], size) if size else None
            if mapping is not None:
                room.take(terms.jobs[i], mapping)
                placed.append(mapping)
        return placed

    return _run(instance, limits, policy)


def budgets(instance: GadgetInstance) -> list[float]:
    """Return K_i, the worker-slots that the budgets (3) allow; infinite without a budget."""
    return [_budget(job) for job in instance.jobs]


def fixed_workers(
    instance: GadgetInstance, rng: np.random.Generator, most_workers: int, draw: Draw
) -> list[int]:
    """Draw the fixed number of workers of each job, for FIFO and Tiresias.

    Raises
    ------
    InputError
        If `draw` or `most_workers` is not valid.
    """
    if most_workers < 1:
        raise InputError(f"most_workers: {most_workers}, expected at least 1")
    largest = [_largest(instance, i) for i in range(len(instance.jobs))]
    if draw == "clip":
        drawn = rng.integers(1, most_workers + 1, size=len(largest)).tolist()
        return [min(w, most) for w, most in zip(drawn, largest, strict=True)]
    if draw == "within":
        return [int(rng.integers(1, min(most_workers, n) + 1)) if n else 0 for n in largest]
    raise InputError(f"draw: {draw!r}, expected 'clip' or 'within'")


def _run(instance: GadgetInstance, limits: Limits, policy: Policy) -> MethodOutcome:
    """Run a policy over the horizon; once time is up, the remaining slots stay empty."""
    clock = Clock(limits)
    done = [0] * len(instance.jobs)
    rings: list[Ring] = []
    limit_hit = None
    for slot in range(1, instance.horizon_slots + 1):
        if clock.expired:
            limit_hit = "time_s"
            break
        for mapping in policy(slot, done):
            rings.append(ring(instance.terms, slot, mapping))
            done[mapping.job] += mapping.size
    return MethodOutcome(solution=GadgetSolution(rings=tuple(rings)), limit_hit=limit_hit)


def _fair_sizes(
    terms: Terms, rank: list[int], active: dict[int, int], share_links: bool
) -> dict[int, int]:
    """Return the ring sizes by progressive filling, for jobs that get a worker."""
    total = terms.capacity.sum(axis=0)
    links = int(terms.tree.access.sum()) if terms.tree is not None and share_links else 0
    left, links_left = total.copy(), links
    share = {
        i: float(max(terms.jobs[i].demand[r] / total[r] for r in np.flatnonzero(total)))
        for i, most in active.items()
        if most
    }
    sizes = dict.fromkeys(share, 0)
    heap = [(0.0, rank[i], i) for i in share]
    heapq.heapify(heap)
    while heap:
        _, _, i = heapq.heappop(heap)
        job = terms.jobs[i]
        crossing = 2 * job.bandwidth if share_links and sizes[i] == 1 else 0
        if (left < job.demand).any() or crossing > links_left:
            continue
        left -= job.demand
        links_left -= crossing
        sizes[i] += 1
        if sizes[i] < active[i]:
            dominant = sizes[i] * share[i]
            if share_links and sizes[i] > 1 and links:
                dominant = max(dominant, 2 * job.bandwidth / links)
            heapq.heappush(heap, (dominant, rank[i], i))
    return {i: size for i, size in sizes.items() if size}


def _by_arrival(terms: Terms) -> list[int]:
    return sorted(range(len(terms.jobs)), key=lambda i: (terms.jobs[i].arrival, i))


def _arrived(terms: Terms, order: list[int], slot: int) -> list[int]:
    """Return the jobs of `order` that have arrived."""
    return [i for i in order if terms.jobs[i].arrival <= slot]


def _left(budget: float, done: int) -> int:
    """Return the rest of a budget; if it is infinite, more than any ring takes."""
    return 10**9 if math.isinf(budget) else int(budget) - done


def _largest(instance: GadgetInstance, i: int) -> int:
    """Return the largest ring that N_i and the servers together allow."""
    return min(instance.jobs[i].max_workers, int(instance.terms.jobs[i].per_server.sum()))


def _budget(job: Job) -> float:
    limits = [math.inf if job.max_worker_slots is None else float(job.max_worker_slots)]
    for budget, each in zip(job.budget or (), job.worker_demand, strict=False):
        if budget is not None and each > 0:
            limits.append(float(math.floor(decimal_rational(budget) / decimal_rational(each))))
    return min(limits)
