"""Features: how full the cluster is, how much jobs disturb each other, how large they are."""

from __future__ import annotations

from ..subproblems.loads import cluster_features
from .instance import PlacementInstance


def features(instance: PlacementInstance) -> dict[str, float]:
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
    """
    return cluster_features(instance)
