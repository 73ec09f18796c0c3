r"""Proven ratios OPT/ALG, for units of one resource and values from L to U, :math:`\theta = U/L`.

* Greedy: :math:`\theta`. It refuses nobody before all is sold, at L or more.
* A non-decreasing table that starts at L or below: `curves.table_ratio`. If i units are sold,
  everybody refused was below :math:`\varphi_i`; so OPT is at most
  :math:`\sum_u (w_u - \varphi_i)^+ + k \varphi_i` for values :math:`w_u \ge \varphi_u` sold, and
  the ratio is largest if all :math:`w_u = \varphi_u`.
* One seed: the expected sales are those of the fractional exponential price, whose utilisation y
  proves :math:`OPT \le \varphi(y) + V - P` for the welfare V and the area P under the price, and
  :math:`\varphi(y) = \alpha P`.
* A static price that is at most v with probability :math:`w(v)`: the sale at p is worth at least
  :math:`\sum_i p\, 1[w_i \ge p]` of the k largest values, whose expectation is their sum over
  :math:`\alpha`.
* Shares (1): if the highest level seen is m, the shares up to m are worth its level over
  :math:`\alpha^*`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance

Parameters = Mapping[str, Any]


def of_units(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if each request demands one unit of the one resource."""
    return instance.unit_demand


def on_a_grid(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if the levels are known."""
    return bool(instance.levels)


def on_no_grid(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if no levels are known."""
    return not instance.levels


def greedy(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction:
    r"""Return :math:`\theta`."""
    return instance.spread


def exponential(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> float:
    r"""Return :math:`1 + \ln\theta`."""
    return curves.exponential_ratio(instance.spread)


def finite_k(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> float:
    """Return the least ratio of a deterministic table of k units."""
    return curves.finite_ratio(instance.capacity[0], instance.spread)


def shares(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction:
    r"""Return :math:`\alpha^*` of the levels."""
    return curves.grid_ratio(instance.levels)


def exponential_table(
    instance: AdversarialOnlineRunInstance, _parameters: Parameters
) -> Fraction | None:
    """Return the largest ratio of the exponential price as a table of k units."""
    return _of_curve(instance, curves.exponential)


def plain_table(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction | None:
    """Return the largest ratio of the price without flat part as a table of k units."""
    return _of_curve(instance, curves.plain_exponential)


def _of_curve(
    instance: AdversarialOnlineRunInstance, curve: Callable[[float, Fraction], float]
) -> Fraction | None:
    low, high = instance.value_min, instance.value_max
    table = curves.curve_table(curve, instance.capacity[0], low, high)
    return curves.table_ratio(table, low, high)


def do_not_fall(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if the instance brings prices, and none falls."""
    return bool(instance.prices) and list(instance.prices[0]) == sorted(instance.prices[0])


def own_table(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction | None:
    """Return the largest ratio of the instance's prices; None if the first is above L."""
    return curves.table_ratio(instance.prices[0], instance.value_min, instance.value_max)
