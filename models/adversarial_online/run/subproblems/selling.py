"""What posted prices sell to a stream, in exact integers and linear time.

Between two sales no price changes, and with it the least value at which a request of some demand is
accepted; that is computed once. Parts of a stream of units in which all values are too small are
passed over. Prices and values are compared as integers over one denominator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.exact import ceiling, common_denominator

from ...subproblems.whole import AT_ONCE
from ..instance import AdversarialOnlineRunInstance

Tables = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class Sold:
    """What was sold.

    Attributes
    ----------
    accepted : list of int
        Requests.
    payment : list of Fraction
        Of each of them.
    used : list of int
        Units of each resource at the end.
    """

    accepted: list[int]
    payment: list[Fraction]
    used: list[int]


def sell(instance: AdversarialOnlineRunInstance, tables: Tables) -> Sold:
    """Return what prices of every unit of every resource sell to a stream.

    Parameters
    ----------
    instance : AdversarialOnlineRunInstance
    tables : sequence of sequence of Fraction, shape (resources, capacity of each)
    """
    if instance.unit_demand:
        return _sell_units(instance, tables[0])
    return _sell_bundles(instance, tables)


def _sell_units(instance: AdversarialOnlineRunInstance, table: Sequence[Fraction]) -> Sold:
    whole, scale = instance.whole_values
    least = [ceiling(price * scale) for price in table]
    accepted: list[int] = []
    for begin in range(0, len(whole), AT_ONCE):
        part = whole[begin : begin + AT_ONCE]
        if len(accepted) == len(least):
            break
        if part.max() < least[len(accepted)]:
            continue
        for t, value in enumerate(part.tolist(), begin):
            if value >= least[len(accepted)]:
                accepted.append(t)
                if len(accepted) == len(least):
                    break
    return Sold(accepted, list(table[: len(accepted)]), [len(accepted)])


def _sell_bundles(instance: AdversarialOnlineRunInstance, tables: Tables) -> Sold:
    whole, scale = instance.whole_values
    denominator = common_denominator(price for table in tables for price in table)
    # With all units sold there is no price, and no demand fits.
    prices = [[int(price * denominator) for price in table] + [0] for table in tables]
    demands, kinds = instance.kinds
    resources = range(len(tables))
    used = [0] * len(tables)
    accepted: list[int] = []
    paid: list[int] = []
    needed: dict[int, float] = {}  # the least value accepted, of each demand seen since the sale
    for t, (value, kind) in enumerate(zip(whole.tolist(), kinds.tolist(), strict=True)):
        least = needed.get(kind)
        if least is None:
            demand = demands[kind]
            if any(used[r] + demand[r] > instance.capacity[r] for r in resources):
                least = math.inf
            else:
                price = sum(demand[r] * prices[r][used[r]] for r in resources)
                least = -(-price * scale // denominator)
            needed[kind] = least
        if value >= least:
            demand = demands[kind]
            accepted.append(t)
            paid.append(sum(demand[r] * prices[r][used[r]] for r in resources))
            for r in resources:
                used[r] += demand[r]
            needed.clear()
    return Sold(accepted, [Fraction(price, denominator) for price in paid], used)
