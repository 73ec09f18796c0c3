"""Proofs that there is no optimum: a point and a ray, or no feasible point at all."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.ray_kernel import check_unbounded
from gadgetopt.proofs.rays import ray_proof
from gadgetopt.proofs.tree_kernel import Rejected, proved
from gadgetopt.proofs.tree_producer import infeasibility_proof

from .small_models import drawn, least

#: min -x - y with x - y between 1/2 and 5/2, x an integer of at least 1/3, y without bounds.
ENDLESS = Model(
    [True, False],
    [1, None],
    [None, None],
    [Row([0, 1], [2, -2], 1, 5, 2)],
    ([0, 1], [-1, -1]),
    1,
    0,
    "min",
)
PROOF = ["point 0 1 1 1/2", "ray 0 1/3 1 1/3"]


def named(model):
    columns = [f"x{j}" for j in range(len(model.integer))]
    return form_of(model, columns, [f"r{i}" for i in range(len(model.rows))])


def test_a_point_and_a_ray_prove_a_model_unbounded():
    check_unbounded(ENDLESS, PROOF)
    check_unbounded(ENDLESS, ["point 0 1", PROOF[1]])  # y is 0


@pytest.mark.parametrize(
    "lines",
    [
        [],
        PROOF[:1],
        PROOF[::-1],
        [*PROOF, "ray 0 1 1 1"],
        ["point 0 1/2 1 0", PROOF[1]],  # no integer
        ["point 0 0 1 -1/2", PROOF[1]],  # below a bound
        [PROOF[0], "ray"],
        [PROOF[0], "ray 0 -1 1 -1"],
        [PROOF[0], "ray 0 1 1 2"],
        [PROOF[0], "ray 0 1"],
        [PROOF[0], "ray 0 1 1"],
        [PROOF[0], "ray 0 1 1 1/0"],
        [PROOF[0], "ray 0 1 1 1/2/3"],
        [PROOF[0], "ray 0 1 1 1.0"],
        [PROOF[0], "ray 0 1 0 1"],
        [PROOF[0], "ray 0 1 2 1"],
        [PROOF[0], "ray 0 1 -1 1"],
        [PROOF[0], "ray 0 1 1 " + "9" * 200_000],
    ],
)
def test_what_is_no_proof_of_it_is_rejected(lines):
    with pytest.raises(Rejected):
        check_unbounded(ENDLESS, lines)


def test_rays_are_found_and_changed_ones_of_bounded_models_are_not_believed():
    rng, counts = Random(4), {"unbounded": 0, "bounded": 0, "accepted": 0}
    words = ["-1", "0", "1", "2", "1/2", "-3/7", "5"]
    for _ in range(400):
        model = drawn(rng)
        lines = ray_proof(named(model), model, lambda: 10.0)
        if lines is not None:
            check_unbounded(model, lines)
            counts["unbounded"] += 1
        ends = [x for x in (*model.lower, *model.upper) if x is None]
        if ends:
            continue
        counts["bounded"] += 1  # all columns have bounds
        for _ in range(20):
            texts = [
                " ".join([kind, *(f"{j} {rng.choice(words)}" for j in range(len(model.integer)))])
                for kind in ("point", "ray")
            ]
            with pytest.raises(Rejected):
                check_unbounded(model, texts)
    assert counts["unbounded"] >= 20
    assert counts["bounded"] >= 20


def test_infeasibility_of_random_models_is_proved_exactly_where_it_holds():
    rng, counts = Random(9), {"none": 0, "some": 0}
    for _ in range(600):
        model = drawn(rng)
        if any(x is None for x in (*model.lower, *model.upper)):
            continue
        text = infeasibility_proof(named(model), model, lambda: 10.0)
        if least(model) is None:
            assert proved(model, text.lines) is None
            counts["none"] += 1
        else:
            assert text is None
            counts["some"] += 1
    assert counts["none"] >= 20
    assert counts["some"] >= 100


@pytest.mark.parametrize("whole", [True, False])
def test_sides_that_exclude_each_other_prove_infeasibility(whole):
    # Without any row: 2 <= x <= 1. Then 1 <= x - y/2 <= 0 as 2 <= 2 x - y <= 0 over 2.
    free = Model([whole, False], [2, None], [1, None], [], ([0], [1]), 1, 0, "min")
    row = Row([0, 1], [2, -1], 2, 0, 2)
    for model in (free, free._replace(lower=[None, None], upper=[None, None], rows=[row])):
        text = infeasibility_proof(named(model), model, lambda: 10.0)
        assert proved(model, text.lines) is None


def test_a_model_that_is_feasible_at_a_fraction_only_is_infeasible():
    # x = y + 1/2 for integers x and y.
    model = Model(
        [True, True], [0, 0], [9, 9], [Row([0, 1], [2, -2], 1, 1, 2)], ([0], [1]), 1, 0, "max"
    )
    text = infeasibility_proof(named(model), model, lambda: 10.0)
    assert proved(model, text.lines) is None
    assert model.bound(Fraction(0)) == 0
