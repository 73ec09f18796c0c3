"""What a solver's doubles become: exact policies, cut for rounding only."""

from fractions import Fraction

import pytest

from gadgetopt.models.adversarial_online.policy.evaluate import evaluate
from gadgetopt.models.adversarial_online.policy.instance import AdversarialOnlinePolicySolution
from gadgetopt.models.adversarial_online.policy.subproblems.exactly import within_capacity
from gadgetopt.system.result import Status

from .brute_force import game, run

ONE_UNIT = game([1, 2], 1, 2)  # histories 1, 2, 11, 12, 21, 22


@pytest.mark.parametrize("payoff", ["ratio", "regret"])
def test_the_tree_program_ends_with_its_exact_optimum(payoff):
    instance = game(["0.7437125413", "1.0911338201", "2.3370198812"], 2, 3, payoff=payoff)
    result = run(instance, "history_tree@highs")
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound
    assert isinstance(result.objective, Fraction)


def test_rounding_is_cut_where_the_units_end():
    third = 1 / 3
    exact = within_capacity(ONE_UNIT, [third, third, 2 * third + 1e-8, 2 * third, third, third])
    assert exact[0] == Fraction(1, 3)
    assert exact[2] == exact[3] == Fraction(2, 3)


def test_a_policy_that_sells_too_much_is_not_repaired():
    exact = within_capacity(ONE_UNIT, [0.5, 0.5, 0.6, 0.5, 0.5, 0.5])
    evaluation = evaluate(ONE_UNIT, AdversarialOnlinePolicySolution(sale_probability=exact))
    assert [str(v.constraint) for v in evaluation.violations] == ["capacity"]
    assert evaluation.violations[0].amount == Fraction(1, 10)


@pytest.mark.parametrize("share", [1.001, -0.001, float("nan")])
def test_what_is_no_probability_is_refused(share):
    with pytest.raises(ValueError, match=r"sale_probability\[1\]: .* is no probability"):
        within_capacity(ONE_UNIT, [0.5, share, 0, 0, 0, 0])
