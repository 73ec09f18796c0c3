"""Baselines of the paper: first fit, list scheduling and random placement.

The paper describes each in one sentence; job order, ties and the search for the load limit are
(reconstructed). None has a guarantee in the paper. M. Yu, B. Ji, H. Rajan, J. Liu, "On Scheduling
Ring-All-Reduce Learning Jobs in Multi-Tenant GPU Clusters with Communication Contention", MobiHoc
2022, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.theta_search import Search, ThetaSearch, search_theta
from ..instance import SjfBcoInstance
from ..subproblems.placement import (
    Availability,
    Batch,
    MakePool,
    Stage,
    run,
    solution_of,
)
from ..subproblems.pools import FirstFit, LeastLoaded, RandomGpus

JobOrder = Literal["given", "smallest_first"]
RandMode = Literal["gpu", "server"]


@method(kind="baseline", reference="baseline FF")
def first_fit(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    theta_search: ThetaSearch = "literal",
    availability: Availability = "idle",
    job_order: JobOrder = "given",
) -> MethodOutcome:
    """FF: the first GPUs under the load limit.

    A job takes the first G_j available GPUs, by server and GPU, whose load with the job stays
    within theta. No guarantee. A run takes O(sum_j G_j log N) plus contention updates.

    Parameters
    ----------
    instance, limits
        As in `algorithms/sjf_bco.py`; deterministic.
    theta_search : "literal", "feasible" or "sweep", default "literal"
        As in SJF-BCO, without the loop over kappa (reconstructed).
    availability : "idle" or "queue", default "idle"
        Which GPUs count as available.
    job_order : "given" or "smallest_first", default "given"
        Order in which jobs are placed (reconstructed).
    """
    return _search(
        instance,
        limits,
        pool=FirstFit,
        theta_search=theta_search,
        availability=availability,
        job_order=job_order,
    )


@method(kind="baseline", reference="baseline LS")
def list_scheduling(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    theta_search: ThetaSearch = "literal",
    availability: Availability = "idle",
    job_order: JobOrder = "given",
) -> MethodOutcome:
    """LS: the least loaded GPUs.

    Return the best list schedule (LS) over load limits theta.

    A job takes the G_j available GPUs of least load, as in FA-FFP: in size order this is SJF-BCO at
    kappa = n_g. No guarantee in the paper; in size order and with idle availability the corrected
    guarantee of SJF-BCO holds for the run without limit. Complexity and parameters are those of
    `first_fit`.
    """
    return _search(
        instance,
        limits,
        pool=LeastLoaded,
        theta_search=theta_search,
        availability=availability,
        job_order=job_order,
    )


@method(kind="baseline", reference="baseline RAND")
def random_placement(
    instance: SjfBcoInstance,
    rng: np.random.Generator,
    *,
    rand_mode: RandMode = "gpu",
    availability: Availability = "idle",
    job_order: JobOrder = "given",
) -> MethodOutcome:
    """RAND: random GPUs.

    Return a schedule with randomly chosen GPUs (RAND), at the load limit theta = T.

    No guarantee and no search. A run takes O(|J| N log N) plus contention updates.

    Parameters
    ----------
    instance, rng
        `rng` draws the GPUs; limits are ignored in this single run.
    rand_mode : "gpu" or "server", default "gpu"
        All sets of G_j candidates are equally likely, or servers come in random order with random
        GPUs on each (both reconstructed).
    availability : "idle" or "queue", default "idle"
        Which GPUs count as available.
    job_order : "given" or "smallest_first", default "given"
        Order in which jobs are placed (reconstructed).

    Returns
    -------
    MethodOutcome
        No solution if the jobs do not fit within the load limit or the schedule ends after the
        horizon; the note `makespan` then still gives its end.
    """
    if rand_mode not in ("gpu", "server"):
        raise ValueError(f"rand_mode: {rand_mode!r} is not 'gpu' or 'server'")
    batch = Batch(instance)
    pool: MakePool = partial(RandomGpus, rng=rng, by_server=rand_mode == "server")
    horizon = instance.horizon_slots
    stages = [Stage(_ordered(batch, job_order), pool)]
    schedule = run(batch, stages, batch.limit(horizon), availability)
    notes = {"theta": horizon, "makespan": schedule.makespan}
    if schedule.makespan is None or schedule.makespan > horizon:
        reason = f"no schedule with makespan <= horizon_slots ({horizon}); raise horizon_slots"
        return MethodOutcome(notes={**notes, "no_schedule": reason})
    return MethodOutcome(solution_of(batch, schedule), schedule.makespan, notes=notes)


def _search(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    pool: MakePool,
    theta_search: ThetaSearch,
    availability: Availability,
    job_order: JobOrder,
) -> MethodOutcome:
    batch = Batch(instance)
    stages = [Stage(_ordered(batch, job_order), pool)]
    # The search is over variants; a baseline has only one.
    only = {0: lambda limit: run(batch, stages, limit, availability)}
    search = Search(batch, only, limits)
    search_theta(search, theta_search)
    return search.outcome(None)


def _ordered(batch: Batch, job_order: JobOrder) -> Sequence[int]:
    if job_order == "given":
        return range(len(batch.gpus))
    if job_order == "smallest_first":
        return batch.smallest_first
    raise ValueError(f"job_order: {job_order!r} is not 'given' or 'smallest_first'")
