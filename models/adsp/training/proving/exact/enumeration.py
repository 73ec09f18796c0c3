"""Every policy, simulated: the optimum of what is offered."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.online import outcome_of
from ...instance import (
    AdspTrainingInstance,
    all_policies,
)
from ..certificate import AdspTrainingCertificate


def all_policies_simulated(
    instance: AdspTrainingInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the policy of all that are offered that trains soonest.

    Its time is the optimum; the certificate's check simulates all policies again. If no policy
    converges by the horizon, the instance is infeasible.
    """
    outcome = outcome_of(all_policies(instance), instance, limits)
    if outcome.limit_hit is None:
        if outcome.solution is None:
            outcome.proved = Status.INFEASIBLE
        elif outcome.claimed_objective is not None:
            time_s = Fraction(outcome.claimed_objective)
            outcome.certificate = AdspTrainingCertificate(kind="all_policies", time_s=time_s)
    return outcome
