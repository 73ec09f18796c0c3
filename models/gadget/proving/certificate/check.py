r"""Certificates of bounds on one slot, by total capacity or by prices, and their check.

All bounds are (reconstructed). Without prices the bound is that of the best ring sizes by total
capacity, recomputed by dynamic programming. With prices :math:`\nu_{sr}, \eta_s, \xi_k \ge 0` of
resources, access links and uplinks of a two-tier cluster it is the Lagrangian bound of the
configuration program,

.. math::
    \sum_i u_i(0) + \nu \cdot C + \eta \cdot B + \xi \cdot U + \sum_i \max_\omega
        (\pi_\omega - \mathrm{price} \cdot \mathrm{load}_\omega)^+ ,

over all rings that fit on their own, with the bandwidths B and U that sets of jobs can use. The
check enumerates servers, racks and ring sizes of each job, in integers: the unit is a small part of
the total utility; utilities are rounded up, prices of rings down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from gadgetopt.numbers.exact import (
    ceiling,
    common_denominator,
    dot,
    double_above,
)
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, Rational

from ...instance import GadgetInstance
from ...terms import (
    JobTerms,
    Terms,
    Tree,
)
from .bandwidth_tightening import tightened
from .epoch_prices import bound_of_epochs
from .exact_utility import utilities_above
from .largest_ring import largest_alone

Row = tuple[Annotated[Rational, Field(ge=0)], ...]

#: Number of units that the total utility is divided into. By definition.
PARTS = 2**60
#: Limit on the entries of a dynamic program's table; more would take gigabytes.
MOST_ENTRIES = 100 * TABLE_CELLS
#: Binary digits to which a price is sought: all that a double has. By definition.
PRICE_DIGITS = 53
#: More than the price of any useful ring. By definition.
_NEVER = 2**200


class SlotPrices(Data):
    """Prices of a two-tier cluster.

    Attributes
    ----------
    unit : tuple of tuple
        Price of each resource on each server, per unit of `Terms`.
    access, uplink : tuple
        Price of the link of each server and each rack, per Mbit/s.
    tighten : bool
        If True, bandwidths are first tightened to what sets of jobs can use.
    """

    unit: tuple[Row, ...]
    access: Row
    uplink: Row
    tighten: bool = True


class GadgetCertificate(Certificate):
    """Certificate of a bound on an instance of one slot.

    Attributes
    ----------
    prices : SlotPrices, optional
        None is the bound by total capacity.
    alone : bool
        If True, ring sizes are limited to the largest ring that can be embedded alone.
    epochs : tuple of tuple, optional
        Prices of each resource in each epoch, which bound all slots together; the other fields then
        have no meaning.
    """

    prices: SlotPrices | None = None
    alone: bool = True
    epochs: tuple[Row, ...] | None = None


@dataclass(frozen=True)
class _Counted:
    """A job of the slot, with the gains of its rings in integer units, rounded up.

    Attributes
    ----------
    gains : list of int
        Gains of rings of 0, 1, ... workers; the first is 0.
    """

    job: JobTerms
    gains: list[int]


@checked_once
def check_bound(instance: GadgetInstance, certificate: GadgetCertificate) -> float:
    """Return the bound that a certificate proves, rounded up, without a solver.

    Raises
    ------
    ValueError
        If there are several slots and no prices of epochs, the prices do not match the cluster, or
        the bound is larger than any double.
    """
    if certificate.epochs is not None:
        return bound_of_epochs(instance, certificate.epochs)
    if instance.horizon_slots != 1:
        raise ValueError(f"horizon_slots: {instance.horizon_slots}, expected one slot")
    terms = instance.terms
    sizes = largest_alone(terms) if certificate.alone else [job.max_ring for job in terms.jobs]
    worth = [
        utilities_above(job.utility, job.iterations_per_worker_slot, size)
        for job, size in zip(instance.jobs, sizes, strict=True)
    ]
    idle = sum((of_job[0] for of_job in worth), Fraction(0))
    most = sum((max(of_job) for of_job in worth), Fraction(0))
    unit = max(most, Fraction(1, PARTS)) / PARTS
    jobs = [_counted(job, worth[job.index], unit) for job in terms.jobs if sizes[job.index] > 0]
    if certificate.prices is not None:
        gain = _priced(terms, jobs, certificate.prices, unit)
    else:
        resources = range(terms.capacity.shape[1])
        gain = min((_by_capacity(terms, jobs, r) for r in resources), default=0) * unit
    return double_above(idle + gain)


def _counted(job: JobTerms, worth: Sequence[Fraction], unit: Fraction) -> _Counted:
    return _Counted(job, [ceiling((u - worth[0]) / unit) for u in worth])


def _by_capacity(terms: Terms, jobs: Sequence[_Counted], r: int) -> int:
    """Return the largest gain of one ring size per job within the total of one resource."""
    demands = [int(x.job.demand[r]) for x in jobs]
    capacity = sum(terms.capacity[:, r].tolist())
    free = sum(max(x.gains) for x, demand in zip(jobs, demands, strict=True) if demand == 0)
    paid = [(x.gains, demand) for x, demand in zip(jobs, demands, strict=True) if demand > 0]
    step = math.gcd(*(demand for _, demand in paid)) or 1
    width = min(capacity, sum(demand * (len(gains) - 1) for gains, demand in paid)) // step
    if len(paid) * (width + 1) > MOST_ENTRIES:
        return free + _lagrangian(paid, capacity)
    best = np.zeros(width + 1, dtype=np.int64)  # best[c]: within c steps of capacity
    for gains, demand in paid:
        each = demand // step
        updated = best.copy()
        for size in range(1, min(len(gains) - 1, width // each) + 1):
            with_ring = best[: width + 1 - size * each] + gains[size]
            np.maximum(updated[size * each :], with_ring, out=updated[size * each :])
        best = updated
    return free + int(best[-1])


def _lagrangian(jobs: Sequence[tuple[list[int], int]], capacity: int) -> int:
    """Return the Lagrangian bound at a price of capacity near the best one."""
    price = Fraction(_near_price(jobs, capacity))
    left = (max(g - k * demand * price for k, g in enumerate(of_job)) for of_job, demand in jobs)
    return ceiling(price * capacity + sum(left, Fraction(0)))


def _near_price(jobs: Sequence[tuple[list[int], int]], capacity: int) -> float:
    """Return a price at which the jobs want about the capacity, by bisection; any proves a bound.

    The dearer, the less they want: at 0 the most, at the largest gain of a unit nothing.
    """
    tables = [(np.array(gains, dtype=np.float64), demand) for gains, demand in jobs]

    def wanted(price: float) -> int:
        return sum(
            demand * int(np.argmax(gains - price * demand * np.arange(len(gains))))
            for gains, demand in tables
        )

    if wanted(0.0) <= capacity:
        return 0.0
    low, high = 0.0, max(float(gains.max()) / demand for gains, demand in tables)
    for _ in range(PRICE_DIGITS):
        middle = (low + high) / 2
        low, high = (low, middle) if wanted(middle) <= capacity else (middle, high)
    return high


def _priced(terms: Terms, jobs: Sequence[_Counted], prices: SlotPrices, unit: Fraction) -> Fraction:
    """Return the Lagrangian bound of prices."""
    tree = terms.tree
    if tree is None:
        raise ValueError("prices: the network is a graph, expected a two-tier cluster")
    shape = (len(prices.unit), {len(row) for row in prices.unit})
    wanted = (len(terms.servers), {terms.capacity.shape[1]})
    links = len(prices.access), len(prices.uplink)
    if shape != wanted or links != (len(tree.access), len(tree.uplink)):
        raise ValueError("prices: not one for every resource of a server and every link")
    every = [*prices.access, *prices.uplink, *(x for row in prices.unit for x in row)]
    common_denominator(every)  # refuses those with too many digits
    access, uplink = tree.access.tolist(), tree.uplink.tolist()
    if prices.tighten:
        spanning = [x.job.bandwidth for x in jobs if len(x.gains) > 2]
        access, uplink = tightened(access, spanning), tightened(uplink, spanning)
    worth = dot(prices.access, access) + dot(prices.uplink, uplink)
    for row, capacity in zip(prices.unit, terms.capacity.tolist(), strict=True):
        worth += dot(row, capacity)
    return worth + sum(_left(x, tree, prices, unit) for x in jobs) * unit


def _left(x: _Counted, tree: Tree, prices: SlotPrices, unit: Fraction) -> int:
    """Return the largest gain less price of a ring of the job; at least 0."""
    job, most = x.job, len(x.gains) - 1
    b = job.bandwidth

    def parts(cost: Fraction) -> int:
        return min(cost // unit, PARTS)  # a dearer ring never pays

    fits = [min(most, n) for n in job.per_server.tolist()]
    each = [parts(dot(row, job.demand.tolist())) for row in prices.unit]
    access = [parts(b * price) for price in prices.access]
    uplink = [parts(b * price) for price in prices.uplink]
    cheapest = [_NEVER] * (most + 1)
    for n, price in zip(fits, each, strict=True):
        for k in range(1, n + 1):
            cheapest[k] = min(cheapest[k], k * price)
    over_racks = _none(most)
    for rack, width in enumerate(tree.uplink.tolist()):
        in_rack = _none(most)
        for s in range(len(fits)):
            if tree.rack[s] == rack and tree.access[s] >= b:
                of_server = [access[s] + n * each[s] for n in range(fits[s] + 1)]
                in_rack = _joined(in_rack, of_server)
        cheapest = [min(pair) for pair in zip(cheapest, in_rack, strict=True)]
        if width >= b:
            over_racks = _joined(over_racks, [uplink[rack] + c for c in in_rack])
    cheapest = [min(pair) for pair in zip(cheapest, over_racks, strict=True)]
    return max(0, *(x.gains[k] - cheapest[k] for k in range(1, most + 1)))


def _none(most: int) -> list[int]:
    """Return the costs of 0 to `most` workers when no server is used yet."""
    return [0] + [_NEVER] * most


def _joined(costs: list[int], more: Sequence[int]) -> list[int]:
    """Return the least costs of 0, 1, ... workers when one more server is allowed."""
    return [
        min([costs[k], *(costs[k - n] + more[n] for n in range(1, min(k, len(more) - 1) + 1))])
        for k in range(len(costs))
    ]
