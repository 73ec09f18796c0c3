"""Posted prices of the theory, which know the least and the largest value only."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ...subproblems import curves
from ...subproblems.prices import Lottery, of_table
from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.sizes import check_lottery_size


def greedy(
    instance: AdversarialOnlinePolicyInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    r"""Return the policy that sells to everybody, of ratio at most :math:`\theta = U/L`.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits, rng
        Not used: the prices are a formula.

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    return _posted(instance, (of_table([instance.levels[0]] * instance.capacity_units),))


def exponential(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    flat: bool = True,
) -> MethodOutcome:
    r"""Return the exponential price as a table of k prices.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits, rng
        Not used: the prices are a formula.
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


def finite_table(
    instance: AdversarialOnlinePolicyInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the best deterministic table of k units for all values from L to U.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits, rng
        Not used: the prices are a formula.

    Raises
    ------
    ModelRefused
        If the worst case would take long to enumerate.
    """
    levels, k = instance.levels, instance.capacity_units
    return _posted(instance, (of_table(curves.finite_table(k, levels[0], levels[-1])),))


def exponential_draw(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    draw: Literal["seed", "static"] = "seed",
) -> MethodOutcome:
    r"""Return a lottery of ratio at most :math:`1 + \ln\theta`, for any number of units.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits, rng
        Not used: the lottery is a formula; its draw is not simulated.
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
