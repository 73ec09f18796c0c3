"""Instance features: how dense and how difficult to schedule a batch of gangs is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.features import mean, variation

from .instance import SjfBcoInstance


def features(instance: SjfBcoInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    Durations are the shortest over all numbers of servers and contention levels.

    - `load`: GPU slots that all jobs ask for, over those that the cluster has while the longest job
      runs. Up to 1 all jobs may run at once and the longest decides; far above 1 jobs wait, and
      packing decides.
    - `horizon_share`: GPU slots of all jobs over those of the horizon.
    - `largest_gang_share`: the largest gang over the GPUs of the cluster.
    - `spread_jobs_share`: share of the jobs that fit on no single server.
    - `contention_slowdown`: iteration time on one server more than needed (at least two) with every
      spread job of the cluster on the link, over the shortest iteration time; mean over the jobs
      that can be spread.
    - `gang_variation`, `duration_variation`, `server_variation`: coefficients of variation of gang
      sizes, durations and GPUs of a server.
    """
    rates, gpus = instance.rates, instance.total_gpus
    gangs = np.array(rates.gpus, dtype=np.float64)
    duration = rates.exec_min.astype(np.float64)
    jobs = zip(rates.gpus, rates.exec_min.tolist(), strict=True)
    area = sum(gang * slots for gang, slots in jobs)
    return {
        "load": area / gpus / float(duration.max()),
        "horizon_share": float(Fraction(area, gpus * instance.horizon_slots)),  # T may be huge
        "largest_gang_share": float(gangs.max()) / gpus,
        "spread_jobs_share": mean([float(g > max(instance.server_gpus)) for g in rates.gpus]),
        "contention_slowdown": mean(_slowdowns(instance)),
        "gang_variation": variation(gangs),
        "duration_variation": variation(duration),
        "server_variation": variation(instance.server_gpus),
    }


def _slowdowns(instance: SjfBcoInstance) -> list[float]:
    rates = instance.rates
    found = []
    for j, gang in enumerate(rates.gpus):
        fewest = rates.min_servers(gang)
        spread = max(2, fewest)
        if spread > min(gang, rates.servers):
            continue
        best = rates.iteration_slots(j, fewest, rates.levels(fewest)[0])
        found.append(float(rates.iteration_slots(j, spread, rates.max_level) / best))
    return found
