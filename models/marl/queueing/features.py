"""Features: how full the cluster is, how much jobs disturb each other, how large they are."""

from __future__ import annotations

from ..subproblems.loads import cluster_features
from .instance import QueueingInstance


def features(instance: QueueingInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `gpu_load`: GPUs that all jobs need together, over the GPUs of the cluster.
    - `cpu_load`: the same for CPUs.
    - `mean_interference`, `most_interference`: of the table's entries.
    - `asymmetry`: mean difference of two types' slowdowns by each other, over the mean entry.
    - `tasks_per_job`: mean number of tasks.
    - `gang_share`: share of the jobs with several tasks.
    - `cross_over_iteration`: what an iteration takes longer across racks, over its time alone, mean
      of the jobs.
    - `gpus_per_server`: of the largest server.
    - `offered_load`: GPU-seconds of all jobs alone, over those of the cluster until the last slot.
    - `slots_per_job`: slots that a job takes alone, mean of the jobs.
    """
    alone_s = [float(job.iterations * job.base_iteration_s) for job in instance.jobs]
    gpu_s = sum(
        t * job.num_tasks * job.gpus_per_task for t, job in zip(alone_s, instance.jobs, strict=True)
    )
    end_s = float(instance.num_slots * instance.slot_s)
    return {
        **cluster_features(instance),
        "offered_load": gpu_s / max(1, instance.total_gpus) / end_s,
        "slots_per_job": sum(alone_s) / max(1, len(alone_s)) / float(instance.slot_s),
    }
