"""Upper bounds on one slot as methods, from weakest to strongest.

All are (reconstructed). The linear relaxation of (12)-(19) equals a fractional knapsack by total
capacity (proposition P3). The dynamic program over total capacity is at least as strong. The
configuration program also takes bandwidth into account.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import GadgetInstance
from ...subproblems.max_ring import largest_rings
from ...subproblems.ring_selection import select_rings
from ...subproblems.slot_problem import SlotProblem, slot_problem
from ..certificate.check import (
    GadgetCertificate,
    SlotPrices,
)
from ..knapsack_bound import knapsack_bound
from .config_lp import config_lp as solve_config_lp
from .tree_pricing import Prices


def one_slot(instance: GadgetInstance, *, alone: bool = True) -> tuple[SlotProblem, float]:
    """Return the problem of the only slot, and the utility of all jobs untrained.

    Parameters
    ----------
    instance : GadgetInstance
    alone : bool
        If True, ring sizes are limited to the largest ring that can be embedded alone.

    Raises
    ------
    ModelRefused
        If there are several slots.
    """
    if instance.horizon_slots != 1:
        raise ModelRefused(f"the horizon has {instance.horizon_slots} slots, expected one")
    terms = instance.terms
    largest = largest_rings(terms) if alone else None
    problem = slot_problem(terms, 1, [0] * len(terms.jobs), largest=largest)
    return problem, math.fsum(float(job.utility[0]) for job in terms.jobs)


@method(
    kind="relaxation",
    reference="multiple-choice knapsack (reconstructed)",
    formulation="capacity_bound",
)
def capacity_bound(instance: GadgetInstance) -> MethodOutcome:
    """One slot: the best ring sizes by total capacity.

    Bound a slot by total capacity alone (reconstructed).

    Raises
    ------
    ModelRefused
        If there are several slots.
    """
    problem, idle = one_slot(instance, alone=False)
    return MethodOutcome(
        dual_bound=idle + knapsack_bound(problem).bound,
        certificate=GadgetCertificate(alone=False),
    )


@method(
    kind="relaxation",
    reference="relaxation of (12)-(19), proposition P3 (reconstructed)",
    formulation="ring_relaxation",
)
def ring_relaxation(instance: GadgetInstance, limits: Limits) -> MethodOutcome:
    """One slot: linear relaxation of the embedding program, blind to bandwidth.

    Bound a slot by the linear relaxation of (12)-(19), in closed form (reconstructed).

    Raises
    ------
    ModelRefused
        If there are several slots.
    """
    problem, idle = one_slot(instance, alone=False)
    try:
        return MethodOutcome(dual_bound=idle + select_rings(problem, limits).bound)
    except TimeoutError:
        return MethodOutcome(limit_hit="time_s")


@method(
    kind="relaxation",
    reference="configuration program (reconstructed)",
    formulation="config_lp",
    backend="highs",
)
def config_lp(
    instance: GadgetInstance,
    limits: Limits,
    *,
    tighten: bool = True,
) -> MethodOutcome:
    """One slot: configuration program by column generation, certified by prices.

    Bound a slot by the configuration program (reconstructed).

    Parameters
    ----------
    tighten : bool
        If True, bandwidths are first tightened to what sets of jobs can use.

    Raises
    ------
    ModelRefused
        If there are several slots, or the network is a graph.
    """
    problem, idle = one_slot(instance)
    found = solve_config_lp(problem, limits, tighten=tighten)
    return MethodOutcome(
        dual_bound=idle + found.bound,
        limit_hit=found.limit_hit,
        certificate=proof_of_prices(found.prices, tighten=tighten),
        notes={"rounds": found.rounds},
    )


def proof_of_prices(prices: Prices, *, tighten: bool = True) -> GadgetCertificate:
    """Return prices as a certificate."""
    return GadgetCertificate(
        prices=SlotPrices(
            unit=tuple(tuple(map(Fraction, row)) for row in prices.unit.tolist()),
            access=tuple(map(Fraction, prices.access.tolist())),
            uplink=tuple(map(Fraction, prices.uplink.tolist())),
            tighten=tighten,
        )
    )
