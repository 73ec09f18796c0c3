"""Mixed-integer rounding: every lemma holds at all points, and a cut closes what it should."""

from __future__ import annotations

import math
from itertools import count
from random import Random

import numpy as np

from gadgetopt.proofs.lemmas.gomory import Cuts
from gadgetopt.proofs.lemmas.mixed_rounding import MixedRounding
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.relaxation import Relaxation
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.tree_producer import TreeProof, tree_proof
from gadgetopt.solvers.highs import solve_form
from gadgetopt.system.result import Limits

from .. import small_models


def form_of(model):
    names = [f"x{j}" for j in range(len(model.integer))]
    return standard_form(NamedModel(model, names, [f"r{i}" for i in range(len(model.rows))], []))


def test_every_lemma_of_random_models_holds_and_is_proved():
    rng, made = Random(3), 0
    for _ in range(400):
        model = small_models.drawn(rng)
        x = Relaxation(form_of(model), lambda: 10.0).solve().x
        if x is None:
            continue
        rounding = MixedRounding(model, lambda: 10.0)
        for point in (x, x + np.array([rng.uniform(-0.4, 0.4) for _ in x])):
            for lemma in rounding.violated(point, model.rows):
                made += 1
                stated = model._replace(costs=lemma.form)
                checked = proved(stated, ["tree", *lemma.lines[1:]])
                assert checked is not None
                assert checked >= lemma.least
                least = small_models.least(stated)
                assert least is None or least >= lemma.least
    assert made > 50


def of_row(rounding, cuts, tableau, multipliers):
    return rounding.of_tableau(cuts, tableau, multipliers, cuts.along(multipliers))


def test_every_lemma_of_a_tableau_holds_and_is_proved():
    rng, made = Random(4), 0
    for _ in range(600):
        model = small_models.drawn(rng)
        lp = Relaxation(form_of(model), lambda: 10.0)
        x, rows = lp.solve().x, list(model.rows)
        rounding = MixedRounding(model, lambda: 10.0)
        while x is not None and len(rows) < len(model.rows) + 6:
            tableau, cuts = lp.tableau(), Cuts(model, rows)
            lemmas = [
                found[1]
                for k, j in enumerate(tableau.basic)
                if j >= 0 and model.integer[j] and abs(x[j] - round(x[j])) > 0.01
                if (cut := of_row(rounding, cuts, tableau, lp.inverse_row(k))) is not None
                if (found := cuts.proved(cut, x)) is not None
            ]
            for lemma in lemmas:
                made += 1
                stated = model._replace(costs=lemma.form, rows=rows)
                checked = proved(stated, ["tree", *lemma.lines[1:]])
                assert checked is not None
                assert checked >= lemma.least
                least = small_models.least(model._replace(costs=lemma.form))
                assert least is None or least >= lemma.least
                lp.add_row(lemma.row)
            if not lemmas:
                break
            rows += [lemma.row for lemma in lemmas]
            x = lp.solve().x
    assert made > 50


#: min 3 y0 + 3 y1 + x0 + x1 with x0 + x1 >= 7, x_k <= 10 y_k, binary y: 10; the relaxation has 9.1.
FLOW = Model(
    [True, True, False, False],
    [0, 0, 0, 0],
    [1, 1, None, None],
    [
        Row([2, 3], [1, 1], 7, None, 1),
        Row([0, 2], [-10, 1], None, 0, 1),
        Row([1, 3], [-10, 1], None, 0, 1),
    ],
    ([0, 1, 2, 3], [3, 3, 1, 1]),
    1,
    0,
    "min",
)


def test_a_flow_cut_closes_the_gap_of_a_fixed_charge():
    lp = Relaxation(form_of(FLOW), lambda: 10.0)
    solved = lp.solve()
    assert math.isclose(solved.objective, 9.1)
    lemmas = MixedRounding(FLOW, lambda: 10.0).violated(solved.x, FLOW.rows)
    for lemma in lemmas:
        lp.add_row(lemma.row)
    assert lp.solve().objective > 9.9


def closed_by_rounds(model, rounds, *, of_lemmas):
    """Return the relaxation's optimum after rounds of lemmas of the model, or of these as well."""
    lp, rounding, rows = (
        Relaxation(form_of(model), lambda: 10.0),
        MixedRounding(model, lambda: 10.0),
        [],
    )
    for _ in range(rounds):
        lemmas = rounding.violated(lp.solve().x, [*model.rows, *rows] if of_lemmas else model.rows)
        rows += [lemma.row for lemma in lemmas]
        for lemma in lemmas:
            lp.add_row(lemma.row)
    return lp.solve().objective


