"""Orders in which rules take the jobs; equal jobs in the order of arrival, then of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

from .cluster import ClusterInstance

Order = Literal["fifo", "big", "srpt", "drf", "las"]
ORDERS: tuple[Order, ...] = get_args(Order)

#: Attained service in GPU-seconds from which `las` moves a job to its second queue. By definition.
LAS_THRESHOLD_GPU_S = 3600.0


def order_of(
    instance: ClusterInstance,
    order: Order,
    *,
    left_s: Callable[[int], float] | None = None,
    attained_gpu_s: Callable[[int], float] | None = None,
) -> Callable[[int], tuple[float, ...]]:
    r"""Return the key by which a rule sorts the jobs.

    - `fifo`: arrival.
    - `big`: most tasks.
    - `srpt`: least :math:`W_j t^0_j`, or what is left of it.
    - `drf`: least dominant share :math:`\max(n_j g_j / \sum G, n_j u_j / \sum U)`.
    - `las`: least attained service in two queues; within a queue by arrival.

    Parameters
    ----------
    left_s, attained_gpu_s : callable, optional
        Seconds alone that a job has left, and GPU-seconds that it has had, while a plan is made.
    """
    jobs = instance.jobs
    arrivals = [(float(job.arrival_s), j) for j, job in enumerate(jobs)]
    gpus, cpus = max(1, instance.total_gpus), max(1, instance.total_cpus)

    def key(j: int) -> tuple[float, ...]:
        job, arrival = jobs[j], arrivals[j]
        if order == "big":
            return (-job.num_tasks, *arrival)
        if order == "srpt":
            alone_s = left_s(j) if left_s else float(job.iterations * job.base_iteration_s)
            return (alone_s, *arrival)
        if order == "drf":
            share = max(job.gpus_per_task / gpus, job.cpus_per_task / cpus)
            return (job.num_tasks * share, *arrival)
        if order == "las":
            attained = attained_gpu_s(j) if attained_gpu_s else 0.0
            return (float(attained >= LAS_THRESHOLD_GPU_S), *arrival)
        return arrival

    return key


def in_order(
    instance: ClusterInstance, order: Order, among: Iterable[int] | None = None
) -> list[int]:
    """Return all jobs, or some of them, in an order."""
    return sorted(
        range(len(instance.jobs)) if among is None else among, key=order_of(instance, order)
    )
