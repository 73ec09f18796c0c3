"""List schedules of the pool: feasible starts to begin a linear program with."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ...relaxations import Pool


def listed(pool: Pool, order_by: Floats) -> Floats:
    """Return starts of the pool's jobs, each in turn as early as it fits, shape (jobs,)."""
    G = pool.total_gpus
    horizon = int(pool.release.max()) + int(pool.duration.max())
    used = np.zeros(horizon + 1, dtype=np.int64)
    starts = np.zeros(len(order_by))
    for j in np.argsort(order_by, kind="stable").tolist():
        t, d, g = int(pool.release[j]), int(pool.duration[j]), int(pool.gpus[j])
        while True:
            full = np.flatnonzero(used[t : t + d] > G - g)
            if not len(full):
                break
            t += int(full[-1]) + 1
        if t + d > len(used):
            used = np.pad(used, (0, t + d - len(used) + horizon))
        used[t : t + d] += g
        starts[j] = t
    return starts
