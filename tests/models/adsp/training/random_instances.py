"""Small random trainings: few workers, short periods, and every option."""

import numpy as np

from gadgetopt.models.adsp.subproblems.workers import Worker
from gadgetopt.models.adsp.training.instance import (
    AdspTrainingInstance,
    Below,
    Choices,
    Ridge,
    Settled,
)


def random_instance(seed):
    rng = np.random.default_rng(seed)
    workers = tuple(
        Worker(
            step_time_s=float(rng.choice((0.5, 1.0, 1.5, 2.0, 4.0))),
            comm_time_s=float(rng.choice((0.0, 0.2, 0.6, 1.0))),
        )
        for _ in range(rng.integers(1, 5))
    )
    settled = rng.random() < 0.3
    return AdspTrainingInstance(
        workers=workers,
        check_period_s=float(rng.choice((6.0, 10.0, 15.0))),
        task=Ridge(rows_per_worker=32, dimension=4, noise=0.3, seed=seed),
        local_lr=float(rng.choice((0.02, 0.05))),
        global_lr=None if rng.random() < 0.7 else 0.4,
        target_factor=float(rng.choice((1.1, 1.5, 3.0))),
        convergence=Settled(evaluations=4, variance=1e-4)
        if settled
        else Below(evaluations=int(rng.integers(1, 4))),
        horizon_s=300.0,
        epoch_s=float(rng.choice((30.0, 60.0))),
        min_interval_s=float(rng.choice((0.0, 2.0))),
        catch_up=bool(rng.random() < 0.5),
        choices=Choices(max_commits=6, local_steps=(1, 3, 8)),
        seed=seed,
    )
