"""`generate` and `import` take parameters as options, too."""

import json

import pytest

from gadgetopt.cli.options import as_settings

KNOWN = {"--set", "--system", "--seed", "--out", "--json", "-v"}


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ("x --seq 4096", "x --set seq=4096"),
        ("--tensor-parallel=4 x", "--set tensor_parallel=4 x"),
        ("x --low -5", "x --set low=-5"),
        ("x --out there --json", "x --out there --json"),
        ("x --causal", "x --causal"),
        ("x --causal --json", "x --causal --json"),
        ("x --sytem spp", "x --sytem spp"),
        ("x -- --seq 4096", "x -- --seq 4096"),
        ("x --seq= --set a=--b", "x --set seq= --set a=--b"),
    ],
)
def test_unknown_options_with_a_value_are_settings(arguments, settings):
    assert as_settings(arguments.split(), KNOWN) == settings.split()


def test_both_spellings_make_the_same_instance(cli, tmp_path):
    assert cli("generate", "knapsack", "--items", "5", "--out", tmp_path / "a")[0] == 0
    assert cli("generate", "knapsack", "--set", "items=5", "--out", tmp_path / "b")[0] == 0
    first, second = (next((tmp_path / folder).iterdir()) for folder in "ab")
    assert first.read_text() == second.read_text()
    assert json.loads(first.read_text())["origin"]["parameters"]["items"] == 5


def test_a_parameter_that_is_not_there_is_named_with_those_that_are(cli, tmp_path):
    code, _, err = cli("generate", "sjf_bco", "--items", "5", "--out", tmp_path)
    assert code == 2
    assert err == "gadgetopt: --preset quickstart: --set: no parameter 'items' (it has: jobs)\n"
