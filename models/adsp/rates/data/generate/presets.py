"""Presets of workers and models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import (
        AdspRatesInstance,
        RateModel,
    )

#: Machine types of the testbed and how many of its 18 workers have each (recalled); their relative
#: speeds, 1 the slowest, are ours.
_TYPES = ((7, 1.0), (5, 2.0), (4, 3.0), (2, 4.0))


@generator()
def quickstart(
    rng: np.random.Generator, *, workers: int = 6, fairness_window: int = 3
) -> AdspRatesInstance:
    """Six workers of three speeds, at most three commits apart.

    Return a few workers of three speeds, for whom equal rates are not optimal.
    """
    steps = [float(rng.choice((0.5, 1.0, 2.5))) for _ in range(workers)]
    comms = [round(float(rng.uniform(0.3, 1.2)), 1) for _ in range(workers)]
    return _instance(steps, comms, "error_bound", max_commits=15, fairness_window=fairness_window)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    workers: int = 18,
    heterogeneity: float = 2.0,
    delay_s: float = 0.0,
    model: str = "error_bound",
) -> AdspRatesInstance:
    """18 workers of the testbed's four speeds at a degree of heterogeneity.

    Speeds of the machine types are spread until the mean speed over the slowest is H, of 1.45, 2,
    2.6 or 3.2 in the authors' sweep; `delay_s` is added to each commit, 0, 2, 5 or 10. A commit
    takes 0.5 to 1 s besides (reconstructed).
    """
    if heterogeneity < 1:
        raise InputError(f"heterogeneity: {heterogeneity}, expected at least 1")
    relative = [speed for count, speed in _TYPES for _ in range(count)]
    relative = [relative[i % len(relative)] for i in range(workers)]
    mean = sum(relative) / len(relative)
    spread = (heterogeneity - 1) / (mean - 1) if mean > 1 else 0.0
    steps = [round(2 / (1 + spread * (speed - 1)), 3) for speed in relative]
    comms = [round(delay_s + float(rng.uniform(0.5, 1.0)), 2) for _ in range(workers)]
    return _instance(steps, comms, model, max_commits=20, fairness_window=None)


@generator()
def uniform(
    rng: np.random.Generator,
    *,
    workers: int = 100,
    max_commits: int = 30,
    fairness_window: int = 6,
    model: str = "error_bound",
    cap_per_worker: float = 0.0,
) -> AdspRatesInstance:
    """Step and commit times from ranges.

    With `cap_per_worker` above 0, all workers together have so many commits each.
    """
    steps = rng.uniform(0.2, 3, size=workers).round(3).tolist()
    comms = rng.uniform(0.1, 1, size=workers).round(3).tolist()
    return _instance(
        steps,
        comms,
        model,
        max_commits=max_commits,
        fairness_window=fairness_window,
        commit_cap=max(workers, int(cap_per_worker * workers)) if cap_per_worker else None,
    )


@generator()
def one_straggler(
    rng: np.random.Generator, *, workers: int = 8, slowdown: float = 20.0
) -> AdspRatesInstance:
    """One worker so slow that it cannot commit as often as the others should.

    Return equal workers and one slower by a factor, which limits every equal rate.
    """
    if slowdown < 1:
        raise InputError(f"slowdown: {slowdown}, expected at least 1")
    steps = [1.0] * (workers - 1) + [float(slowdown)]
    comms = [round(float(rng.uniform(0.2, 0.6)), 1) for _ in range(workers)]
    return _instance(steps, comms, "error_bound", max_commits=20, fairness_window=None)


def _instance(
    steps_s: list[float],
    comms_s: list[float],
    model: str,
    *,
    max_commits: int,
    fairness_window: int | None,
    commit_cap: int | None = None,
) -> AdspRatesInstance:
    from ....subproblems.workers import Worker
    from ...instance import AdspRatesInstance

    return AdspRatesInstance(
        workers=tuple(
            Worker(step_time_s=t, comm_time_s=o) for t, o in zip(steps_s, comms_s, strict=True)
        ),
        check_period_s=60.0,
        max_commits=max_commits,
        fairness_window=fairness_window,
        commit_cap=commit_cap,
        model=_model(model, steps_s),
    )


def _model(kind: str, steps_s: list[float]) -> RateModel:
    """Return constants at which neither frequent nor rare commits are best."""
    from ...instance import (
        ErrorBound,
        MomentumCap,
        TimeToAccuracy,
    )

    mean = sum(60 / t for t in steps_s) / len(steps_s)
    a = float(f"{mean:.3g}")
    if kind == "error_bound":
        return ErrorBound(a=a, b=0.02)
    if kind == "time_to_accuracy":
        local = 60 / min(steps_s)
        return TimeToAccuracy(a=100 * a, b=0.02, error_budget=float(f"{0.02 * local:.3g}"))
    if kind == "momentum_cap":
        # The published curve: 18 terms of 0.05 for one commit in a period, and its best momentum.
        scale = 0.9 / math.fsum(60 / t for t in steps_s)
        return MomentumCap(max_momentum=0.15, scale=float(f"{scale:.3g}"))
    known = "'error_bound', 'time_to_accuracy' or 'momentum_cap'"
    raise InputError(f"model: {kind!r}, expected {known}")
