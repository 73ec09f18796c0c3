"""The table of an instance's formulations, in Python and on the command line."""

import json
import math

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.reporting.formulations import MODEL_KEYS, SOLVE_KEYS

INSTANCE = "instances/quickstart/sjf_bco.json"


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    from gadgetopt.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_lp_bounds_of_the_quickstart_tell_formulations_apart():
    """The optimum is 9; big-M, hull and time-indexed models are strictly ordered by LP bound."""
    table = gadgetopt.formulations(INSTANCE).set_index("formulation")
    assert list(table.columns) == [*MODEL_KEYS[1:], "note"]
    bounds = table["lp_bound"]
    assert bounds["gdp_bigm"] == pytest.approx(0.3635, abs=1e-3)
    assert bounds["gdp_hull"] == pytest.approx(1.4256, abs=1e-3)
    assert bounds["time_indexed"] == pytest.approx(6)
    assert table.loc["gdp_bigm", "rows"] == 4240
    assert table.loc["load_limit", "strength"] == "relaxation"


def test_a_model_that_is_not_linear_says_so_and_has_no_lp_bound():
    row = gadgetopt.formulations(INSTANCE, ["nonconvex"]).iloc[0]
    assert row["nonlinear_rows"] > 0
    assert math.isnan(row["lp_bound"])
    assert "not linear" in row["note"]


def test_a_refused_model_keeps_its_row_with_the_reason():
    row = gadgetopt.formulations(INSTANCE, ["schedule_selection"]).iloc[0]
    assert "enumeration is for tiny instances" in row["note"]
    assert row.isna()["rows"]


def test_solving_gives_a_row_for_every_backend():
    table = gadgetopt.formulations("instances/quickstart/knapsack.json", solve=True)
    assert list(table.columns) == [*MODEL_KEYS, *SOLVE_KEYS, "note"]
    pairs = list(zip(table["formulation"], table["backend"], strict=True))
    assert pairs == [("direct", "highs"), ("direct", "cpsat"), ("lp_relaxation", "highs")]
    highs, cpsat, _ = (row for _, row in table.iterrows())
    assert highs["objective"] == cpsat["objective"] == 8222
    assert highs["nodes"] >= 1
    assert 8222 <= highs["root_bound"] <= highs["lp_bound"] + 1e-6
    assert table["root_bound"].isna()[1]
    assert cpsat["branches"] > 0


def test_command_prints_the_same_rows_as_json(capsys):
    code, out, _ = run(
        capsys, "formulations", "instances/quickstart/knapsack.json", "--solve", "--json"
    )
    assert code == 0
    rows = json.loads(out)
    assert [row["backend"] for row in rows] == ["highs", "cpsat", "highs"]
    assert set(rows[0]) == {*MODEL_KEYS, *SOLVE_KEYS, "note"}


def test_command_prints_a_table(capsys):
    code, out, _ = run(
        capsys, "formulations", INSTANCE, "--formulation", "nonconvex",
        "--formulation", "load_limit",
    )  # fmt: skip
    assert code == 0
    assert "minimise makespan (slots)" in out
    assert "not linear" in out
    assert "5.33333" in out
    assert "relaxation" in out


def test_command_goes_on_after_a_model_that_takes_too_long(capsys, monkeypatch):
    from gadgetopt.search import alarm

    monkeypatch.setattr(alarm, "default_grace_s", lambda _: 0.0)
    code, out, _ = run(
        capsys, "formulations", INSTANCE, "--formulation", "gdp_hull", "--time-limit", "0.01",
        "--json",
    )  # fmt: skip
    assert code == 0
    (row,) = json.loads(out)
    assert row["formulation"] == "gdp_hull"
    assert row["note"] == "took more than 0.01 s"


def test_unknown_formulation_is_one_line(capsys):
    code, _, err = run(capsys, "formulations", INSTANCE, "--formulation", "nope")
    assert code == 2
    assert err.startswith("gadgetopt: formulation 'nope': sjf_bco has no such formulation")
    assert err.count("\n") == 1
    with pytest.raises(InputError, match="no such formulation"):
        gadgetopt.formulations(INSTANCE, ["nope"])


def test_a_system_without_pyomo_models_says_so():
    with pytest.raises(InputError, match="adsp_training has no formulation"):
        gadgetopt.formulations("instances/quickstart/adsp_training.json")
