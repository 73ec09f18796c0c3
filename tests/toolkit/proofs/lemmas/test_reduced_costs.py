"""The lemma of reduced costs holds, whatever the duals, and its tree proves the optimum."""

from fractions import Fraction
from random import Random

import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.lemmas import reduced_costs
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box, proved
from gadgetopt.proofs.tree_search import TreeSearch
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits

from .. import small_models
from .test_gomory import feasible_points, random_form


def knapsack_form(items=60):
    rng = Random(1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(items), domain=pyo.Binary)
    m.row = pyo.ConstraintList()
    for _ in range(2):
        weights = [rng.randint(5, 60) for _ in m.x]
        m.row.add(sum(weights[j] * m.x[j] for j in m.x) <= sum(weights) // 2)
    m.profit = pyo.Objective(
        expr=sum(rng.randint(10, 90) * m.x[j] for j in m.x), sense=pyo.maximize
    )
    return compile_model(m)


def searched(form, least, *, prices):
    model = exact_model(form)
    need = tree_producer.need_for(model, least)
    search = TreeSearch(model, Relaxation(form, lambda: 60.0), need, prices=prices)
    assert search.run()
    return search


def test_many_columns_fixed_make_a_tree_of_short_leaves_that_proves_the_same():
    form = knapsack_form()
    model = exact_model(form)
    optimum = model.least(round(solve_form(form, Limits(time_s=60)).objective))
    search = searched(form, optimum, prices=True)
    assert search._priced is not None
    lines = search.text().lines
    assert lines[0].startswith("lemma")
    assert proved(model, lines) == optimum


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_with_reduced_costs_proves_the_optimum_and_no_more(seed, monkeypatch):
    monkeypatch.setattr(reduced_costs, "WORTH", 0.0)
    form = random_form(seed)
    model = exact_model(form)
    costs = dict(zip(*model.costs, strict=True))
    values = [sum(a * x[j] for j, a in costs.items()) for x in feasible_points(model)]
    lines = searched(form, min(values, default=100), prices=True).text().lines
    assert proved(model, lines) == min(values, default=None)


def test_a_lemma_of_any_duals_holds_at_all_points(monkeypatch):
    monkeypatch.setattr(reduced_costs, "WORTH", 0.0)
    rng, made = Random(2), 0
    for _ in range(3000):
        model = small_models.drawn(rng)
        duals = [(i, rng.uniform(-4, 4)) for i in range(len(model.rows))]
        found = reduced_costs.priced(model, Box(model, list(model.rows)), duals, Fraction(2))
        if found is None:
            continue
        made += 1
        lemma = found.lemma
        least = small_models.least(model._replace(costs=lemma.form))
        assert least is None or lemma.least <= least
        text = ["tree", *lemma.lines[1:]]
        assert proved(model._replace(costs=lemma.form), text) == lemma.least
    assert made > 100
