"""Rules on a batch: the hand-checked outcomes of A and B, and where they fail."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ..brute_force import optimum, small_instance
from ..test_evaluate import tiny

RULES = ("tetris", "pack", "lb", "lif", "greedy_jct", "random")


def solved(instance, method):
    document = Document(problem("marl_placement"), "instance", "an instance", instance, {})
    return solve(document, method, Limits(time_s=60))


@pytest.mark.parametrize(
    ("name", "method", "objective"),
    [
        ("a_together", "tetris", Fraction(430, 3)),
        ("a_together", "lb", Fraction(430, 3)),
        ("a_together", "pack", Fraction(380, 3)),
        ("a_together", "lif", Fraction(380, 3)),
        ("a_together", "greedy_jct", Fraction(380, 3)),
        ("b_spread", "tetris", Fraction(340, 3)),
        ("b_spread", "lb", Fraction(340, 3)),
        # Ratio 1.353: job 0 comes first and sees empty servers.
        ("b_spread", "pack", Fraction(460, 3)),
        ("b_spread", "lif", Fraction(460, 3)),
        ("b_spread", "greedy_jct", Fraction(460, 3)),
        ("a_together", "local_search", Fraction(380, 3)),
        ("b_spread", "local_search", Fraction(340, 3)),
        ("a_together", "lns", Fraction(380, 3)),
        ("b_spread", "lns", Fraction(340, 3)),
    ],
)
def test_the_hand_checked_outcomes(name, method, objective):
    assert solved(tiny(name), method).objective == objective


@pytest.mark.parametrize("method", ["lb", "tetris"])
def test_a_rule_that_spreads_leaves_no_room_for_a_large_task(method):
    result = solved(tiny("dead_end"), method)
    assert result.status is Status.NO_SOLUTION
    assert result.notes["no room for"] == "jobs[2]"
    assert solved(tiny("dead_end"), "local_search").objective == Fraction(400, 3)


@pytest.mark.parametrize("seed", range(40))
def test_no_rule_costs_less_than_the_best_of_all_placements(seed):
    instance = small_instance(np.random.default_rng(seed))
    least = optimum(instance)
    for method in RULES:
        for order in ("fifo", "big", "srpt"):
            result = solved(instance, f"{method}:order={order}")
            assert result.status in (Status.FEASIBLE, Status.NO_SOLUTION)
            if result.objective is not None:
                assert least is not None
                assert result.objective >= least
