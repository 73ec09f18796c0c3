"""Instance features: how dense and how difficult to place the jobs of a network are."""

from __future__ import annotations

from itertools import pairwise

from gadgetopt.system.features import (
    fits,
    largest_share,
    mean,
    variation,
)

from .instance import GadgetInstance, Job, TwoTier
from .utility import Sigmoid, Table


def features(instance: GadgetInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    A job is useful if a worker of it fits on an empty server.

    - `useful_jobs`: number of useful jobs.
    - `load`: demand of the useful jobs over the capacity of the servers, in worker-slots over the
      horizon, for the most loaded resource. Budgets limit the demand.
    - `contention`: demand of the largest rings of all useful jobs at once, over the capacity of the
      servers, for the most loaded resource.
    - `link_load`: bandwidth of one ring per job over the total bandwidth out of the servers.
    - `ring_link_share`: bandwidth of a ring over the mean bandwidth of those links; above 1/2 a
      link carries only one ring.
    - `worker_share`: share of an average server that a worker takes; large workers fragment.
    - `concave_share`: share of the useful jobs with a concave utility, for which greedy is near
      optimal.
    - `ring_variation`, `bandwidth_variation`: coefficients of variation of largest rings and of
      their bandwidths.
    - `mean_arrival_share`: mean arrival over the horizon; 0 if all jobs arrive at once.
    """
    servers = _servers(instance)
    total = [sum(amounts) for amounts in zip(*servers, strict=True)]
    jobs = [j for j in instance.jobs if any(fits(j.worker_demand, room) for room in servers)]
    over_horizon = [c * instance.horizon_slots for c in total]
    wanted = [_worker_slots(job, instance.horizon_slots) for job in jobs]
    links = _server_links_mbps(instance)
    mean_link = mean(links)
    rings = [float(job.ring_bandwidth_mbps) for job in jobs if job.max_workers > 1]
    server = [c / len(servers) for c in total]
    return {
        "useful_jobs": float(len(jobs)),
        "load": largest_share(_demand(jobs, wanted, len(total)), over_horizon),
        "contention": largest_share(
            _demand(jobs, [float(job.max_workers) for job in jobs], len(total)), total
        ),
        "link_load": sum(rings) / sum(links) if sum(links) else 0.0,
        "ring_link_share": mean(rings) / mean_link if mean_link else 0.0,
        "worker_share": mean([largest_share(job.worker_demand, server) for job in jobs]),
        "concave_share": mean([float(_concave(job)) for job in jobs]),
        "ring_variation": variation([job.max_workers for job in jobs]),
        "bandwidth_variation": variation(rings),
        "mean_arrival_share": mean(
            [(job.arrival_slot - 1) / instance.horizon_slots for job in jobs]
        ),
    }


def _servers(instance: GadgetInstance) -> list[tuple[float, ...]]:
    substrate = instance.substrate
    if isinstance(substrate, TwoTier):
        return [server.capacity for server in substrate.servers]
    return [node.capacity for node in substrate.nodes if node.capacity is not None]


def _server_links_mbps(instance: GadgetInstance) -> list[float]:
    """Return the bandwidths of all links that leave a server."""
    substrate = instance.substrate
    if isinstance(substrate, TwoTier):
        return [float(server.access_mbps) for server in substrate.servers]
    hosts = {v for v, node in enumerate(substrate.nodes) if node.capacity is not None}
    return [float(link.mbps) for link in substrate.links if link.source in hosts]


def _worker_slots(job: Job, horizon: int) -> float:
    """Return the worker-slots that a job can use, limited by rings, limit and budget."""
    most = float(job.max_workers * (horizon - job.arrival_slot + 1))
    if job.max_worker_slots is not None:
        most = min(most, float(job.max_worker_slots))
    for budget, each in zip(job.budget or (), job.worker_demand, strict=False):
        if budget is not None and each > 0:
            most = min(most, budget / each)
    return most


def _demand(jobs: list[Job], workers: list[float], resources: int) -> list[float]:
    pairs = list(zip(jobs, workers, strict=True))
    return [sum(n * job.worker_demand[r] for job, n in pairs) for r in range(resources)]


def _concave(job: Job) -> bool:
    if isinstance(job.utility, Sigmoid):
        # Convex up to the target; without one, or without a slope, never.
        return job.utility.target_iterations == 0 or job.utility.sensitivity == 0
    if isinstance(job.utility, Table):
        gains = [b - a for a, b in pairwise(job.utility.values)]
        return all(b <= a + 1e-9 * abs(a) for a, b in pairwise(gains))
    return True
