"""Gomory's cuts as lemmas: they hold, they lift the root, and proofs keep only those they need."""

import itertools
from random import Random

import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.lemmas.gomory import Rounds
from gadgetopt.proofs.lemmas.splits import Lemma, without_unused
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box, proved
from gadgetopt.solvers.standard_form import compile_model


def random_form(seed):
    """Return a compiled integer program of few columns from 0 to 3, with all kinds of rows."""
    rng = Random(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(rng.randint(2, 4)), domain=pyo.Integers, bounds=(0, 3))
    m.rows = pyo.ConstraintList()
    for _ in range(rng.randint(2, 4)):
        a = [rng.randint(-4, 9) for _ in m.x]
        row = sum(a[j] * m.x[j] for j in m.x)
        low, high = sorted(rng.randint(-4, 12) for _ in range(2))
        if any(a):
            m.rows.add(rng.choice([row <= high, row >= low, pyo.inequality(low, row, high)]))
    m.cost = pyo.Objective(expr=sum(rng.randint(-9, 5) * m.x[j] for j in m.x))
    return compile_model(m)


def is_within(row, x):
    columns, coefficients, low, high, _ = row
    total = sum(a * x[j] for j, a in zip(columns, coefficients, strict=True))
    return (low is None or low <= total) and (high is None or total <= high)


def feasible_points(model):
    """Yield all points of a model whose columns go from 0 to 3."""
    for x in itertools.product(range(4), repeat=len(model.integer)):
        if all(is_within(row, x) for row in model.rows):
            yield x


def lemmas_of(form, model, target=1e9):
    return Rounds(model, Relaxation(form, lambda: 60.0)).lemmas(target)


@pytest.mark.parametrize("seed", range(60))
def test_a_cut_holds_for_all_integer_points_and_its_lines_prove_it(seed, monkeypatch):
    monkeypatch.setattr("gadgetopt.proofs.lemmas.gomory.WORTH", 0.0)
    form = random_form(seed)
    model = exact_model(form)
    points = list(feasible_points(model))
    lemmas = lemmas_of(form, model)
    for k, lemma in enumerate(lemmas):
        columns, coefficients = lemma.form
        for x in points:
            value = sum(a * x[j] for j, a in zip(columns, coefficients, strict=True))
            assert value >= lemma.least
        lines = [line for before in lemmas[:k] for line in before.lines] + [
            "tree",
            *lemma.lines[1:],
        ]
        assert proved(model._replace(costs=lemma.form), lines) == lemma.least


@pytest.mark.parametrize("seed", range(10))
def test_rounds_that_the_time_broke_off_go_on(seed):
    form = random_form(seed)
    model = exact_model(form)
    whole = Rounds(model, Relaxation(form, lambda: 60.0))
    whole.lemmas(1e9)
    left_s, is_broken_off = 60.0, False

    def others(*_):
        nonlocal left_s, is_broken_off
        is_broken_off = not is_broken_off
        left_s = 0.0 if is_broken_off else 60.0
        return []

    rounds = Rounds(model, Relaxation(form, lambda: left_s), others)
    while not rounds.is_over:
        left_s = 60.0
        rounds.lemmas(1e9)
    assert rounds.bounds == pytest.approx(whole.bounds)
    assert [lemma.lines for lemma in rounds.made] == [lemma.lines for lemma in whole.made]


def without_plain_tree(monkeypatch):
    monkeypatch.setattr(tree_producer, "PLAIN", 0.0)


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_with_cuts_proves_the_optimum(seed, monkeypatch):
    without_plain_tree(monkeypatch)
    form = random_form(seed)
    model = exact_model(form)
    costs = dict(zip(*model.costs, strict=True))
    values = [sum(a * x[j] for j, a in costs.items()) for x in feasible_points(model)]
    made = tree_producer.tree_proof(form, model, min(values, default=100), lambda: 60.0)
    assert made is not None
    assert proved(model, made.lines) == min(values, default=None)


def test_the_text_book_program_is_closed_by_cuts_of_the_root(monkeypatch):
    # A program of many courses (L. Wolsey): 59/7 for the relaxation, 7 for integers.
    without_plain_tree(monkeypatch)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), domain=pyo.NonNegativeIntegers, bounds=(0, 10))
    m.a = pyo.Constraint(expr=7 * m.x[0] - 2 * m.x[1] <= 14)
    m.b = pyo.Constraint(expr=m.x[1] <= 3)
    m.c = pyo.Constraint(expr=2 * m.x[0] - 2 * m.x[1] <= 3)
    m.cost = pyo.Objective(expr=4 * m.x[0] - m.x[1], sense=pyo.maximize)
    form = compile_model(m)
    model = exact_model(form)
    made = tree_producer.tree_proof(form, model, model.least(7), lambda: 60.0)
    assert made.leaves == 1
    assert any(line.startswith("lemma") for line in made.lines)
    assert model.bound(proved(model, made.lines)) == 7


def test_only_lemmas_that_are_needed_stay_and_get_new_numbers():
    lemmas = [
        Lemma(([0], [1]), 1, ["lemma 0 1", "l 0 1 2 1"]),
        Lemma(([1], [1]), 1, ["lemma 1 1", "l 0 1 3 1"]),
        Lemma(([2], [1]), 1, ["lemma 2 1", "s 0 1 1", "l 0 1 5 1 | 0 5", "l 0 1 1 6"]),
    ]
    tree = ["b 0 0", "l 0 1 7 1 0 7 | 0 1", "l 0 1 1 1"]
    kept, renumbered = without_unused(lemmas, tree, first=5)
    assert [lemma.form for lemma in kept] == [([0], [1]), ([2], [1])]
    assert kept[1].lines[2] == "l 0 1 5 1 | 0 5"
    assert renumbered == ["b 0 0", "l 0 1 6 1 0 7 | 0 1", "l 0 1 1 1"]


def test_a_lemma_is_a_row_over_its_own_denominator():
    form = random_form(0)
    model = exact_model(form)
    assert Box(model, [*model.rows, Lemma(([0], [2]), 1, []).row]).rows[-1] == (
        [0],
        [2],
        1,
        None,
        1,
    )
