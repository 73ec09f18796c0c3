"""Bounds that single rows imply: each is proved by a leaf, and none cuts off a point."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from gadgetopt.proofs.lemmas.implied_bounds import bounded
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.tree_kernel import proved

from .. import small_models

#: x0 + x1 >= 2 with costs 1 and 3: no row bounds them from above, the cut does.
ENDLESS = Model(
    [False, False],
    [0, 0],
    [None, None],
    [Row([0, 1], [1, 1], 2, None, 1)],
    ([0, 1], [1, 3]),
    1,
    0,
    "min",
)


def test_a_chain_of_rows_bounds_one_column_after_the_other():
    model = ENDLESS._replace(
        rows=[Row([0, 1], [2, -1], None, 3, 2), Row([1], [3], None, 7, 1)],
    )
    found = bounded(model, Fraction(0))
    assert found.model.upper == [Fraction(8, 3), Fraction(7, 3)]
    assert not found.has_cut
    assert proved(model, [*found.lines, "tree", "l 0 1"]) == 0


def test_what_is_worse_than_a_solution_is_cut_off_where_that_bounds_columns():
    found = bounded(ENDLESS, Fraction(2))
    assert found.has_cut
    assert found.lines[0] == "cut 3"
    assert found.model.upper == [3, 1]
    assert proved(ENDLESS, [*found.lines, "tree", "l 0 1 0 1"]) == 2


def test_a_model_with_bounds_needs_no_lines():
    model = ENDLESS._replace(upper=[5, 5])
    assert bounded(model, Fraction(2)) == ([], model, False)


def test_bounds_of_random_models_are_proved_and_hold():
    rng, seen = Random(2), 0
    for _ in range(2000):
        model = small_models.drawn(rng)
        found = bounded(model, Fraction(10**6))
        seen += bool(found.lines)
        for j, (low, high) in enumerate(zip(found.model.lower, found.model.upper, strict=True)):
            for sign, side in ((1, low), (-1, high)):
                if side is None or not model.integer[j]:
                    continue
                least = small_models.least(model._replace(costs=([j], [sign])))
                assert least is None or least >= sign * side
        # The kernel accepts every line: the tree's leaf may fail for want of bounds elsewhere.
        if not any(side is None for side in (*found.model.lower, *found.model.upper)):
            proved(model, [*found.lines, "tree", "l 0 1"])
    assert seen > 100
