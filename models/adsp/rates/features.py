"""Features: how different the workers are, and what binds."""

from __future__ import annotations

import math

from gadgetopt.system.features import mean, variation

from .instance import AdspRatesInstance


def features(instance: AdspRatesInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `heterogeneity`: mean speed of the workers over that of the slowest, H; at 1 all are alike.
    - `speed_variation`: coefficient of variation of their speeds.
    - `commit_cost_steps`: mean number of steps that a commit costs; near 0 a worker commits as
      often as it may.
    - `commit_share`: mean part of the period that commits take at the largest equal rate.
    - `limited_share`: share of the workers that cannot make the most commits allowed.
    - `window_share`: fairness window over the largest number of commits; at 0 rates are equal.
    - `cap_per_worker`: commits allowed to a worker by the cap over the largest equal rate, at most
      1; below 1 the cap binds.
    """
    speeds = [1 / worker.step_time_s for worker in instance.workers]
    rate, period = instance.largest_equal_rate, instance.check_period_s
    costs = [worker.comm_time_s / worker.step_time_s for worker in instance.workers]
    shares = [min(1.0, rate * worker.comm_time_s / period) for worker in instance.workers]
    limited = sum(most < instance.max_commits for most in instance.most_commits)
    per_worker = instance.cap / len(speeds)
    return {
        "heterogeneity": math.fsum(speeds) / len(speeds) / min(speeds),
        "speed_variation": variation(speeds),
        "commit_cost_steps": mean(costs),
        "commit_share": mean(shares),
        "limited_share": limited / len(speeds),
        "window_share": instance.window / instance.max_commits,
        "cap_per_worker": min(1.0, per_worker / rate) if rate else 1.0,
    }
