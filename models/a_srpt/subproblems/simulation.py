"""Events in order of time, for any online policy: what it may know, and when."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import MethodOutcome

from ..instance import ASrptInstance
from .arrivals import Arrival, arrival_of
from .cluster import Cluster
from .forecasts import Forecasts
from .predictors import make_predictor

#: The clock is asked after so many events. Tuned: `benchmarks/constants.py`.
_CLOCK_EVENTS = 256


class Policy(Protocol):
    """Decides at every event which jobs start, from what has arrived so far."""

    cluster: Cluster

    @property
    def next_event(self) -> int | None:
        """The next time at which the policy wants to decide though nothing happens."""

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Take a job that arrives, with the predicted number of its iterations."""

    def dispatch(self, now: int) -> None:
        """Start jobs."""


def simulate(
    instance: ASrptInstance,
    policy: Policy,
    clock: Clock,
    predictor: str,
    noise_sd: float,
    rng: np.random.Generator,
) -> MethodOutcome:
    """Run a policy: at one time completions come first, then arrivals, then its decision.

    Parameters
    ----------
    instance : ASrptInstance
    policy : Policy
    clock : Clock
        If it expires, there is no schedule.
    predictor : str
        One of `names.PredictorName`. It sees completions before the arrivals of the same time.
    noise_sd : float
        Of `noisy_oracle`.
    rng : numpy.random.Generator

    Returns
    -------
    MethodOutcome
        Its notes have the number of events, and what `Forecasts` says of the predictions.
    """
    require_at_least(0, noise_sd=noise_sd)
    jobs, total, cluster = instance.jobs, instance.total_gpus, policy.cluster
    now: int | None = 0
    guess = make_predictor(
        predictor, instance, noise_sd, rng, lambda: cluster.progress(0 if now is None else now)
    )
    arrived: dict[int, Arrival] = {}
    order = sorted(range(len(jobs)), key=lambda j: (jobs[j].release_tick, j))
    upcoming = deque((jobs[j].release_tick * total, j) for j in order)
    events = 0
    forecasts = Forecasts(instance)
    while True:
        times = (
            upcoming[0][0] if upcoming else None,
            cluster.next_completion,
            policy.next_event,
        )
        now = min((t for t in times if t is not None), default=None)
        if now is None:
            break
        events += 1
        if events % _CLOCK_EVENTS == 0 and clock.expired:
            return MethodOutcome(limit_hit="time_s")
        while cluster.next_completion == now:
            done = cluster.complete()
            known = arrived.pop(done)
            guess.observe(known, jobs[done].num_iterations)
            forecasts.observe(known)
        while upcoming and upcoming[0][0] == now:
            _, job = upcoming.popleft()
            arrived[job] = arrival_of(instance, job)
            predicted = guess.predict(arrived[job])
            forecasts.predict(arrived[job], predicted)
            policy.arrive(job, now, predicted)
        policy.dispatch(now)
    notes = {"events": events, **forecasts.notes()}
    noise = f":noise_sd={noise_sd}" if predictor == "noisy_oracle" else ""
    return MethodOutcome(solution=cluster.solution(predictor + noise), notes=notes)


def require_at_least(least: float, **parameters: float) -> None:
    """Raise InputError for a parameter below the least value allowed."""
    for name, value in parameters.items():
        if not value >= least:
            raise InputError(f"{name}: {value}, expected at least {least}")
