"""Features: how loaded the cluster is, how much placement matters, and how alike the jobs are."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import ASrptInstance


def features(instance: ASrptInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `load`: GPU-ticks of all jobs at their fastest, over those of the cluster until the last
      release; the total work over one tick of the cluster if all jobs are there at the start.
    - `gpus_variation`: coefficient of variation of the jobs' GPUs.
    - `ticks_variation`: that of their shortest durations.
    - `largest_job_share`: GPUs of the largest job over those of the cluster; near 1, the guarantee
      collapses.
    - `wide_share`: share of the jobs that need more GPUs than the largest server has.
    - `heavy_share`: share of the jobs that are slowed by 1.5 or more when no two replicas share a
      server.
    - `worst_slowdown`: the most that a job can be slowed so, in ticks: rho of Lemma 1.
    - `one_tick_share`: share of the jobs that take a single tick at their fastest; near 1, the
      tick is too coarse.
    - `recurring_share`: share of the jobs whose recurrence key occurs more than once.
    - `jobs_per_type`: mean number of jobs of a type.
    - `release_cost`: weighted sum of the release dates, in ticks: the part of every objective that
      no schedule changes; what is left is the weighted flow time.
    """
    gpus, shortest, longest = instance.gpus, instance.min_ticks, instance.max_ticks
    jobs = len(instance.jobs)
    work = float(gpus.astype(float) @ shortest.astype(float))
    horizon = max(1, int(instance.release_ticks.max()))
    heavy = [
        2 * t.longest >= 3 * u for t, u in zip(instance.times, instance.shortest_units, strict=True)
    ]
    groups: dict[int, int] = {}
    for job in instance.jobs:
        groups[job.group_id] = groups.get(job.group_id, 0) + 1
    recurring = sum(n for group, n in groups.items() if group >= 0 and n > 1)
    return {
        "load": work / (instance.total_gpus * horizon),
        "gpus_variation": variation(map(float, gpus)),
        "ticks_variation": variation(map(float, shortest)),
        "largest_job_share": float(gpus.max()) / instance.total_gpus,
        "wide_share": float((gpus > instance.largest_server).mean()),
        "heavy_share": sum(heavy[job.job_type] for job in instance.jobs) / jobs,
        "worst_slowdown": float((longest / shortest).max()),
        "one_tick_share": float((shortest == 1).mean()),
        "recurring_share": recurring / jobs,
        "jobs_per_type": jobs / len(instance.job_types),
        "release_cost": float(sum(job.weight * job.release_tick for job in instance.jobs)),
    }
