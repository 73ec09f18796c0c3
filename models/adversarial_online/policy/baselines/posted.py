"""Posted prices of the theory, which know the least and the largest value only."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...subproblems import curves
from ...subproblems.prices import Lottery, of_table
from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.sizes import check_lottery_size


@method(kind="baseline", reference="standard theory, reconstructed")
def greedy(instance: AdversarialOnlinePolicyInstance) -> MethodOutcome:
    r"""Sells to everybody: the least level is the price of all units.

    Return the policy that sells to everybody, of ratio at most :math:`\theta = U/L`.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    return _posted(instance, (of_table([instance.levels[0]] * instance.capacity_units),))


@method(kind="baseline", reference="standard theory, reconstructed")
def exponential(
    instance: AdversarialOnlinePolicyInstance,
    *,
    flat: bool = True,
) -> MethodOutcome:
    r"""The exponential price of 1 + ln(U/L) as one table.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    flat : bool, default True
        :math:`\varphi(y) = L` up to :math:`y = 1/\alpha` and :math:`L e^{\alpha y - 1}` above;
        without, :math:`L \theta^y`.

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    levels, k = instance.levels, instance.capacity_units
    curve = curves.exponential if flat else curves.plain_exponential
    return _posted(instance, (of_table(curves.curve_table(curve, k, levels[0], levels[-1])),))


@method(kind="approximation", reference="standard theory, reconstructed")
def finite_table(instance: AdversarialOnlinePolicyInstance) -> MethodOutcome:
    """The best deterministic table for values from a range, of k units.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    levels, k = instance.levels, instance.capacity_units
    return _posted(instance, (of_table(curves.finite_table(k, levels[0], levels[-1])),))


@method(kind="approximation", reference="standard theory, reconstructed")
def exponential_draw(
    instance: AdversarialOnlinePolicyInstance,
    *,
    draw: Literal["seed", "static"] = "seed",
) -> MethodOutcome:
    r"""The exponential price, shifted by one seed or drawn once as a static price.

    Return a lottery of ratio at most :math:`1 + \ln\theta`, for any number of units.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    draw : "seed" or "static", default "seed"
        One seed shifts the exponential price over the units; or one price is drawn for all units.

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    levels, k = instance.levels, instance.capacity_units
    shares = [*curves.exponential_limits(levels, levels[-1] / levels[0])[:-1], Fraction(1)]
    lottery = curves.one_seed_lottery if draw == "seed" else curves.static_lottery
    return _posted(instance, lottery(levels, shares, k))


def _posted(instance: AdversarialOnlinePolicyInstance, lottery: Lottery) -> MethodOutcome:
    check_lottery_size(instance, lottery)
    return MethodOutcome(solution=AdversarialOnlinePolicySolution(lottery=lottery))
