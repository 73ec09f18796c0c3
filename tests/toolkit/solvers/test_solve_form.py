"""Compiled models that no Pyomo model stands behind, as of files, are solved alike."""

from fractions import Fraction

import pytest

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.named_form import form_of
from gadgetopt.solvers import import_backend
from gadgetopt.solvers.formulations.backends import installed
from gadgetopt.solvers.linear import solve_form
from gadgetopt.system.result import Limits, Status

BACKENDS = [name for name in ("highs", "scip") if installed(name)]
#: Cost 2 x + 3 k with x + k >= 9/2, k an integer: 9 at k = 0.
COVER = Model(
    [False, True], [0, 0], [10, 10], [Row([0, 1], [2, 2], 9, None, 2)], ([0, 1], [2, 3]), 1, 0,
    "min",
)  # fmt: skip


def solved(model, backend):
    import_backend(backend)
    form = form_of(model, ["x", "k"], [f"r{i}" for i in range(len(model.rows))])
    return solve_form(form, backend, Limits(time_s=60), 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_optimum_of_a_mixed_model_is_one_exact_number(backend):
    outcome = solved(COVER, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 9)
    assert outcome.exact_values == [Fraction(9, 2), 0]
    assert outcome.form is not None
    assert set(outcome.phases_s) == {"pass", "solve"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("low", "high"), [(None, None), (0, None), (-1, 2), (None, 0)])
def test_a_row_without_columns_that_holds_changes_nothing(backend, low, high):
    model = COVER._replace(rows=[Row([], [], low, high, 1), *COVER.rows])
    outcome = solved(model, backend)
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, 9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sides_that_nothing_satisfies_make_a_model_infeasible(backend):
    empty = COVER._replace(rows=[*COVER.rows, Row([], [], 1, None, 1)])
    crossed = COVER._replace(lower=[11, 0])
    for model, word in ((empty, "r1: has no terms"), (crossed, "x: no number is at least 11")):
        outcome = solved(model, backend)
        assert outcome.status is Status.INFEASIBLE
        assert outcome.reason.startswith(word)
