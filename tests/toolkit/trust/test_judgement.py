"""What a run is worth: false claims are errors, and optimal is what is closed."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from toy import DOCUMENT, TOY, Choice

from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Evaluation, Limits, MethodOutcome, Status, Voucher
from gadgetopt.trust.judgement import judge, relative_gap
from gadgetopt.trust.run import solve


def test_a_solution_the_evaluator_rejects_is_an_error_whatever_was_claimed():
    result = solve(DOCUMENT, "too_much")
    assert result.status is Status.ERROR
    assert result.solution is not None, "kept, to be looked at"


def test_an_objective_worse_than_claimed_is_an_error():
    result = solve(DOCUMENT, "boasts")
    assert result.status is Status.ERROR
    assert result.reason == "claimed objective 4, but its solution has 0"


def test_an_objective_better_than_claimed_counts_as_it_is():
    result = solve(DOCUMENT, "modest")
    assert result.status is Status.OPTIMAL
    assert result.objective == 4


def test_a_dual_bound_refuted_by_the_own_solution_is_an_error():
    result = solve(DOCUMENT, "bound_below_own")
    assert result.status is Status.ERROR
    assert "claimed dual bound 3" in result.reason


def with_bound(past, sense="max"):
    """A run that claims an exact bound that is past the exact value 4 of its own solution."""
    value = Fraction(4)
    bound = value - past if sense == "max" else value + past
    problem = replace(
        TOY,
        sense=sense,
        integral_objective=False,
        evaluate=lambda instance, solution: Evaluation(value, ()),
    )
    document = replace(DOCUMENT, problem=problem)
    outcome = MethodOutcome(Choice(chosen=(0,)), dual_bound=bound, voucher=Voucher.SOLVER)
    call = find_method(problem, "modest")
    return judge(document, call, outcome, Limits(), seed=0, time_s=0.0)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_bound_past_the_own_solution_by_rounding_costs_the_bound(sense):
    result = with_bound(Fraction(1, 10**17), sense)
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 4, None)
    assert "by rounding" in result.notes["withdrawn_bound"]
    said = result.notes["withdrawn_bound"].split(" is past")[0]
    assert said != "4", "the two numbers can be told apart"


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_bound_past_the_own_solution_beyond_rounding_is_an_error(sense):
    result = with_bound(Fraction(1, 10**7), sense)
    assert result.status is Status.ERROR
    assert "but its own solution has 4" in result.reason


def test_infeasible_with_a_feasible_solution_is_an_error():
    assert solve(DOCUMENT, "says_both").status is Status.ERROR


def test_optimal_needs_the_requested_gap():
    at_ten_percent = Limits(rel_gap=0.1)
    assert solve(DOCUMENT, "timed_out", at_ten_percent).status is Status.FEASIBLE


def test_relative_gap_is_zero_only_where_objective_and_bound_are_equal():
    assert relative_gap(0, 0) == 0
    assert relative_gap(10, 9) == pytest.approx(0.1)
    assert relative_gap(None, 9) is None
    assert math.isfinite(relative_gap(0, 1))


@pytest.mark.parametrize("method", ["nan_bound", "nan_objective", "proves_optimality"])
def test_what_is_no_number_or_no_proof_is_an_error(method):
    assert solve(DOCUMENT, method).status is Status.ERROR


def test_an_infinite_bound_is_no_bound():
    result = solve(DOCUMENT, "infinite_bound")
    assert (result.status, result.bound, result.gap) == (Status.FEASIBLE, None, None)


def test_numbers_beyond_doubles_have_no_gap_and_break_nothing():
    result = solve(DOCUMENT, "huge_bound")
    assert (result.status, result.gap) == (Status.FEASIBLE, None)


def test_the_methods_own_objective_is_kept_beside_the_evaluators():
    result = solve(DOCUMENT, "modest")
    assert (result.claimed_objective, result.objective) == (3, 4)
