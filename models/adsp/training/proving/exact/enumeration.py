"""Every policy, simulated: the optimum of what is offered."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.online import outcome_of
from ...instance import (
    AdspTrainingInstance,
    all_policies,
)
from ..certificate import AdspTrainingCertificate


@method(name="all_policies", kind="exact", reference="this project", formulation="all_policies")
def all_policies_simulated(instance: AdspTrainingInstance, limits: Limits) -> MethodOutcome:
    """Simulates every policy, each until it converges or another was sooner.

    Its time is the optimum; the certificate's check simulates all policies again, in another
    process. If no policy converges by the horizon, the instance is infeasible.
    """
    outcome = outcome_of(all_policies(instance), instance, limits)
    if outcome.limit_hit is None:
        if outcome.solution is None:
            outcome.proved = Status.INFEASIBLE
        elif outcome.claimed_objective is not None:
            time_s = Fraction(outcome.claimed_objective)
            outcome.certificate = AdspTrainingCertificate(kind="all_policies", time_s=time_s)
    return outcome
