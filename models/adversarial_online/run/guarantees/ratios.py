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

from gadgetopt.system.declaring import guarantee

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance

Parameters = Mapping[str, Any]

#: The ratio of a table, in words.
TABLE = "OPT <= max_i k phi_i / (phi_0 + ... + phi_{i-1}) ALG, over phi_i > L, with phi_k = U"


def of_units(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if each request demands one unit of the one resource."""
    return instance.unit_demand


def on_a_grid(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if the levels are known."""
    return bool(instance.levels)


def on_no_grid(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if no levels are known."""
    return not instance.levels


def do_not_fall(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> bool:
    """Return True if the instance brings prices, and none falls."""
    return bool(instance.prices) and list(instance.prices[0]) == sorted(instance.prices[0])


@guarantee(
    statement="OPT <= theta ALG",
    reference="standard theory (reconstructed)",
    methods=("greedy",),
    assumptions={"one resource, of which each request demands one unit": of_units},
)
def greedy(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction:
    r"""Return :math:`\theta`."""
    return instance.spread


@guarantee(
    name="1 + ln theta",
    statement="OPT <= (1 + ln theta) E[ALG], for every k",
    reference="standard theory (reconstructed)",
    methods=("one_seed",),
    assumptions={"one resource, of which each request demands one unit": of_units},
)
@guarantee(
    name="random static price",
    statement="OPT <= (1 + ln theta) E[ALG], for every k",
    reference="standard theory (reconstructed)",
    methods=("random_static",),
    assumptions={
        "one resource, of which each request demands one unit": of_units,
        "no levels of values are known": on_no_grid,
    },
)
def exponential(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> float:
    r"""Return :math:`1 + \ln\theta`."""
    return curves.exponential_ratio(instance.spread)


@guarantee(
    name="finite k",
    statement="OPT <= alpha_k ALG, the least ratio of a deterministic table of k units",
    reference="standard theory (reconstructed)",
    methods=("finite_k",),
    assumptions={"one resource, of which each request demands one unit": of_units},
)
def finite_k(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> float:
    """Return the least ratio of a deterministic table of k units."""
    return curves.finite_ratio(instance.capacity[0], instance.spread)


@guarantee(
    name="shares of a grid",
    statement="OPT <= alpha* E[ALG], alpha* = 1 + sum_j (1 - l_{j-1} / l_j), for every k",
    reference="(1) (reconstructed)",
    methods=("share", "random_static"),
    assumptions={
        "one resource, of which each request demands one unit": of_units,
        "the levels of values are known": on_a_grid,
    },
)
def shares(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction:
    r"""Return :math:`\alpha^*` of the levels."""
    return curves.grid_ratio(instance.levels)


@guarantee(
    name="exponential table",
    statement=TABLE,
    reference="standard theory (reconstructed)",
    methods=("exponential",),
    assumptions={"one resource, of which each request demands one unit": of_units},
)
def exponential_table(
    instance: AdversarialOnlineRunInstance, _parameters: Parameters
) -> Fraction | None:
    """Return the largest ratio of the exponential price as a table of k units."""
    return _of_curve(instance, curves.exponential)


@guarantee(
    name="plain table",
    statement=TABLE,
    reference="standard theory (reconstructed)",
    methods=("exp_plain",),
    assumptions={"one resource, of which each request demands one unit": of_units},
)
def plain_table(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction | None:
    """Return the largest ratio of the price without flat part as a table of k units."""
    return _of_curve(instance, curves.plain_exponential)


def _of_curve(
    instance: AdversarialOnlineRunInstance, curve: Callable[[float, Fraction], float]
) -> Fraction | None:
    low, high = instance.value_min, instance.value_max
    table = curves.curve_table(curve, instance.capacity[0], low, high)
    return curves.table_ratio(table, low, high)


@guarantee(
    name="own table",
    statement=TABLE,
    reference="standard theory (reconstructed)",
    methods=("posted",),
    assumptions={
        "one resource, of which each request demands one unit": of_units,
        "the instance brings prices, and none falls": do_not_fall,
    },
)
def own_table(instance: AdversarialOnlineRunInstance, _parameters: Parameters) -> Fraction | None:
    """Return the largest ratio of the instance's prices; None if the first is above L."""
    return curves.table_ratio(instance.prices[0], instance.value_min, instance.value_max)
