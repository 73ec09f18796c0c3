"""Features of an instance: its density and difficulty."""

from __future__ import annotations

import math

from gadgetopt.system.features import (
    correlation,
    fits,
    largest_share,
    mean,
    variation,
)

from .instance import Job, SmdInstance


def features(instance: SmdInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    A job is useful if one worker and one server fit into its reservation, and the least that it
    can be charged fits into the cluster. A job's share is the largest part of a resource it
    reserves.

    - `useful_jobs`: number of useful jobs.
    - `load`: reservations of the useful jobs over capacity, of the most loaded resource.
    - `binding_resources`: resources of which the useful jobs reserve more than there is.
    - `mean_share`: of a useful job; its inverse is about how many are admitted.
    - `utility_variation`, `share_variation`: coefficients of variation of gamma_1 and of shares.
    - `utility_share_correlation`: between the two; near 1 is hard for the knapsack.
    - `mean_pairs`: numbers of workers times numbers of servers within a reservation.
    - `one_pair_utility_share`: part of gamma_1 that one worker and one server reach, on average;
      near 1, further workers and servers hardly matter.
    - `async_share`: part of the useful jobs with asynchronous steps.
    """
    capacity = instance.capacity
    useful = [job for job in instance.jobs if _useful(job, instance)]
    reserved = [sum(job.reservation_limit[r] for job in useful) for r in range(len(capacity))]
    pairs = zip(reserved, capacity, strict=True)
    shares = [largest_share(job.reservation_limit, capacity) for job in useful]
    heights = [job.utility.gamma1 for job in useful]
    return {
        "useful_jobs": float(len(useful)),
        "load": largest_share(reserved, capacity),
        "binding_resources": float(sum(not fits([v], [c]) for v, c in pairs)),
        "mean_share": mean(shares),
        "utility_variation": variation(heights),
        "share_variation": variation(shares),
        "utility_share_correlation": correlation(heights, shares),
        "mean_pairs": mean(
            [_most(job, job.worker_demand) * _most(job, job.ps_demand) for job in useful]
        ),
        "one_pair_utility_share": mean([_of_one_pair(job) for job in useful]),
        "async_share": mean([float(job.sgd_mode == "async") for job in useful]),
    }


def _useful(job: Job, instance: SmdInstance) -> bool:
    least = [o + g for o, g in zip(job.worker_demand, job.ps_demand, strict=True)]
    charged = job.reservation_limit if instance.charging == "reserved" else least
    return fits(least, job.reservation_limit) and fits(charged, instance.capacity)


def _most(job: Job, demand: tuple[float, ...]) -> float:
    """Return how many workers, or servers, would fit into the reservation alone."""
    pairs = zip(job.reservation_limit, demand, strict=True)
    return float(math.floor(min(v / d for v, d in pairs if d > 0) + 1e-9))


def _of_one_pair(job: Job) -> float:
    return job.utility.at(job.completion_time.at(1, 1)) / job.utility.gamma1
