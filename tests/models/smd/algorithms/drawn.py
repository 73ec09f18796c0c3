"""Small random instances whose jobs are charged their reservation."""

import numpy as np

from gadgetopt.models.smd.instance import SmdInstance

from ..brute_force import small_job


def drawn_instance(seed):
    """A few jobs with room for several workers and servers, and capacities for some of them."""
    rng = np.random.default_rng([38, seed])
    jobs = []
    for _ in range(int(rng.integers(2, 6))):
        job = small_job(rng, 2, 1.0)
        limit = tuple(float(x) for x in rng.integers(4, 15, 2))
        jobs.append(job.model_copy(update={"reservation_limit": limit}))
    return SmdInstance(
        resources=("a", "b"),
        capacity=tuple(float(x) for x in rng.integers(10, 40, 2)),
        charging="reserved",
        jobs=tuple(jobs),
    )
