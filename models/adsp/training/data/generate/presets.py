"""Presets of trainings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import AdspTrainingInstance

#: Machine types of the testbed and how many of its 18 workers have each (recalled); their relative
#: speeds, 1 the slowest, are ours.
_TYPES = ((7, 1.0), (5, 2.0), (4, 3.0), (2, 4.0))


@generator()
def quickstart(rng: np.random.Generator, *, max_commits: int = 8) -> AdspTrainingInstance:
    """Three workers, one three times slower; ridge regression."""
    from ....subproblems.workers import Worker
    from ...instance import (
        AdspTrainingInstance,
        Choices,
        Ridge,
    )

    return AdspTrainingInstance(
        workers=tuple(Worker(step_time_s=t, comm_time_s=0.6) for t in (1.0, 1.0, 3.0)),
        task=Ridge(seed=_seed(rng)),
        target_factor=1.05,
        horizon_s=1200.0,
        choices=Choices(max_commits=max_commits, local_steps=(1, 8, 40)),
        seed=_seed(rng),
    )


@generator()
def slow(rng: np.random.Generator, *, max_commits: int = 30) -> AdspTrainingInstance:
    """Three workers and a task of small steps and much noise: many periods.

    Return the same workers with steps a tenth as long and noisy rows: some thirty periods.
    """
    from ....subproblems.workers import Worker
    from ...instance import (
        AdspTrainingInstance,
        Choices,
        Ridge,
    )

    return AdspTrainingInstance(
        workers=tuple(Worker(step_time_s=t, comm_time_s=0.6) for t in (1.0, 1.0, 3.0)),
        task=Ridge(rows_per_worker=200, noise=0.3, seed=_seed(rng)),
        local_lr=0.004,
        target_factor=1.02,
        horizon_s=6000.0,
        choices=Choices(max_commits=max_commits, local_steps=(1, 8, 40)),
        seed=_seed(rng),
    )


@generator()
def paper(
    rng: np.random.Generator,
    *,
    workers: int = 18,
    heterogeneity: float = 2.0,
    delay_s: float = 0.0,
    task: str = "ridge",
    momenta: tuple[float, ...] = (0.0,),
) -> AdspTrainingInstance:
    """18 workers of the testbed's speeds at a degree of heterogeneity.

    The authors sweep H over 1.45, 2, 2.6 and 3.2 and an extra delay over 0, 2, 5 and 10 s, and try
    ADACOMM's first local steps from 1 to 100; ADSP++ has momenta 0, 0.3, 0.6 and 0.9. Their tasks
    are networks; ridge regression and `digits` stand for them (reconstructed).
    """
    from ....subproblems.workers import Worker
    from ...instance import (
        AdspTrainingInstance,
        Choices,
        Digits,
        Ridge,
    )

    if heterogeneity < 1:
        raise InputError(f"heterogeneity: {heterogeneity}, expected at least 1")
    if task not in ("ridge", "digits"):
        raise InputError(f"task: {task!r}, expected 'ridge' or 'digits'")
    relative = [speed for count, speed in _TYPES for _ in range(count)]
    relative = [relative[i % len(relative)] for i in range(workers)]
    mean = sum(relative) / len(relative)
    spread = (heterogeneity - 1) / (mean - 1) if mean > 1 else 0.0
    ridge = task == "ridge"
    return AdspTrainingInstance(
        workers=tuple(
            Worker(
                step_time_s=round(2 / (1 + spread * (speed - 1)), 2),
                comm_time_s=round(delay_s + float(rng.uniform(0.5, 1.0)), 2),
            )
            for speed in relative
        ),
        task=Ridge(rows_per_worker=200, noise=0.3, seed=_seed(rng)) if ridge else Digits(),
        batch_size=8,
        local_lr=0.004 if ridge else 0.05,
        target_factor=1.02 if ridge else None,
        target_loss=None if ridge else 0.5,
        horizon_s=20_000.0,
        choices=Choices(max_commits=10, momenta=momenta),
        seed=_seed(rng),
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
