"""Costs of conversions: H3 and H4 of the derivation to the digit, and their laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from gadgetopt.models.oneflow_sbp.boxing import (
    BoxingRules,
    boxing_cost,
    conversion,
)
from gadgetopt.models.oneflow_sbp.labels import Label, all_labels, label_text, parse_label

PAPER = BoxingRules()
ONEFLOW = BoxingRules("oneflow")


def same(have: str, want: str, hierarchy=(2,), size=64, shape=(64, 64), rules=PAPER):
    a, b = parse_label(have), parse_label(want)
    return boxing_cost(rules, a, b, shape, size, hierarchy, hierarchy, same_group=True)


def across(have: str, want: str, source=(2,), target=(4,), size=64, rules=PAPER):
    a, b = parse_label(have), parse_label(want)
    return boxing_cost(rules, a, b, (64, 64), size, source, target, same_group=False)


@pytest.mark.parametrize(
    ("have", "want", "cost"),
    [
        ("S0", "B", 64),
        ("P", "S0", 64),
        ("P", "B", 128),
        ("S0", "S1", 32),
        ("S0", "S0", 0),
        ("S0", "P", 0),
        ("B", "S1", 0),
        ("B", "P", 0),
        ("B", "B", 0),
        ("P", "P", 0),
    ],
)
def test_h3_two_devices_and_64_bytes(have, want, cost):
    assert same(have, want) == cost


@pytest.mark.parametrize(
    ("have", "want", "cost"),
    [
        ("S0", "B", 256),
        ("P", "B", 320),
        ("P", "P", 128),
        ("B", "S0", 64),
        ("S0", "S0", 64),
        ("S0", "S1", 64),
        ("S0", "P", 64),
        ("B", "B", 256),
        ("B", "P", 64),
        ("P", "S0", 128),
    ],
)
def test_h3_two_devices_to_four_others(have, want, cost):
    assert across(have, want) == cost


@pytest.mark.parametrize(
    ("have", "want", "cost"),
    [
        ("(P,P)", "(B,B)", 14),
        ("(S0,S0)", "(B,B)", 7),
        ("(P,P)", "(S0,S0)", 7),
        ("(S0,P)", "(S0,B)", 6),
        ("(P,S0)", "(B,S0)", 2),
        ("(S0,B)", "(B,S0)", 2),
        ("(B,S0)", "(S0,B)", Fraction(9, 2)),
        ("(S0,S1)", "(S1,S0)", Fraction(5, 2)),
        ("(S0,S0)", "(S1,S1)", 4),
        *(("(B,B)", f"(S{i},S{j})", 0) for i in range(2) for j in range(2)),
    ],
)
def test_h4_two_by_four_devices_in_units_of_the_tensor(have, want, cost):
    assert same(have, want, hierarchy=(2, 4), size=1) == cost


def test_on_two_dimensions_the_ends_agree_with_one_of_all_devices():
    for have, want in (("P", "B"), ("S0", "B"), ("P", "S0")):
        both = same(f"({have},{have})", f"({want},{want})", hierarchy=(2, 4), size=1)
        assert both == same(have, want, hierarchy=(8,), size=1)


def test_oneflow_charges_one_for_a_slice_and_forbids_new_partial_values():
    assert same("B", "S0", rules=ONEFLOW) == 1
    assert same("S0", "P", rules=ONEFLOW) is None
    assert same("B", "P", rules=ONEFLOW) is None
    assert same("P", "P", rules=ONEFLOW) == 0
    assert across("P", "P", rules=ONEFLOW) is None
    assert across("P", "B", rules=ONEFLOW) == 320
    assert same("S0", "P", rules=BoxingRules("oneflow", into_partial="unit")) == 1
    assert same("S0", "P", rules=BoxingRules("oneflow", into_partial="penalty")) == 4 * 64 * 4


def test_without_new_partial_values_a_cheap_way_is_lost():
    # (S0,B) -> (P,B) -> (P,S0) -> (B,S0) costs the all-reduce of the outer dimension, 2 T. Without
    # it (S0,B) -> (S0,S1) -> (B,S1) -> (B,S0) gathers for T and exchanges two replicas for 3/2 T.
    assert same("(S0,B)", "(B,S0)", (2, 4), 1) == 2
    rules = BoxingRules(forbidden=("S->P", "B->P"))
    assert same("(S0,B)", "(B,S0)", (2, 4), 1, rules=rules) == Fraction(5, 2)


def test_a_forbidden_conversion_is_not_made_in_one_step():
    rules = BoxingRules(forbidden=("S0->S1",))
    assert same("S0", "S1", rules=rules) is None
    assert same("S1", "S0", rules=rules) == 32
    assert same("S0", "S1", rules=BoxingRules(forbidden=("S->S",))) is None


@pytest.mark.parametrize("text", ["B", "B->", "B->Q", "S-1->B"])
def test_a_forbidden_conversion_that_cannot_be_read_is_named(text):
    with pytest.raises(ValueError, match=r"forbidden_conversions\[0\]: .* is not one such as"):
        BoxingRules(forbidden=(text,))


@pytest.mark.parametrize("rules", [PAPER, ONEFLOW, BoxingRules(forbidden=("S->B",))])
@pytest.mark.parametrize("hierarchy", [(4,), (2, 2), (2, 4), (3, 2)])
def test_the_steps_of_a_conversion_cost_what_it_costs(rules, hierarchy):
    shape = (6, 8)
    labels = all_labels(shape, hierarchy)
    for a, b in product(labels, repeat=2):
        arguments = (rules, a, b, shape, 960, hierarchy, hierarchy)
        steps = conversion(*arguments, same_group=True)
        cost = boxing_cost(*arguments, same_group=True)
        if steps is None:
            assert cost is None
        else:
            assert sum((s.cost_bytes for s in steps), Fraction(0)) == cost
            assert chain(a, steps) == b


def chain(label: Label, steps) -> Label:
    for step in steps:
        assert step.source == label
        label = step.target
    return label


@pytest.mark.parametrize("hierarchy", [(4,), (2, 4)])
def test_costs_obey_the_triangle_inequality(hierarchy):
    labels = list(map(label_text, all_labels((64, 64), hierarchy)))
    for a, b, c in product(labels, repeat=3):
        detour = same(a, b, hierarchy) + same(b, c, hierarchy)
        assert same(a, c, hierarchy) <= detour


def test_a_label_that_the_shape_forbids_is_not_on_the_way():
    # (S0,S0) cuts axis 0 into eight: not with four rows.
    assert parse_label("(S0,S0)") not in all_labels((4, 64), (2, 4))
    assert all_labels((4, 64), (2, 4)) != all_labels((64, 64), (2, 4))
    costs = [same("(S0,B)", "(S1,S0)", (2, 4), 1, shape=s) for s in ((64, 64), (8, 64))]
    assert costs[0] == costs[1]


def test_between_groups_a_tensor_on_hierarchies_is_a_line_where_both_parts_are_equal():
    for a, b in product(("S0", "B", "P"), repeat=2):
        line = across(a, b, (4,), (8,))
        assert across(f"({a},{a})", f"({b},{b})", (2, 2), (2, 4)) == line
