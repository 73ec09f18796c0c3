"""The optimal policy: by formula for ratios, else by the double oracle."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import AdversarialOnlinePolicyInstance
from .double_oracle import double_oracle
from .kept_share import kept_share


@method(kind="exact", reference="this project", formulation="minimax")
def minimax(instance: AdversarialOnlinePolicyInstance, limits: Limits) -> MethodOutcome:
    """Keeps a share of OPT where that is optimal, else the double oracle.

    Return an optimal policy: `kept_share` for ratios without predictions, else `double_oracle`.

    Raises
    ------
    ModelRefused
        If neither is made for the instance.
    """
    if instance.payoff == "ratio" and not instance.predictions:
        return kept_share(instance)
    return double_oracle(instance, limits)
