"""A broken file among many is one error row, and the others are solved."""

import json
import shutil

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.runs.progress import MOST_UNREADABLE


@pytest.fixture
def folder(tiny, tmp_path):
    """Two good instances, one cut off and one with a wrong value, beside a file of others."""
    made = tmp_path / "many"
    made.mkdir()
    for name in ("e1_co_locate", "e2_contention_pays"):
        shutil.copy(tiny / f"{name}.json", made)
    text = (tiny / "e1_co_locate.json").read_text()
    (made / "cut.json").write_text(text[: len(text) // 2])
    plain = json.loads(text)
    plain["data"]["horizon_slots"] = -1
    (made / "wrong.json").write_text(json.dumps(plain))
    (made / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    return made


def compared(cli, tmp_path, *paths):
    options = ("--methods", "first_fit", "--workers", "0", "--store", tmp_path / "runs.sqlite")
    return cli("compare", *paths, *options, "--json")


def test_a_broken_file_among_others_is_an_error_row(folder, tmp_path, cli, caplog):
    code, out, err = compared(cli, tmp_path, folder)
    assert code == 1
    rows = {row["instance"]: row["status"] for row in json.loads(out)}
    broken = {str(folder / "cut.json"): "error", str(folder / "wrong.json"): "error"}
    assert rows == {"e1_co_locate": "feasible", "e2_contention_pays": "feasible", **broken}
    assert err.splitlines()[-1] == "gadgetopt: 2 files cannot be used; the others are done"
    skipped, cut, wrong = caplog.messages
    assert skipped == f"{folder}: skipped, not gadgetopt files: package.json"
    assert cut.startswith(f"cannot be used: {folder}/cut.json: not JSON: ")
    assert wrong.startswith(f"cannot be used: {folder}/wrong.json: data.horizon_slots: -1 ")


def test_the_table_names_them_and_a_dry_run_counts_the_others(folder, tmp_path, cli):
    options = ("--methods", "first_fit", "--store", tmp_path / "runs.sqlite")
    code, out, _ = cli("compare", folder, *options, "--dry-run")
    assert code == 0
    assert out.startswith("2 runs of 2 instances: ")
    assert f"cannot be used: {folder}/cut.json: not JSON" in out
    code, out, _ = cli("compare", folder, *options, "--workers", "0")
    assert code == 1
    assert "cannot be used: " in out


def test_a_file_alone_is_refused(folder, tmp_path, cli):
    for name in ("cut", "wrong", "package"):
        code, out, err = compared(cli, tmp_path, folder / f"{name}.json")
        assert (code, out) == (2, "")
        assert err.startswith(f"gadgetopt: {folder}/{name}.json: ")
    with pytest.raises(InputError):
        gadgetopt.compare(folder / "cut.json", "first_fit", workers=0)


def test_python_has_them_too(folder):
    table = gadgetopt.compare(folder, "first_fit", workers=0)
    assert [entry.result.status.value for entry in table] == ["feasible"] * 2
    assert [file.path.name for file in table.unreadable] == ["cut.json", "wrong.json"]


def test_of_many_broken_files_the_first_are_named(folder, caplog):
    for k in range(3 * MOST_UNREADABLE):
        (folder / f"z{k:03d}.json").write_text('{"gadgetopt": 1')
    table = gadgetopt.compare(folder, "first_fit", workers=0)
    assert (len(table), len(table.unreadable)) == (2, 3 * MOST_UNREADABLE + 2)
    assert len(caplog.messages) == MOST_UNREADABLE + 2
    assert caplog.messages[-1] == f"cannot be used: {2 * MOST_UNREADABLE + 2} more files"
