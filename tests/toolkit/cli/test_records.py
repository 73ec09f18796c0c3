"""`records`: best known results on the command line."""

import json

import jsonschema
import pytest

from gadgetopt import records


@pytest.fixture(scope="module")
def known(root):
    """An installed entry, and the file of its instance."""
    entry = records.read_entry(records.shelf() / "sjf_bco" / "e2_contention_pays.json")
    return entry, root / "instances" / entry.record.instance.file


def test_list_has_a_line_an_entry(cli):
    code, out, _ = cli("records", "list", "sjf_bco")
    assert code == 0
    lines = out.splitlines()
    assert lines[-1].startswith(f"{len(lines) - 1} entries, ")
    assert any(line.startswith("sjf_bco/e2_contention_pays  closed  ") for line in lines)


def test_list_of_open_entries_as_json(cli):
    code, out, _ = cli("records", "list", "--status", "open", "--json")
    rows = json.loads(out)
    assert code == 0
    assert {row["status"] for row in rows} == {"open"}


def test_show_says_who_claims_what(cli, known):
    code, out, _ = cli("records", "show", known[0].label)
    assert code == 0
    assert "sjf_bco/e2_contention_pays: closed" in out
    assert "claimed by the gadgetopt developers" in out


def test_show_writes_what_verify_reads(cli, known, tmp_path, in_this_process):
    names = ("instance", "solution", "certificate")
    paths = [tmp_path / f"{name}.json" for name in names]
    options = [x for pair in zip((f"--{n}" for n in names), paths, strict=True) for x in pair]
    assert cli("records", "show", known[0].label, *options)[0] == 0
    code, out, _ = cli("verify", paths[0], paths[1], "--bound", paths[2])
    assert code == 0
    assert "feasible" in out


def test_check_says_in_a_line_what_is_wrong(cli, known, tmp_path):
    folder = tmp_path / "sjf_bco"
    folder.mkdir()
    text = known[0].path.read_text()
    (folder / known[0].path.name).write_text(text.replace('"sense": "min"', '"sense": "max"'))
    code, out, _ = cli("records", "check", folder, "--workers", "1")
    assert code == 1
    path = folder / known[0].path.name
    assert out.splitlines() == [
        f"{path}: sense: 'max', expected 'min'",
        "1 entries checked, 1 refused, 0 closed",
    ]


def test_check_of_an_honest_entry(cli, known):
    code, out, _ = cli("records", "check", known[0].label, "--workers", "1")
    assert (code, out) == (0, "1 entries checked, 0 refused, 1 closed\n")


def test_best_knows_an_instance_whatever_it_is_called(cli, known, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(known[1].read_text())
    code, out, _ = cli("records", "best", file)
    assert code == 0
    assert out.startswith("sjf_bco/e2_contention_pays: closed")


def test_best_of_an_unknown_instance(cli, tmp_path):
    cli("generate", "parallel_machines", "--seed", "987", "--out", tmp_path)
    (file,) = tmp_path.glob("*.json")
    code, out, _ = cli("records", "best", file)
    assert (code, out) == (1, f"{file}: has no entry in the records\n")


def test_table_puts_open_entries_first(cli):
    code, out, _ = cli("records", "table", "knapsack")
    gaps = [line.split("|")[5].strip() for line in out.splitlines() if "_paper_" in line]
    assert code == 0
    assert gaps == sorted(gaps, key=lambda gap: gap == "closed")


def test_the_schema_fits_every_entry(cli):
    code, out, _ = cli("schema", "record")
    assert code == 0
    validator = jsonschema.Draft202012Validator(json.loads(out))
    for path in records.find_entries()[1]:
        validator.validate(json.loads(path.read_text()))


def test_a_comparison_has_the_ratios_to_the_records(cli, known, tmp_path):
    asked = ("compare", known[1], "-m", "first_fit", "--workers", "0", "--json", "--store")
    (alone,) = json.loads(cli(*asked, tmp_path / "a.sqlite")[1])
    (beside,) = json.loads(cli(*asked, tmp_path / "b.sqlite", "--records")[1])
    assert alone["ratio_low"] is None or alone["ratio_high"] != alone["ratio_low"]
    best = int(known[0].record.best_objective)
    assert beside["ratio_low"] == beside["ratio_high"] == beside["objective"] / best


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show", "nothing"], "nothing: no entry of the records, nor a folder of some"),
        (["show", "sjf_bco"], "sjf_bco: fits "),
        (["list", "--status", "done"], "--status: 'done', expected one of open, closed, "),
        (["check", "--folder", "nowhere"], "nowhere: no such folder of records"),
        (["submit", "nothing.json"], "nothing.json: no such file"),
        (["best", "nothing.json"], "nothing.json: "),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(cli, arguments, line):
    code, _, err = cli("records", *arguments)
    assert code == 2
    assert err.startswith(f"gadgetopt: {line}")
