"""The hand-checked runs come out to the digit, and perturbed plays are refused."""

from fractions import Fraction

import pytest

from gadgetopt.models.adversarial_online.run.evaluate import evaluate
from gadgetopt.models.adversarial_online.run.instance import (
    AdversarialOnlineRunInstance,
    AdversarialOnlineRunSolution,
    Play,
)

from .brute_force import run

ONE = AdversarialOnlineRunInstance(
    capacity=(1,), value=(1, 2, 4), value_min=1, value_max=4, levels=(1, 2, 4)
)
BUNDLES = AdversarialOnlineRunInstance(
    capacity=(2, 2),
    value=(1, 4),
    demand=((1, 0), (2, 1)),
    value_min=1,
    value_max=Fraction(3, 2),
    prices=((Fraction(1, 2), Fraction(3, 2)), (Fraction(1, 2), Fraction(3, 2))),
)


def of(*plays):
    return AdversarialOnlineRunSolution(plays=plays)


def test_shares_of_one_unit_earn_half_of_the_optimum():
    # 1/2 of 1, 1/4 of 2 and 1/4 of 4 are 2 of 4; the price paid is the level of the share.
    play = Play(
        accepted=(0, 1, 2),
        share=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
        payment=(Fraction(1, 2), Fraction(1, 2), Fraction(1)),
    )
    found = evaluate(ONE, of(play))
    assert found.feasible
    assert found.objective == 2
    assert found.components == {"revenue": 2, "offline_welfare": 4, "regret": 2, "ratio": 2}


@pytest.mark.parametrize(
    ("method", "welfare", "revenue"),
    [("greedy", 1, 1), ("finite_k", 1, 1), ("share", 2, 2), ("random_static", 2, 2)],
)
def test_policies_on_one_unit(method, welfare, revenue):
    found = run(ONE, method)
    assert found.objective == welfare
    assert found.evaluation.components["revenue"] == revenue


def test_a_small_request_blocks_the_bundle():
    # The unit of resource 0 costs 0.5; then (2, 1) lacks a unit. The bundle alone is worth 4.
    found = run(BUNDLES, "posted")
    assert (found.objective, found.evaluation.components["revenue"]) == (1, Fraction(1, 2))
    assert run(BUNDLES, "offline").objective == 4


@pytest.mark.parametrize(
    ("plays", "constraint"),
    [
        ((Play(accepted=(0, 1)),), "capacity"),
        ((Play(accepted=(3,)),), "unknown_request"),
        ((Play(accepted=(1, 0)),), "order_of_arrival"),
        ((Play(accepted=(1, 1), share=(Fraction(1, 2), Fraction(1, 2))),), "order_of_arrival"),
        ((Play(accepted=(0,), share=(Fraction(1, 2), Fraction(1, 2))),), "one_entry_a_request"),
        ((Play(accepted=(0,), payment=(Fraction(2),)),), "payment"),
        ((Play(accepted=(0,), payment=(Fraction(-1),)),), "payment"),
        ((Play(accepted=(0,), probability=Fraction(1, 2)),), "probabilities_sum_to_1"),
        ((Play(accepted=(0, 2), share=(Fraction(1, 2), Fraction(2, 3))),), "capacity"),
    ],
)
def test_wrong_plays_are_refused(plays, constraint):
    assert constraint in {v.constraint for v in evaluate(ONE, of(*plays)).violations}


def test_shares_are_for_units_only():
    play = Play(accepted=(0,), share=(Fraction(1, 2),))
    assert evaluate(BUNDLES, of(play)).violations[0].constraint == "shares_of_units_only"
