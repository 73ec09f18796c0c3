"""Features: how much there is to pack, and how coarse it is."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import ParallelMachinesInstance


def features(instance: ParallelMachinesInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `jobs_per_machine`: instances are easy below 2, hard from 2 to 5, and easy again far above.
    - `longest_over_mean_load`: the longest job over the mean load of the machines; from 1 on, it
      alone may determine the makespan.
    - `shortest_over_longest`: near 1, all jobs are alike, and their number per machine determines
      the makespan.
    - `processing_variation`: coefficient of variation of the processing times.
    - `repeated_share`: share of the jobs whose processing time occurs more than once.
    """
    jobs = len(instance.processing_s)
    longest, shortest = max(instance.processing_s), min(instance.processing_s)
    repeated = sum(count for count in instance.demand.values() if count > 1)
    return {
        "jobs_per_machine": jobs / instance.machines,
        "longest_over_mean_load": longest * instance.machines / instance.total_s,
        "shortest_over_longest": shortest / longest,
        "processing_variation": variation(map(float, instance.processing_s)),
        "repeated_share": repeated / jobs,
    }