def test_a_row_of_binary_columns_gives_a_cover():
    # min -(5 a + 4 b + 3 c) with 5 a + 4 b + 4 c <= 8: two of them fit if a is none, so the optimum
    # is 7, a + b + c <= 2 less one where a is; the relaxation has 8.
    columns = ([0, 1, 2], [5, 4, 4])
    costs = ([0, 1, 2], [-5, -4, -3])
    model = Model([True] * 3, [0] * 3, [1] * 3, [Row(*columns, None, 8, 1)], costs, 1, 0, "min")
    assert math.isclose(Relaxation(form_of(model), lambda: 10.0).solve().objective, -8)
    assert closed_by_rounds(model, 3, of_lemmas=True) > -7.5


def lot_sizing(demands, capacity, setup, unit):
    """Return the model of periods that each may set up, produce, and keep what is left in stock."""
    n, total = len(demands), sum(demands)  # produced x_t, set up y_t, stock s_t after t
    rows = []
    for t, demand in enumerate(demands):
        before = ([2 * n + t - 1], [1]) if t else ([], [])
        rows.append(Row([t, 2 * n + t, *before[0]], [1, -1, *before[1]], demand, demand, 1))
        rows.append(Row([t, n + t], [1, -capacity], None, 0, 1))
    costs = list(range(3 * n)), [unit[t] for t in range(n)] + [setup] * n + [1] * n
    whole = [n <= j < 2 * n for j in range(3 * n)]
    highs = [total] * n + [1] * n + [total] * n
    return Model(whole, [0] * (3 * n), highs, rows, costs, 1, 0, "min")


def test_cuts_of_cuts_close_more_of_lot_sizing():
    model = lot_sizing([2, 5, 9, 9, 5, 7], 9, 13, [3, 3, 5, 4, 2, 5])
    alone = closed_by_rounds(model, 6, of_lemmas=False)
    assert closed_by_rounds(model, 6, of_lemmas=True) > alone + 2


def test_a_tree_of_a_model_without_bounds_has_them_proved_first():
    proof = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 10.0)
    if not proof.grow_plain():
        proof.grow()
    text = proof.text()
    assert text is not None
    assert text.lines[0].startswith("bound")
    assert proved(FLOW, text.lines) > 10 - 1e-6


def test_a_proof_says_what_cuts_closed():
    proof = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 10.0)
    assert proof.text().closed is None
    proof = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 10.0)
    proof.grow_cut(5.0)
    assert proof.text().closed >= 1.0


def test_where_time_is_short_the_tree_without_cuts_has_its_part_first():
    proof = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 0.1)
    assert not proof.grow_cut(0.05)
    assert proof.text().closed is None
    proof = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 0.1, by_turns=True)
    proof.grow_cut(0.05)
    assert proof.text().closed is not None


def test_where_others_wait_a_step_is_no_longer_than_asked():
    """A short search for a proof alone is one step: there is nobody to whom it is of use to end."""
    alone, waited_for = (
        TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 1.0, is_waited_for=waits)
        for waits in (False, True)
    )
    assert alone.grow_plain(0.0)
    assert not waited_for.grow_plain(0.0)
    short = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 0.1, is_waited_for=True)
    short.grow_cut(0.05)
    assert short.text().closed is not None


def test_a_tree_that_is_content_with_less_proves_that_and_says_how_much_is_done():
    tree = TreeProof(form_of(FLOW), FLOW, FLOW.least(10), lambda: 10.0)._plain
    asked = iter([True, False])
    assert not tree.run(lambda: next(asked))
    need, done = tree.need, tree.done
    assert 0 <= done < 1
    tree.lower(0.5)
    assert 9.1 < tree.need < need
    assert tree.run()
    assert tree.done == 1


def test_a_proof_is_the_same_however_fast_the_clock_is():
    model = lot_sizing([2, 5, 9, 9, 5, 7, 3, 8, 6, 4], 9, 13, [3, 3, 5, 4, 2, 5, 3, 4, 2, 6])
    form = form_of(model)
    best = solve_form(form, Limits(time_s=60.0)).objective
    assert best is not None

    def proof(tick_s):
        asked = count()
        return tree_proof(form, model, model.least(round(best)), lambda: 1e4 - next(asked) * tick_s)

    texts = [proof(tick_s) for tick_s in (0.0, 1e-3, 0.1)]
    assert model.bound(proved(model, texts[0].lines)) >= round(best) - 1e-6
    assert texts[0].lines == texts[1].lines == texts[2].lines
