"""Every policy, simulated: the optimum of what is offered."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.online import outcome_of
from ..instance import AdspTrainingInstance, all_policies


def all_policies_simulated(
    instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the policy of all that are offered that trains soonest.

    Its time is the optimum, by the word of the simulation: no certificate is shorter than to
    simulate again. If no policy converges by the horizon, the instance is infeasible.
    """
    outcome = outcome_of(all_policies(instance), instance, limits)
    if outcome.limit_hit is None:
        if outcome.solution is None:
            outcome.proved = Status.INFEASIBLE
        outcome.dual_bound = outcome.claimed_objective
    return outcome
