"""Leaves over any denominator: columns without bounds leave no model without a bound."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import tree_proof
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import highs
from gadgetopt.solvers.dual_bounds import exact_dual_bound
from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
from gadgetopt.solvers.exact_optimum.shifted_duals import shifted_duals
from gadgetopt.system.result import Limits, Status


def named(model):
    columns = [f"x{j}" for j in range(len(model.integer))]
    return form_of(model, columns, [f"r{i}" for i in range(len(model.rows))])


def program(rng, columns=6, rows=5):
    """Draw a linear program of free and one-sided columns."""
    sides = [rng.choice([(None, None), (0, None), (None, 0)]) for _ in range(columns)]
    drawn = []
    for _ in range(rows):
        chosen = sorted(rng.sample(range(columns), rng.randint(2, 4)))
        numbers = [rng.choice([-7, -5, -3, 3, 5, 7, 11]) for _ in chosen]
        low = rng.randint(-9, 9)
        ends = rng.choice([(low, None), (None, low), (low, low), (low, low + 4)])
        drawn.append(Row(chosen, numbers, *ends, rng.choice([1, 3, 7])))
    costs = list(range(columns)), [rng.choice([-3, -1, 1, 2, 5]) for _ in range(columns)]
    lower, upper = ([end[k] for end in sides] for k in (0, 1))
    return Model([False] * columns, lower, upper, drawn, costs, 1, 0, "min")


def optimum(form):
    solved = highs.solve_form(form, Limits())
    if solved.status is not Status.OPTIMAL:
        return solved, None
    return solved, exact_optimum(form, solved.basis, Clock())


def test_every_bounded_program_has_its_optimum_proved():
    rng, counted, over_others = Random(5), 0, 0
    for _ in range(300):
        model = program(rng)
        _, best = optimum(named(model))
        if best is None:
            continue
        text = tree_proof(named(model), model, best.objective, lambda: 10.0)
        bound = proved(model, text.lines)
        assert best.objective - abs(best.objective) / 10**6 <= bound <= best.objective
        counted += 1
        over_others += any(line.startswith("l /") for line in text.lines)
    assert counted >= 40
    assert over_others >= 10


def test_a_ray_over_any_denominator_proves_infeasibility():
    # 3 x >= 1 and -x >= 0 for a free x: the duals are 1 and 3, and no dyadic numbers near them.
    model = Model(
        [False], [None], [None], [Row([0], [3], 1, None, 1), Row([0], [-1], 0, None, 1)],
        ([0], [1]), 1, 0, "min",
    )  # fmt: skip
    text = tree_proof(named(model), model, Fraction(10), lambda: 10.0)
    assert proved(model, text.lines) in (None, Fraction(11))  # the cut stands above the target


def test_costs_that_lean_do_not_hide_a_bound():
    # x - y = 0 with costs 1 and -1: any less for both, and there is a ray of negative cost.
    model = Model(
        [False, False], [0, 0], [None, None], [Row([0, 1], [1, -1], 0, 0, 1)],
        ([0, 1], [1, -1]), 1, 0, "min",
    )  # fmt: skip
    text = tree_proof(named(model), model, Fraction(0), lambda: 10.0)
    assert proved(model, text.lines) == 0


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_duals_are_moved_to_such_that_prove_a_bound_near_the_optimum(noise):
    rng, numbers, moved = Random(6), np.random.default_rng(6), 0
    for _ in range(200):
        form = named(program(rng))
        solved, best = optimum(form)
        if best is None:
            continue
        near = solved.row_duals + noise * numbers.standard_normal(len(form.rows))
        duals = shifted_duals(form, near)
        if duals is None:
            continue
        bound = exact_dual_bound(form, duals)
        assert bound is not None
        assert bound <= best.objective
        assert best.objective - bound <= Fraction(1, 10**5) * (1 + abs(best.objective))
        moved += 1
    assert moved >= 20
