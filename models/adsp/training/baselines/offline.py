"""ADSP+ and ADSP++: rates that are searched for before training."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.online import outcome_of
from ..instance import AdspTrainingInstance, Rate, all_policies


def adsp_plus(
    instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the equal rate that trains soonest, each simulated to the end: the best fixed rate.

    The time of the search does not count. Rates without explicit momentum and at the learning rate
    of the instance.
    """
    rates = range(1, instance.choices.max_commits + 1)
    offered = all_policies(instance)
    plain = [rate for rate in (Rate(commits=c) for c in rates) if rate in offered]
    return outcome_of(plain, instance, limits)


def adsp_plus_plus(
    instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the rate, momentum and learning rate that train soonest together."""
    rates = [policy for policy in all_policies(instance) if isinstance(policy, Rate)]
    return outcome_of(rates, instance, limits)
