"""ADSP+ and ADSP++: rates that are searched for before training."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.online import outcome_of
from ..instance import AdspTrainingInstance, Rate, all_policies


@method(kind="heuristic", reference="Hu, Wang and Wu 2020, ablation")
def adsp_plus(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    """ADSP+: the best equal rate, found beforehand.

    Return the equal rate that trains soonest, each simulated to the end: the best fixed rate.

    The time of the search does not count. Rates without explicit momentum and at the learning rate
    of the instance.
    """
    rates = range(1, instance.choices.max_commits + 1)
    offered = all_policies(instance)
    plain = [rate for rate in (Rate(commits=c) for c in rates) if rate in offered]
    return outcome_of(plain, instance, limits)


@method(kind="heuristic", reference="Hu, Wang and Wu 2020, ablation")
def adsp_plus_plus(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    """ADSP++: the best rate, explicit momentum and global learning rate together."""
    rates = [policy for policy in all_policies(instance) if isinstance(policy, Rate)]
    return outcome_of(rates, instance, limits)
