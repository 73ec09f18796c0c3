"""The evaluator on hand-checked choices, feasible and infeasible."""

from fractions import Fraction

import pytest

from gadgetopt.models.knapsack.evaluate import evaluate
from gadgetopt.models.knapsack.instance import Item, KnapsackInstance, KnapsackSolution
from gadgetopt.system.files import library, read_instance

from .brute_force import optimum, single

#: u = (14, 13, 11, 5, 9), two rows of capacity 13.
E6 = single([14, 13, 11, 5, 9], [[5, 7, 4, 3, 8], [8, 1, 6, 4, 8]], [13, 13])


def evaluated(instance, *chosen):
    return evaluate(instance, KnapsackSolution(chosen=chosen))


def tiny(name):
    return read_instance(library() / "knapsack" / "tiny" / f"{name}.json").data


def test_the_profit_and_the_fullest_row_of_a_hand_checked_choice():
    # Items 1 and 2: rows 5 + 7 = 12 and 8 + 1 = 9 of 13.
    found = evaluated(E6, 0, 0, None, None, None)
    assert found.feasible
    assert found.objective == 27
    assert found.components == {"items": 2, "fullest_row": Fraction(12, 13)}


def test_a_full_knapsack_names_row_and_amount():
    # Items 1 to 3: rows 16 and 15 of 13.
    found = evaluated(E6, 0, 0, 0, None, None)
    assert [(v.constraint, v.where, v.amount) for v in found.violations] == [
        ("capacity", "row 0", 3),
        ("capacity", "row 1", 2),
    ]


def test_decimals_are_exact():
    found = evaluated(tiny("decimals_exact_fit"), 1, 0, None)
    assert found.feasible  # 0.1 + 0.2 <= 0.3
    assert found.objective == Fraction(56, 10)


def test_a_group_may_be_left_out_only_if_the_instance_says_so():
    groups = ((Item(profit=1, weights=(1,)), Item(profit=2, weights=(2,))),)
    at_most = KnapsackInstance(capacities=(5,), groups=groups)
    exactly = KnapsackInstance(capacities=(5,), groups=groups, exactly_one=True)
    assert evaluated(at_most, None).feasible
    assert [str(v) for v in evaluated(exactly, None).violations] == ["exactly_one at group 0: by 1"]


@pytest.mark.parametrize(
    ("chosen", "constraint"), [((0, 0), "missing_group"), ((0, 0, 0, 0, 1), "unknown_item")]
)
def test_a_choice_that_means_nothing_has_no_objective(chosen, constraint):
    found = evaluated(E6, *chosen)
    assert found.objective is None
    assert found.violations[0].constraint == constraint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("e6_two_rows", 27),
        ("e7_petersen1", 3800),
        ("e8_khan_i01", 173),
        ("decimals_exact_fit", Fraction(56, 10)),
        ("collinear", 9),
    ],
)
def test_enumeration_finds_the_stated_optimum(name, value):
    assert optimum(tiny(name)) == value


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("capacities", (-1, 13), "greater than or equal to 0"),
        ("capacities", (13,), r"groups\[0\]\[0\].weights: 2 weights, expected 1"),
        ("capacities", (), "at least 1 item"),
        ("groups", ((),), "at least 1 item"),
        ("groups", (), "at least 1 item"),
    ],
)
def test_nonsense_is_refused_by_name(field, value, complaint):
    with pytest.raises(ValueError, match=complaint):
        E6.model_copy(update={field: value})
