"""Bounds from single rows: they hold, their splits prove the optimum, idle ones are left out."""

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import tree_kernel, tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.propagation import Propagation
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_search import TreeSearch
from gadgetopt.solvers.standard_form import compile_model

from .lemmas.test_gomory import feasible_points, random_form


def makespan_form(jobs=30):
    """Return a model whose relaxation knows nothing: each job runs late, or early and alone.

    Choosing an early slot costs nothing in the relaxation; `T >= 20` follows from whole numbers.
    """
    m = pyo.ConcreteModel()
    m.late = pyo.Var(range(jobs), domain=pyo.Binary)
    m.T = pyo.Var(domain=pyo.Integers, bounds=(0, 100))
    m.ends = pyo.Constraint(range(jobs), rule=lambda m, j: (20 + j) * m.late[j] <= m.T)
    m.one = pyo.Constraint(expr=sum(m.late[j] for j in m.late) >= 1)
    m.cost = pyo.Objective(expr=m.T)
    return compile_model(m)


def costs_of(model, x):
    return sum(a * x[j] for j, a in zip(*model.costs, strict=True))


@pytest.mark.parametrize("seed", range(100))
def test_bounds_hold_at_all_points_below_the_target(seed):
    model = exact_model(random_form(seed))
    points = list(feasible_points(model))
    values = sorted({costs_of(model, x) for x in points}) or [5]
    for need in (values[len(values) // 2], values[-1] + 1):
        found = Propagation(model, model.rows, float(need), ()).run(
            *(np.array(ends, dtype=float) for ends in (model.lower, model.upper))
        )
        kept = [x for x in points if costs_of(model, x) < need]
        assert found.conflict is None or not kept
        for x in kept:
            for j, upper, value, *_ in found.bounds:
                assert x[j] <= value if upper else x[j] >= value


@pytest.mark.parametrize("seed", range(100))
def test_a_tree_with_propagation_proves_the_optimum_and_no_more(seed):
    form = random_form(seed)
    model = exact_model(form)
    least = min((costs_of(model, x) for x in feasible_points(model)), default=None)
    made = tree_producer.tree_proof(form, model, 100 if least is None else least, lambda: 60.0)
    assert made is not None
    assert proved(model, made.lines) == least


def test_what_whole_numbers_imply_needs_a_leaf_each_and_no_branching():
    form = makespan_form()
    model = exact_model(form)
    lp = Relaxation(form, lambda: 60.0)
    search = TreeSearch(model, lp, tree_producer.need_for(model, model.least(20)))
    assert search.run()
    made = search.text()
    assert proved(model, made.lines) == 20
    assert made.leaves == sum(line.startswith("l ") for line in made.lines)
    assert made.leaves <= 32


def test_ended_trees_keep_the_leaves_that_propagation_has_made():
    form = makespan_form()
    model = exact_model(form)
    for steps in range(1, 40, 3):
        left = iter(range(steps))
        lp = Relaxation(form, lambda: 60.0)
        search = TreeSearch(model, lp, tree_producer.need_for(model, model.least(20)))
        search.run(lambda left=left: next(left, None) is not None)
        search.end()
        assert proved(model, search.text().lines) <= 20


@pytest.mark.parametrize("seed", range(100))
def test_leaves_that_are_not_made_exact_prove_what_is_needed(seed, monkeypatch):
    entered, enter = [], TreeSearch._enter

    def checked(tree, line):
        if tree._closing_next is not None:
            leaf, closes_left = tree._closing_next
            box = tree.box
            box.split(line.split())
            if not closes_left:
                box.turn()
            bound = tree_kernel._leaf(box, tree.form, leaf.split()[1:])
            assert bound is None or bound >= tree.need
            if closes_left:
                box.turn()
            box.leave()
            entered.append(leaf)
        enter(tree, line)

    monkeypatch.setattr(TreeSearch, "_enter", checked)
    is_makespan = 0 < seed < 40
    form = makespan_form(seed + 1) if is_makespan else random_form(seed)
    model = exact_model(form)
    points = [] if is_makespan else feasible_points(model)
    least = 20 if is_makespan else min((costs_of(model, x) for x in points), default=100)
    assert tree_producer.tree_proof(form, model, least, lambda: 60.0) is not None
    assert entered or not is_makespan
