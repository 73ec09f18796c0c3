"""Rates in floating point become plans that fit, without loss to rows of next to no capacity."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gadgetopt.models.forest_packing.instance import ForestPackingInstance, Link
from gadgetopt.models.forest_packing.packing import Pair, congestion, total_rate
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.subproblems.exact_rates import fit_or_relieve
from gadgetopt.system.result import Limits


def cables(*links: tuple[int, int, float], **changes: object) -> ForestPackingInstance:
    return ForestPackingInstance.model_validate(
        {
            "workers": tuple(sorted({v for u, v, _ in links} | {u for u, _, _ in links})),
            "links": tuple(
                Link(src=u, dst=v, bandwidth_gbyte_per_s=c, both=True) for u, v, c in links
            ),
            **changes,
        }
    )


@pytest.mark.parametrize("mode", ["overlap", "sequential"])
def test_a_pair_on_a_narrow_cable_does_not_slow_the_others(mode):
    instance = cables((0, 1, 1e6), (1, 2, 1e6), (0, 2, 1e-6), stage_mode=mode)
    narrow = Pair(1, ((0, 2), (2, 1)), None, Fraction(1, 10_000))
    pairs = [Pair(1, ((0, 1), (2, 1)), None, Fraction(500_000)), narrow]
    plan = fit_or_relieve(instance, pairs)
    assert congestion(instance, plan) == 1
    assert total_rate(plan) > 499_999


def test_columns_of_stages_that_take_turns_reach_their_bound_over_far_apart_capacities():
    instance = cables(
        (1, 14, 1e4),
        (1, 8, 8e4),
        (1, 5, 9e-7),
        (14, 8, 6e5),
        (14, 5, 5e-9),
        (8, 5, 2e5),
        duplex="half",
        stage_mode="sequential",
        root_mode="weights",
        root_share=(0.5, 0.3, 0.2, 0.0),
    )
    found = column_generation(instance, Limits(), hand_over=False)
    assert found.claimed_objective >= (1 - Fraction(1, 10**9)) * found.dual_bound
