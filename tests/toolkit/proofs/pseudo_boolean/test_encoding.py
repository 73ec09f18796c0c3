"""Pure integer models as pseudo-Boolean formulas, and proofs about them."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.pseudo_boolean.encoding import canonical, encode, proof_lines, proved
from gadgetopt.proofs.pseudo_boolean.kernel import normal

from ..small_models import drawn, least

#: max 5 a + 4 b + 3 c with 2 a + 3 b + c <= 5, binary: 9 with a and b.
KNAPSACK = Model(
    [True] * 3,
    [0] * 3,
    [1] * 3,
    [Row([0, 1, 2], [2, 3, 1], None, 5, 1)],
    ([0, 1, 2], [-5, -4, -3]),
    1,
    0,
    "max",
)
#: The row says that one of the three is missing; below -9 needs all of them.
STEPS = ["less -9", "rup >= 1 ; 2 1", "end 3"]


def pure(rng: Random) -> Model:
    while True:
        model = drawn(rng)
        if all(model.integer):
            return model


def points(formula):
    """Yield the true variables of each solution."""
    for signs in itertools.product((1, -1), repeat=formula.variables):
        true = {sign * v for v, sign in enumerate(signs, 1)}
        if all(sum(a for x, a in c.items() if x in true) >= d for c, d in formula.constraints):
            yield true


def test_a_formula_has_the_optimum_of_its_model():
    rng, compared = Random(4), 0
    for _ in range(400):
        model = pure(rng)
        if None in model.lower or None in model.upper:
            continue
        formula = encode(model)
        assert formula.outside is None
        assert min(map(formula.costs, points(formula)), default=None) == least(model)
        compared += 1
    assert compared > 100


def test_a_column_without_bound_gets_the_one_that_the_cutoff_leaves_it():
    # min 2 x + 3 y, x >= 1, y >= 0, x + y >= 3: 6. At most 8: x <= 4, y <= 2.
    rows = [Row([0, 1], [1, 1], 3, None, 1)]
    model = Model([True] * 2, [1, 0], [None, None], rows, ([0, 1], [2, 3]), 1, 0, "min")
    formula = encode(model, 8)
    assert [low for low, _ in formula.columns] == [1, 0]
    assert formula.outside == 9
    found = sorted(map(formula.costs, points(formula)))
    assert found[0] == 6
    assert formula.bound(6 - formula.offset) == 6
    assert formula.bound(None) == 9
    assert formula.bound(100) == 9
    assert encode(model, 1).bound(None) == 2
    with pytest.raises(ModelRefused, match="column 0"):
        encode(model)


def test_no_cutoff_makes_a_bound_pass_the_optimum():
    rng, compared = Random(5), 0
    for _ in range(600):
        model = pure(rng)
        cutoff = rng.randint(-12, 12)
        try:
            formula = encode(model, cutoff)
        except ModelRefused:
            continue
        if formula.variables > 10:
            continue
        inside = min(map(formula.costs, points(formula)), default=None)
        bound = formula.bound(None if inside is None else inside - formula.offset)
        optimum = least(model)
        compared += 1
        if optimum is not None:
            assert bound is not None
            assert bound <= optimum
    assert compared > 100


def test_a_continuous_or_endless_model_is_refused():
    with pytest.raises(ModelRefused, match="continuous"):
        encode(KNAPSACK._replace(integer=[True, False, True]))
    with pytest.raises(ModelRefused, match="column 1"):
        encode(KNAPSACK._replace(upper=[1, None, 1]), 5)


def test_an_empty_box_has_no_solution():
    formula = encode(KNAPSACK._replace(upper=[1, -1, 1]))
    assert list(points(formula)) == []


def test_canonical_constraints_have_the_same_solutions():
    assert canonical(normal([(6, 1), (4, 2), (9, -3)], 5)) == ({1: 5, 2: 4, -3: 5}, 5)
    assert canonical(normal([(6, 1), (4, 2)], 5)) == ({1: 5, 2: 4}, 5)
    assert canonical(normal([(6, 1), (4, 2)], 7)) == ({1: 3, 2: 2}, 4)
    assert canonical(normal([(-6, 1)], -6)) == ({}, 0)


def test_a_proof_about_a_model_is_checked_against_the_models_own_formula():
    lines = proof_lines(None, STEPS)
    assert proved(KNAPSACK, lines) == -9
    # One unit more of capacity: all three fit, 12, and the same text proves nothing.
    larger = KNAPSACK._replace(rows=[KNAPSACK.rows[0]._replace(upper=6)])
    with pytest.raises(ValueError, match="relied on"):
        proved(larger, lines)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        STEPS,
        ["cutoff", *STEPS],
        ["cutoff - -", *STEPS],
        ["cutoff 0.5", *STEPS],
        ["cutoff -", "less -8", *STEPS[1:]],
        ["cutoff -", "less -9", "rup >= 1 ; 1 2", "end 3"],
        ["cutoff -"],
    ],
)
def test_a_wrong_proof_is_refused(lines):
    with pytest.raises(ValueError):
        proved(KNAPSACK, lines)


def test_a_tree_is_said_to_be_no_pseudo_boolean_proof():
    with pytest.raises(ValueError, match="begins with no cutoff"):
        proved(KNAPSACK, ["tree", "l 0 1"])
