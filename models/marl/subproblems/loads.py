"""How full a cluster is, and how much its jobs disturb each other."""

from __future__ import annotations

import numpy as np

from .cluster import ClusterInstance


def cluster_features(instance: ClusterInstance) -> dict[str, float]:
    """Return the features that both problems have; the page of features lists them."""
    jobs, alpha = instance.jobs, instance.alpha
    number = max(1, len(jobs))
    mean = float(alpha.mean())
    return {
        "gpu_load": sum(j.num_tasks * j.gpus_per_task for j in jobs) / max(1, instance.total_gpus),
        "cpu_load": sum(j.num_tasks * j.cpus_per_task for j in jobs) / max(1, instance.total_cpus),
        "mean_interference": mean,
        "most_interference": float(alpha.max()),
        "asymmetry": float(np.abs(alpha - alpha.T).mean()) / mean if mean else 0.0,
        "tasks_per_job": instance.num_tasks / number,
        "gang_share": sum(j.num_tasks > 1 for j in jobs) / number,
        "cross_over_iteration": sum(float(j.cross_comm_s / j.base_iteration_s) for j in jobs)
        / number,
        "gpus_per_server": float(instance.gpus.max()),
    }
