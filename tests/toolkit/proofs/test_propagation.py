"""Bounds from single rows: they hold, their splits prove the optimum, idle ones are left out."""

from random import Random

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.proofs import tree_kernel, tree_producer
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.propagation import OBJECTIVE, Propagation
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import Box, proved
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


def random_model(seed):
    """Return an exact model and what is needed of its costs.

    Columns of all signs, some continuous, some without a bound; rows over denominators.
    """
    rng = Random(seed)
    columns = range(rng.randint(2, 7))
    lower = [rng.randint(-3, 2) for _ in columns]
    upper = [low + rng.randint(0, 6) for low in lower]
    rows = []
    for _ in range(rng.randint(2, 7)):
        low, high = sorted(rng.randint(-25, 25) for _ in range(2))
        low, high = rng.choice([(None, high), (low, None), (low, high), (low, low)])
        rows.append(Row(*random_sum(rng, columns), low, high, rng.choice([1, 1, 1, 3, 7, 10])))
    model = Model(
        [rng.random() < 0.8 for _ in columns],
        [None if rng.random() < 0.08 else x for x in lower],
        [None if rng.random() < 0.08 else x for x in upper],
        rows,
        random_sum(rng, columns),
        1,
        0,
        "min",
    )
    return model, rng.randint(-20, 20)


def random_sum(rng, columns):
    some = sorted(rng.sample(columns, rng.randint(1, len(columns))))
    return some, [rng.choice([-1, 1]) * rng.randint(1, 9) for _ in some]


def is_shown(box, model, need, side):
    """Return True if the kernel takes the leaf of a side where the box is."""
    if side.row == OBJECTIVE:
        return tree_kernel.leaf_bound(box, model.costs, 1, 1, [], []) >= need
    leaf = [side.row, int(side.dual)]
    return tree_kernel.leaf_bound(box, model.costs, 1, 0, leaf, []) is None


def test_the_kernel_takes_the_leaf_of_every_bound_and_conflict():
    """Which of several conflicts is found may hang on the last digit; each of them is one."""
    conflicts = bounds = 0
    for seed in range(2000):
        model, need = random_model(seed)
        ends = (
            np.array([endless if x is None else x for x in side], dtype=float)
            for side, endless in ((model.lower, -np.inf), (model.upper, np.inf))
        )
        found = Propagation(model, model.rows, float(need), ()).run(*ends)
        box = Box(model, list(model.rows))
        for column, upper, value, side, _ in found.bounds:
            split = ["b", str(column), str(value if upper else value - 1)]
            box.split(split)
            if upper:
                box.turn()
            assert is_shown(box, model, need, side), (seed, column, upper, value)
            if upper:
                box.leave()
                box.split(split)
            else:
                box.turn()
        if found.conflict is not None:
            assert is_shown(box, model, need, found.conflict), seed
        conflicts += found.conflict is not None
        bounds += len(found.bounds)
    assert conflicts > 1000
    assert bounds > 1000
