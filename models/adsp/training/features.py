"""Features: how different the workers are, and how hard the task is."""

from __future__ import annotations

import math

from gadgetopt.system.features import mean, variation

from .instance import AdspTrainingInstance, Ridge


def features(instance: AdspTrainingInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `heterogeneity`: mean speed of the workers over that of the slowest, H; barriers cost most
      where it is large.
    - `speed_variation`: coefficient of variation of their speeds.
    - `commit_cost_steps`: mean number of steps that a commit costs; SSP and BSP pay it every step.
    - `slowest_reach`: commits that the slowest worker can make in a period over the largest number
      offered, at most 1; below 1 some rates are out of its reach.
    - `steps_per_period`: mean steps of a worker in a period without commits.
    - `horizon_periods`: check periods until the horizon.
    - `local_rate`: local learning rate.
    - `noise`: standard deviation of the error of the rows; 0 where the task is none of regression.
    """
    workers, period = instance.workers, instance.check_period_s
    speeds = [1 / worker.step_time_s for worker in workers]
    reach = min(period / (worker.step_time_s + worker.comm_time_s) for worker in workers)
    return {
        "heterogeneity": math.fsum(speeds) / len(speeds) / min(speeds),
        "speed_variation": variation(speeds),
        "commit_cost_steps": mean([w.comm_time_s / w.step_time_s for w in workers]),
        "slowest_reach": min(1.0, reach / instance.choices.max_commits),
        "steps_per_period": mean([period * speed for speed in speeds]),
        "horizon_periods": instance.horizon_s / period,
        "local_rate": instance.local_lr,
        "noise": instance.task.noise if isinstance(instance.task, Ridge) else 0.0,
    }
