"""Leaves: doubles choose the number of binary digits as trying each in exact numbers would."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from gadgetopt.proofs.leaves import DIGITS, Leaves, leaf_of
from gadgetopt.proofs.tree_kernel import Box, proved

from . import small_models


def leaves_of(model):
    box = Box(model, list(model.rows))
    leaves = Leaves(box, model.costs)
    leaves.infeasible([], [])  # the first leaf is made by trying
    return box, leaves


def test_a_leaf_has_the_fewest_digits_that_prove_what_is_needed():
    rng, found = Random(5), 0
    for _ in range(400):
        model = small_models.drawn(rng)
        box, leaves = leaves_of(model)
        duals = [(i, rng.uniform(-3, 3)) for i in range(len(model.rows))]
        tried = [leaf_of(box, model.costs, k, 1, duals, []) for k in DIGITS]
        proofs = [made for made in tried if made is not None]
        if not proofs:
            assert leaves.bounding(duals, [], Fraction(-(10**9))) is None
            continue
        # Between two of the values, so that noise of doubles cannot decide.
        values = sorted({made[1] for made in proofs})
        need = (values[0] + values[-1]) / 2
        made = leaves.bounding(duals, [], need)
        found += 1
        assert made == next(made for made in proofs if made[1] >= need)
        assert proved(model, ["tree", made[0]]) >= made[1]
        best = leaves.best(duals, [])
        assert best is not None
        assert abs(best[1] - values[-1]) <= Fraction(1, 10**9) * (1 + abs(values[-1]))
        assert leaves.bounding(duals, [], values[-1] + 1) is None
    assert found > 100


def test_a_leaf_shows_that_nothing_is_feasible():
    rng, found = Random(6), 0
    for _ in range(2000):
        model = small_models.drawn(rng)
        box, leaves = leaves_of(model)
        duals = [(i, rng.uniform(-3, 3)) for i in range(len(model.rows))]
        turned = [(i, -y) for i, y in duals]
        shown = [leaf_of(box, ([], []), k, 0, some, []) for k in DIGITS for some in (duals, turned)]
        line = leaves.infeasible(duals, [])
        assert (line is not None) == any(made is not None for made in shown)
        if line is not None:
            found += 1
            assert proved(model, ["tree", line]) is None
    assert found > 5
