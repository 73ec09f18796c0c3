r"""Proven worst ratios of the theory's policies, over the optimal ratio of the game.

* Shares (1), :math:`\alpha^* = 1 + \sum_{j \ge 2} (1 - l_{j-1}/l_j)`: if :math:`l_m` is the highest
  level seen often enough, the shares up to m are sold at least at their levels, which makes
  :math:`(l_1 + \sum_{j \le m} (l_j - l_{j-1}))/\alpha^* = l_m/\alpha^*` a unit.
* The exponential price drawn once or shifted by one seed, :math:`1 + \ln\theta`: the same with
  infinitely many levels.
* The bisected table of k units: its binding sequences sell i units at their prices, then bring k
  buyers just below the next price.
* Greedy, :math:`\theta`: as many sales as the optimum, each at no less than L.

The optimal ratio is that of `subproblems.chains`, for any horizon.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import AdversarialOnlinePolicyInstance


def is_ratio_game(
    instance: AdversarialOnlinePolicyInstance, _parameters: Mapping[str, Any]
) -> bool:
    """Return True if policies are judged by ratios, and no sequence is predicted."""
    return instance.payoff == "ratio" and not instance.predictions


@guarantee(
    name="Shares (1)",
    statement="ratio at most 1 + sum of 1 - l_{j-1}/l_j, the optimum if N >= kJ",
    reference="(1), reconstructed",
    methods=("share_policy",),
    assumptions={"ratios, without predictions": is_ratio_game},
)
def shares_ratio(
    instance: AdversarialOnlinePolicyInstance, _parameters: Mapping[str, Any]
) -> Fraction:
    """Return the ratio of (1) over the optimal one; 1 for long horizons."""
    from ...subproblems.curves import grid_ratio

    return grid_ratio(instance.levels) / _optimal(instance)


@guarantee(
    name="1 + ln(U/L)",
    statement="ratio at most 1 + ln(U/L) for any number of units",
    reference="standard theory, reconstructed",
    methods=("exponential_draw",),
    assumptions={"ratios, without predictions": is_ratio_game},
)
def exponential_ratio(
    instance: AdversarialOnlinePolicyInstance, _parameters: Mapping[str, Any]
) -> float:
    """Return 1 + ln(U/L) over the optimal ratio."""
    from ...subproblems.curves import exponential_ratio as ratio

    return ratio(instance.levels[-1] / instance.levels[0]) / float(_optimal(instance))


@guarantee(
    name="Finite k",
    statement="ratio at most the bisected number of k units",
    reference="standard theory, reconstructed",
    methods=("finite_table",),
    assumptions={"ratios, without predictions": is_ratio_game},
)
def finite_ratio(
    instance: AdversarialOnlinePolicyInstance, _parameters: Mapping[str, Any]
) -> float:
    """Return the bisected ratio of k units over the optimal ratio."""
    from ...subproblems.curves import finite_ratio as ratio

    theta = instance.levels[-1] / instance.levels[0]
    return ratio(instance.capacity_units, theta) / float(_optimal(instance))


@guarantee(
    name="Tables",
    statement="ratio at most that of the table over all values from L to U",
    reference="standard theory, reconstructed",
    methods=("exponential",),
    assumptions={"ratios, without predictions": is_ratio_game},
)
def table_ratio(
    instance: AdversarialOnlinePolicyInstance, parameters: Mapping[str, Any]
) -> Fraction | None:
    """Return the ratio of the exponential table over the optimal ratio."""
    from ...subproblems import curves

    low, high = instance.levels[0], instance.levels[-1]
    curve = curves.exponential if parameters["flat"] else curves.plain_exponential
    table = curves.curve_table(curve, instance.capacity_units, low, high)
    ratio = curves.table_ratio(table, low, high)
    return None if ratio is None else ratio / _optimal(instance)


@guarantee(
    name="U/L",
    statement="ratio at most U/L",
    reference="standard theory, reconstructed",
    methods=("greedy",),
    assumptions={"ratios, without predictions": is_ratio_game},
)
def greedy_ratio(
    instance: AdversarialOnlinePolicyInstance, _parameters: Mapping[str, Any]
) -> Fraction:
    """Return U/L over the optimal ratio."""
    return instance.levels[-1] / instance.levels[0] / _optimal(instance)


def _optimal(instance: AdversarialOnlinePolicyInstance) -> Fraction:
    from ..subproblems.chains import optimal_ratio

    return optimal_ratio(instance)
