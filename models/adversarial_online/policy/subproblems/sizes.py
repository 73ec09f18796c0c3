"""Sizes up to which the evaluator enumerates, so that a method refuses what it would not judge."""

from __future__ import annotations

import math

from gadgetopt.errors import ModelRefused

from ...subproblems.automaton import automaton
from ...subproblems.prices import Lottery
from ..instance import AdversarialOnlinePolicyInstance

#: Sets of the k largest levels, times requests or units sold. Tuned: `benchmarks/constants.py`.
MOST = 10**6


def sets_of_levels(instance: AdversarialOnlinePolicyInstance) -> int:
    """Return how many multisets of at most k levels there are."""
    return math.comb(len(instance.levels) + instance.capacity_units, instance.capacity_units)


def check_kept_share(instance: AdversarialOnlinePolicyInstance) -> None:
    """Raise an error if it would take long to find out whether a share of OPT can be kept.

    Raises
    ------
    ModelRefused
    """
    if sets_of_levels(instance) * min(instance.horizon, 2 * instance.capacity_units) > 4 * MOST:
        raise ModelRefused(
            f"capacity_units: the sets of {instance.capacity_units} of {len(instance.levels)} "
            "levels are too many to enumerate; hardest_chain gives the optimal ratio"
        )


def check_lottery_size(instance: AdversarialOnlinePolicyInstance, lottery: Lottery) -> None:
    """Raise an error if the worst case of a lottery would take long to enumerate.

    Raises
    ------
    ModelRefused
    """
    states = len(
        automaton(
            (instance.capacity_units,), instance.levels, [(1,)] * len(instance.levels), lottery
        ).after
    )
    if states * sets_of_levels(instance) > MOST:
        raise ModelRefused(
            f"capacity_units: {states} states of {len(lottery)} tables and "
            f"{sets_of_levels(instance)} sets of levels are too many to enumerate"
        )
