"""Seeds of a model that is given as arrays: its rows and columns in other orders."""

from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt.solvers import linear

OPTIMA = {"cover.lp": 4, "mixed.lp": Fraction(51, 8), "thirds.lp": Fraction(14, 3)}


@pytest.fixture
def tiny(root):
    return root / "instances/mip/tiny"


@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("name", OPTIMA)
def test_every_order_has_the_optimum_and_its_proof(name, backend, tiny):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    for seed in (1, 2):
        result = gadgetopt.solve(tiny / name, backend, seed=seed, certify="2")
        assert (result.status.value, result.objective) == ("optimal", OPTIMA[name])
        assert result.seed == seed
        assert result.bound_voucher.value == "verified"
        assert result.evaluation.feasible


def test_seed_0_keeps_the_order_and_others_change_it(tiny, monkeypatch):
    seen = []
    solve_form = linear.solve_form

    def spy(form, *args, **kwargs):
        seen.append([column.name for column in form.columns])
        return solve_form(form, *args, **kwargs)

    monkeypatch.setattr(linear, "solve_form", spy)
    orders = {}
    for seed in range(8):
        gadgetopt.solve(tiny / "mixed.lp", "highs", seed=seed)
        orders[seed] = tuple(seen[-1])
    gadgetopt.solve(tiny / "mixed.lp", "highs", seed=5)
    assert tuple(seen[-1]) == orders[5]
    assert orders[0] == gadgetopt.read(tiny / "mixed.lp").data.columns
    assert len(set(orders.values())) > 1
    assert len({tuple(sorted(order)) for order in orders.values()}) == 1


def test_a_comparison_runs_each_seed_and_takes_their_mean(tiny):
    table = gadgetopt.compare([tiny / "cover.lp"], ["model@highs"], seeds=3, workers=0)
    assert [entry.result.seed for entry in table] == [0, 1, 2]
    (row,) = table.summary().to_dict("records")
    assert (row["runs"], row["instances"], row["optimal"]) == (3, 1, 1)
