r"""Certificates of bounds on one slot: the total capacity, or prices (reconstructed).

Without prices the bound is B1, the best ring sizes by total capacity, found anew by dynamic
programming. With prices :math:`\nu_{sr}, \eta_s, \xi_k \ge 0` of resources, access links and
uplinks of a two-tier cluster it is the Lagrangian bound of the configuration program,

.. math::
    \sum_i u_i(0) + \nu \cdot C + \eta \cdot B + \xi \cdot U + \sum_i \max_\omega
        (\pi_\omega - \mathrm{price} \cdot \mathrm{load}_\omega)^+ ,

with the bandwidths B and U that sets of jobs can use, over all rings that fit alone. The check goes
through servers, racks and sizes of every job by itself and rounds up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from gadgetopt.data import Certificate, Data, Rational

from .instance import GadgetInstance
from .knapsack_bound import knapsack_bound
from .max_ring import largest_rings
from .slot_problem import SlotJob, SlotProblem, slot_problem
from .terms import Tree
from .tightening import tightened

#: More than the relative error of a sum of a thousand positive doubles.
ROUNDING = 2.0**-42

Row = tuple[Annotated[Rational, Field(ge=0)], ...]


class SlotPrices(Data):
    """Prices of a two-tier cluster.

    Attributes
    ----------
    unit : tuple of tuple
        Of every server and resource, per unit of `Terms`.
    access, uplink : tuple
        Of every server's and rack's link, per Mbit/s.
    tighten : bool
        Whether bandwidths are first lowered to what sets of jobs can use.
    """

    unit: tuple[Row, ...]
    access: Row
    uplink: Row
    tighten: bool = True


class GadgetCertificate(Certificate):
    """What bounds an instance of one slot.

    Attributes
    ----------
    prices : SlotPrices, optional
        None is B1, by total capacity.
    alone : bool
        Whether rings are no larger than what can be embedded alone.
    """

    prices: SlotPrices | None = None
    alone: bool = True


def check_bound(instance: GadgetInstance, certificate: GadgetCertificate) -> float:
    """Return the bound that a certificate proves, rounded up, without a solver.

    Raises
    ------
    ValueError
        If there are several slots, or prices that do not belong to the cluster.
    """
    if instance.horizon_slots != 1:
        raise ValueError(f"horizon_slots: {instance.horizon_slots}, expected one slot")
    problem, idle = only_slot(instance, alone=certificate.alone)
    gain = (
        knapsack_bound(problem).bound
        if certificate.prices is None
        else _priced(problem, certificate.prices)
    )
    return (idle + gain) * (1 + ROUNDING)


def only_slot(instance: GadgetInstance, *, alone: bool = True) -> tuple[SlotProblem, float]:
    """Return the problem of a horizon's first slot, and what all jobs are worth untrained.

    Parameters
    ----------
    alone : bool
        Whether rings are no larger than what can be embedded alone.
    """
    terms = instance.terms
    largest = largest_rings(terms) if alone else None
    problem = slot_problem(terms, 1, [0] * len(terms.jobs), largest=largest)
    return problem, math.fsum(float(job.utility[0]) for job in terms.jobs)


def _priced(problem: SlotProblem, prices: SlotPrices) -> float:
    terms = problem.terms
    tree = terms.tree
    if tree is None:
        raise ValueError("prices: of a two-tier cluster, and the network is a graph")
    shape = (len(prices.unit), {len(row) for row in prices.unit})
    wanted = (len(terms.servers), {terms.capacity.shape[1]})
    links = len(prices.access), len(prices.uplink)
    if shape != wanted or links != (len(tree.access), len(tree.uplink)):
        raise ValueError("prices: not one for every resource of a server and every link")
    access, uplink = tree.access.tolist(), tree.uplink.tolist()
    if prices.tighten:
        spanning = [x.job.bandwidth for x in problem.jobs if x.most > 1]
        access, uplink = tightened(access, spanning), tightened(uplink, spanning)
    worth = sum(
        (price * there for price, there in zip(prices.access, access, strict=True)), Fraction(0)
    )
    worth += sum(price * there for price, there in zip(prices.uplink, uplink, strict=True))
    for row, capacity in zip(prices.unit, terms.capacity.tolist(), strict=True):
        worth += sum(price * there for price, there in zip(row, capacity, strict=True))
    unit = [[float(x) for x in row] for row in prices.unit]
    cost = [float(x) for x in prices.access], [float(x) for x in prices.uplink]
    left = [_left(x, tree, unit, *cost) + ROUNDING * float(x.gain.max()) for x in problem.jobs]
    return math.fsum([float(worth) * (1 + ROUNDING), *left])


def _left(
    x: SlotJob,
    tree: Tree,
    unit: Sequence[Sequence[float]],
    access: Sequence[float],
    uplink: Sequence[float],
) -> float:
    """Return the most that a ring of the job leaves after paying; at least 0."""
    job, b = x.job, x.job.bandwidth
    fits = [min(x.most, n) for n in job.per_server.tolist()]
    each = [sum(p * d for p, d in zip(row, job.demand.tolist(), strict=True)) for row in unit]
    cheapest = [math.inf] * (x.most + 1)
    for n, price in zip(fits, each, strict=True):
        for k in range(1, n + 1):
            cheapest[k] = min(cheapest[k], k * price)
    over_racks = _none(x.most)
    for rack, width in enumerate(tree.uplink.tolist()):
        in_rack = _none(x.most)
        for s in range(len(fits)):
            if tree.rack[s] == rack and tree.access[s] >= b:
                of_server = [b * access[s] + n * each[s] for n in range(fits[s] + 1)]
                in_rack = _joined(in_rack, of_server)
        cheapest = [min(pair) for pair in zip(cheapest, in_rack, strict=True)]
        if width >= b:
            over_racks = _joined(over_racks, [b * uplink[rack] + c for c in in_rack])
    cheapest = [min(pair) for pair in zip(cheapest, over_racks, strict=True)]
    return max(0.0, *(float(x.gain[k]) - cheapest[k] for k in range(1, x.most + 1)))


def _none(most: int) -> list[float]:
    """Return the costs of 0 to `most` workers before any server."""
    return [0.0] + [math.inf] * most


def _joined(costs: list[float], more: Sequence[float]) -> list[float]:
    """Return the least costs of 0, 1, ... workers when some more may be put elsewhere."""
    return [
        min([costs[k], *(costs[k - n] + more[n] for n in range(1, min(k, len(more) - 1) + 1))])
        for k in range(len(costs))
    ]
