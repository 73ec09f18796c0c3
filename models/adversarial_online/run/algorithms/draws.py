r"""Policies that draw once, before the first buyer: the expectation is exact, nothing is sampled.

Units of one resource need no replay: see `one_draw`. Otherwise the draw decides among finitely many
tables, which change where a price crosses the value of some unit demanded, and each is replayed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...subproblems.curves import exponential_limits, grid_limits
from ..instance import AdversarialOnlineRunInstance
from ..subproblems import one_draw
from ..subproblems.outcome import (
    check_replayed,
    exponential_area,
    grid_area,
    outcome_of_draws,
    outcome_of_expected,
)


@method(kind="online", reference="standard theory (reconstructed)")
def one_seed(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""The exponential price shifted by one seed: 1 + ln theta for every k.

    Post :math:`\varphi((u + \xi)/k)` of the exponential price, with one seed :math:`\xi`.

    Expected ratio :math:`1 + \ln\theta` for every k, of units.

    Raises
    ------
    ModelRefused
        If there are several resources: their prices add up, and no table on values represents them.
    """
    if instance.unit_demand:
        reach = one_draw.exponential_reach(instance)
        area = exponential_area(instance, reach)
        return outcome_of_expected(instance, one_draw.one_seed(reach), reach.parts, area)
    if len(instance.capacity) > 1:
        raise ModelRefused(f"capacity: of {len(instance.capacity)} resources, expected one")
    k = instance.capacity[0]
    values = _unit_values(instance)
    ends = exponential_limits(values, instance.spread)
    breaks = sorted({Fraction(0), Fraction(1), *(k * w % 1 for w in ends)})
    check_replayed(instance, len(breaks) - 1)
    draws = []
    for start, end in pairwise(breaks):
        middle = (start + end) / 2
        table, level = [], 0
        for u in range(k):
            while ends[level] * k < u + middle:
                level += 1
            table.append(values[level])
        draws.append((end - start, [table]))
    return outcome_of_draws(instance, draws)


@method(kind="online", reference="standard theory (reconstructed)")
def random_static(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""One price, drawn once: 1 + ln theta for every k.

    Draw a price p once, L with probability :math:`1/\alpha`, density :math:`1/(\alpha p)`.

    On a grid, the shares (1) are the probabilities of the levels. Expected ratio
    :math:`1 + \ln\theta`, or (1), for every k, of units.
    """
    k = instance.capacity[0]
    if instance.unit_demand:
        if instance.levels:
            reach = one_draw.share_reach(instance)
            limits_of_levels = grid_limits(instance.levels)
            area = grid_area(instance.levels, limits_of_levels, k * reach.parts)
        else:
            reach = one_draw.exponential_reach(instance)
            area = exponential_area(instance, reach)
        expected = one_draw.random_static(reach, k)
        return outcome_of_expected(instance, expected, k * reach.parts, area)
    values = instance.levels or _unit_values(instance)
    ends = grid_limits(values) if instance.levels else exponential_limits(values, instance.spread)
    check_replayed(instance, len(values))
    return outcome_of_draws(
        instance,
        [
            (w - before, [[value] * c for c in instance.capacity])
            for value, (before, w) in zip(values, pairwise((Fraction(0), *ends)), strict=True)
            if w > before
        ],
    )


@method(kind="online", reference="(1) (reconstructed)")
def share(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""Shares of the capacity for each level and those above, on a grid of values.

    A buyer of level m gets what is left of the shares of levels up to m, at most one unit; one seed
    realises the fractions. Expected ratio :math:`\alpha^*` of (1) for every k.

    Raises
    ------
    ModelRefused
        If demands are not units of one resource, or the instance has no levels.
    """
    if not instance.unit_demand:
        raise ModelRefused("demand: of several units, expected one unit of one resource")
    reach = one_draw.share_reach(instance)
    everything = instance.capacity[0] * reach.parts
    area = grid_area(instance.levels, grid_limits(instance.levels), everything)
    return outcome_of_expected(instance, one_draw.one_seed(reach), reach.parts, area)


def _unit_values(instance: AdversarialOnlineRunInstance) -> tuple[Fraction, ...]:
    """Return L, the values of a unit that occur, and U, from the smallest, each once."""
    pairs = set(zip(instance.value, map(sum, instance.demands), strict=True))
    occurring = {decimal_rational(value) / units for value, units in pairs}
    return tuple(sorted({instance.value_min, *occurring, instance.value_max}))
