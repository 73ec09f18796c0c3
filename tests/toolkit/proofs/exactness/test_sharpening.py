"""Bounds that are the optimum itself, where rounded duals leave them a little below it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from gadgetopt.proofs.exactness.sharpening import sharpened
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import tree_proof

from ..small_models import least


def long() -> float:
    return 10.0


def named(model):
    columns = [f"x{j}" for j in range(len(model.integer))]
    return form_of(model, columns, [f"r{i}" for i in range(len(model.rows))])


def mixed(rng):
    """Draw a covering model over thirds and sevenths; its last column is continuous."""
    columns = list(range(4))
    rows = [
        Row(columns, [rng.randint(1, 9) for _ in columns[1:]] + [rng.randint(1, 9)],
            rng.randint(1, 40), None, rng.choice([1, 3, 7]))
        for _ in range(4)
    ]  # fmt: skip
    costs = columns, [rng.randint(1, 9) for _ in columns]
    upper = [3, 3, 3, None]
    return Model([True] * 3 + [False], [0] * 4, upper, rows, costs, rng.choice([1, 10]), 0, "min")


def test_the_optimum_of_a_mixed_model_is_proved_to_the_last_digit():
    rng, inexact, counted = Random(3), 0, 0
    for _ in range(60):
        model = mixed(rng)
        best = least(model)
        lines = tree_proof(named(model), model, best, long).lines
        if proved(model, lines) == best:
            continue
        inexact += 1
        sharp = sharpened(model, lines, best, long)
        counted += sharp is not None and proved(model, sharp) == best
    assert inexact >= 10
    assert counted == inexact


def test_a_leaf_whose_relaxation_is_below_the_target_is_split():
    # 10^11 + k + w / 3 with 2 k >= 1 and w >= 1: without k >= 1 it is 10^11 + 1/2 + 1/3, which is
    # within tolerance of the optimum, 10^11 + 4/3.
    model = Model(
        [True, True, False], [1, 0, 1], [1, 9, None],
        [Row([1], [2], 1, None, 1), Row([1, 2], [1, 1], 1, None, 1)],
        ([0, 1, 2], [3 * 10**11, 3, 1]), 3, 0, "min",
    )  # fmt: skip
    target = 3 * 10**11 + Fraction(4)
    weak = ["tree", "l 0 1"]
    assert proved(model, weak) == 3 * 10**11 + 1
    sharp = sharpened(model, weak, target, long)
    assert sharp is not None
    assert proved(model, sharp) == target
    assert sum(line.startswith("b ") for line in sharp) == 1


def test_splits_on_the_path_of_a_leaf_are_counted():
    # x + y = 2 z + 1 is odd: leaves below `s` splits on x + y use them as rows.
    model = Model(
        [True, True, False], [0, 0, 0], [3, 3, None],
        [Row([0, 1, 2], [3, 3, 7], 10, None, 1)],
        ([0, 1, 2], [4, 4, 9]), 1, 0, "min",
    )  # fmt: skip
    best = least(model)
    proof = ["tree", "s 2 0 1 1 1", "l 0 1 0 1", "s 3 0 1 1 1", "l 0 1", "l 0 1 | 1 4"]
    assert proved(model, proof) < best
    sharp = sharpened(model, proof, best, long)
    assert sharp is not None
    assert proved(model, sharp) == best


def test_lemmas_and_bounds_before_the_tree_are_kept():
    # 3 z >= x - 7 and 3 z >= 4 - 2 x for a free z: a bound of z comes first. The lines cross
    # between x = 3 and x = 4, where z is -2/3 and -1; at x = 5 it is -2/3 again.
    model = Model(
        [True, False], [None, None], [10, None],
        [Row([0, 1], [-1, 3], -7, None, 3), Row([0, 1], [2, 3], 4, None, 3)],
        ([1], [1]), 1, 0, "min",
    )  # fmt: skip
    best = Fraction(-1)
    lines = tree_proof(named(model), model, best, long).lines
    before = lines[: lines.index("tree")]
    weak = [*before, "tree", "l 0 1"]
    sharp = sharpened(model, weak, best, long)
    assert sharp is not None
    assert before == sharp[: len(before)]
    assert any(line.startswith("bound") for line in before)
    assert proved(model, sharp) == best


@pytest.mark.parametrize("beyond", [Fraction(1, 3), Fraction(1, 10**15)])
def test_nothing_above_the_optimum_is_proved(beyond):
    rng = Random(4)
    for _ in range(20):
        model = mixed(rng)
        best = least(model)
        lines = tree_proof(named(model), model, best, long).lines
        assert sharpened(model, lines, best + beyond, long) is None


def test_without_time_there_is_no_other_proof():
    model = mixed(Random(5))
    best = least(model)
    assert sharpened(model, ["tree", "l 0 1"], best, lambda: 0.0) is None
