"""The share policy (1): units reserved for levels."""

from __future__ import annotations

from typing import Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...subproblems.curves import grid_limits, one_seed_lottery, static_lottery
from ..evaluate import missed_predictions
from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.chains import certificate_of_chain
from ..subproblems.sizes import check_lottery_size


@method(kind="approximation", reference="(1), reconstructed")
def share_policy(
    instance: AdversarialOnlinePolicyInstance,
    *,
    draw: Literal["seed", "static"] = "seed",
) -> MethodOutcome:
    r"""Units reserved for levels by the shares (1), one seed.

    Return the shares (1) as a lottery over tables. The same result as `plain`, tested.

    A share :math:`1/\alpha^*` of the units is for all levels, :math:`(1 - l_{j-1}/l_j)/\alpha^*`
    for level j and above, with

    .. math:: \alpha^* = 1 + \sum_{j \ge 2} \Big(1 - \frac{l_{j-1}}{l_j}\Big),

    which is its ratio, and the optimum if :math:`N \ge kJ`.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    draw : "seed" or "static", default "seed"
        One seed shifts the shares over the units; or one level is drawn with the probability of its
        share, and is the price of all units.

    Raises
    ------
    ModelRefused
        If the worst case of the lottery would take long to enumerate, or the shares earn too
        little on a predicted sequence, which they do not look at.
    """
    shares, k = grid_limits(instance.levels), instance.capacity_units
    lottery = (one_seed_lottery if draw == "seed" else static_lottery)(instance.levels, shares, k)
    check_lottery_size(instance, lottery)
    solution = AdversarialOnlinePolicySolution(lottery=lottery)
    for missed in missed_predictions(instance, solution):
        raise ModelRefused(
            f"{missed.where}: the shares earn {missed.amount} less than the consistency asks for; "
            "take minimax"
        )
    return MethodOutcome(
        solution=solution,
        certificate=certificate_of_chain(instance),
    )
