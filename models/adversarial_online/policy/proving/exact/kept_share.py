"""The policy that keeps ALG at a share of OPT: the optimal ratio in closed form."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import (
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
)
from ...subproblems.chains import certificate_of_chain, optimal_ratio
from ...subproblems.sizes import check_kept_share


@method(kind="exact", reference="this project", formulation="kept_share")
def kept_share(instance: AdversarialOnlinePolicyInstance) -> MethodOutcome:
    r"""Keeps the welfare at a share of the offline optimum; closed form.

    Return the policy that keeps ALG at :math:`\rho\,OPT`, for the largest share that lasts.

    A buyer of value v gets a unit with the probability :math:`\rho (1 - w/v)^+`, where w is the
    k-th largest value before her. Its ratio is the least of all policies,

    .. math:: \alpha = 1/\rho = \frac{1}{k} \max_v \sum_t \Big(1 - \frac{w_t}{v_t}\Big)^+,

    for any horizon: with :math:`N = qk + s` the maximum is :math:`s f(q+1) + (k - s) f(q)`, where
    f(n) is the worth of the best chain of n levels. See `subproblems.chains` for the proof.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance

    Notes
    -----
    :math:`O(\min(N/k, J)\, J^2)` for the value. The evaluator enumerates sets of k levels.

    Raises
    ------
    ModelRefused
        If the payoff is the regret or there are predictions, or the evaluator would take too long.
    """
    if instance.payoff == "regret":
        raise ModelRefused("payoff: the formula is for the ratio")
    if instance.predictions:
        raise ModelRefused("predictions: given, but the formula holds without them only")
    check_kept_share(instance)
    ratio = optimal_ratio(instance)
    return MethodOutcome(
        solution=AdversarialOnlinePolicySolution(kept_share=1 / ratio),
        claimed_objective=ratio,
        dual_bound=ratio,
        certificate=certificate_of_chain(instance),
    )
