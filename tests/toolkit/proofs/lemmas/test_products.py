"""Rows of products of choices as lemmas: they hold, their lines prove them, they close the root."""

import itertools
from random import Random

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.lemmas.products import ProductLemmas, tables
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.solvers.standard_form import compile_model


def two_choices(seed, *, most=4):
    """Return two choices of up to `most` options; pairs cost something, nothing, or are excluded.

    Some labels are sums of two options, as rows are given either way round.
    """
    rng = Random(seed)
    sizes = [rng.randint(2, most) for _ in range(2)]
    m = pyo.ConcreteModel()
    m.s = pyo.Var([(u, k) for u in (0, 1) for k in range(sizes[u])], domain=pyo.Binary)
    labels = []
    for u in (0, 1):
        options = list(range(sizes[u]))
        merged = options[:2] if rng.random() < 0.4 else options[:1]
        labels.append([merged, *([k] for k in options[len(merged) :])])
    m.y = pyo.Var(range(len(labels[0])), range(len(labels[1])), domain=pyo.Binary)
    m.choose = pyo.Constraint(
        [0, 1], rule=lambda m, u: sum(m.s[u, k] for k in range(sizes[u])) == 1
    )
    m.products = pyo.ConstraintList()
    for (i, a), (j, b) in itertools.product(enumerate(labels[0]), enumerate(labels[1])):
        ends = sum(m.s[0, k] for k in a) + sum(m.s[1, k] for k in b)
        kind = rng.choice(["costs", "costs", "costs", "free", "excluded"])
        if kind == "costs":
            row = rng.choice([m.y[i, j] >= ends - 1, ends - m.y[i, j] <= 1])
            m.products.add(row)
        elif kind == "excluded":
            m.products.add(ends <= 1)
    m.cost = pyo.Objective(expr=sum(rng.randint(1, 9) * m.y[i, j] for i, j in m.y))
    return compile_model(m)


def all_points(model):
    """Yield all binary points of a model."""
    for x in itertools.product((0, 1), repeat=len(model.integer)):
        for columns, coefficients, low, high, _ in model.rows:
            total = sum(a * x[j] for j, a in zip(columns, coefficients, strict=True))
            if (low is not None and total < low) or (high is not None and total > high):
                break
        else:
            yield x


@pytest.mark.parametrize("seed", range(40))
def test_a_lemma_holds_for_all_integer_points_and_its_lines_prove_it(seed):
    model = exact_model(two_choices(seed, most=3))
    points = np.array(list(all_points(model)))
    rng = np.random.default_rng(seed)
    for _ in range(5):
        # Any point will do: lemmas of sets of labels that it violates, feasible or not.
        x = rng.random(len(model.integer)) * (rng.random(len(model.integer)) < 0.6)
        lemmas = ProductLemmas(model).violated(x, model.rows)
        for k, lemma in enumerate(lemmas):
            columns, coefficients = lemma.form
            if len(points):
                assert (points[:, columns] @ np.array(coefficients)).min() >= lemma.least
            lines = [line for before in lemmas[:k] for line in before.lines]
            lines += ["tree", *lemma.lines[1:]]
            assert proved(model._replace(costs=lemma.form), lines) == lemma.least
        if lemmas:
            columns, coefficients = lemmas[-1].form
            assert float(x[columns] @ np.array(coefficients)) < lemmas[-1].least


def dense_product(count):
    """Return a model whose relaxation is 0 and whose optimum is 1: all pairs cost 1."""
    m = pyo.ConcreteModel()
    m.s = pyo.Var([0, 1], range(count), domain=pyo.Binary)
    m.y = pyo.Var(range(count), range(count), domain=pyo.Binary)
    m.choose = pyo.Constraint([0, 1], rule=lambda m, u: sum(m.s[u, k] for k in range(count)) == 1)
    m.products = pyo.Constraint(
        range(count), range(count), rule=lambda m, a, b: m.y[a, b] >= m.s[0, a] + m.s[1, b] - 1
    )
    m.cost = pyo.Objective(expr=sum(m.y[pair] for pair in m.y))
    return compile_model(m)


def test_the_products_of_two_choices_are_closed_at_the_root(monkeypatch):
    # y_ab >= s_a + s_b - 1 for all pairs: s = 1/count and y = 0 satisfy the relaxation.
    monkeypatch.setattr(tree_producer, "PLAIN", 0.0)
    form = dense_product(5)
    model = exact_model(form)
    assert len(tables(model)) == 1
    made = tree_producer.tree_proof(form, model, model.least(1), lambda: 60.0)
    assert made.leaves == 1
    assert any(line.startswith("lemma") for line in made.lines)
    assert model.bound(proved(model, made.lines)) == 1


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_with_these_lemmas_proves_the_optimum(seed, monkeypatch):
    monkeypatch.setattr(tree_producer, "PLAIN", 0.0)
    form = two_choices(seed, most=3)
    model = exact_model(form)
    costs = dict(zip(*model.costs, strict=True))
    values = [sum(a * x[j] for j, a in costs.items()) for x in all_points(model)]
    made = tree_producer.tree_proof(form, model, min(values, default=100), lambda: 60.0)
    assert made is not None
    assert proved(model, made.lines) == min(values, default=None)
