"""`export INSTANCE SOLUTION --format F`, and `verify --format F`."""

import json

import pytest

import gadgetopt
from gadgetopt import Document

INSTANCE = "instances/pipeline_schedules/tiny/two_devices.json"


@pytest.fixture
def solution(tmp_path):
    path = tmp_path / "solution.json"
    instance = gadgetopt.read(INSTANCE)
    found = gadgetopt.solve(instance, "zb_h1").solution
    gadgetopt.write(Document(instance.problem, "solution", instance.name, found), path)
    return path


def test_a_schedule_is_written_and_judged_again(cli, in_this_process, solution, tmp_path):
    out = tmp_path / "s.csv"
    code, said, _ = cli("export", INSTANCE, solution, "--format", "torch-csv", "--out", out)
    assert code == 0
    first, without, file = said.splitlines()
    assert first == f"objective {first.split()[1][:-1]}, as written {first.split()[1][:-1]}"
    assert without.startswith("without the order of transfers")
    assert file == str(out)
    code, said, _ = cli("verify", INSTANCE, out, "--format", "torch-csv", "--json")
    assert code == 0
    told = json.loads(cli("verify", INSTANCE, solution, "--json")[1])
    assert json.loads(said) == told
    done = gadgetopt.export(INSTANCE, solution, tmp_path / "again.csv", format="torch-csv")
    assert done.paths[0].read_text() == out.read_text()
    assert done.objective == done.kept == told["objective"]


def test_json_names_files_and_both_objectives(cli, solution, tmp_path):
    asked = ("--format", "torch-csv", "--out", tmp_path / "s.csv", "--json")
    row = json.loads(cli("export", INSTANCE, solution, *asked)[1])
    assert row["files"] == [str(tmp_path / "s.csv")]
    assert row["objective"] == row["objective_as_written"]
    assert row["without"].startswith("the order of transfers")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("SOLUTION", "--format", "msword"), "--format: 'msword', expected a format of solutions"),
        (("--format", "torch-csv"), "SOLUTION: is missing, expected the file of one"),
        (("--format", "x"), "--format: 'x', expected one of mps, lp, nl, cpsat, exact; of a"),
        (("SOLUTION", "--format", "torch-csv", "--formulation", "x"), "--formulation: cannot be"),
        (("SOLUTION", "--format", "torch-csv", "--set", "a=1"), "export torch-csv: "),
        (("SOLUTION", "--format", "torch-csv", "--out", INSTANCE), "is the file that is read"),
        (("--format", "mps", "--set", "a=1"), "--set: is for the export of a solution"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(cli, solution, arguments, said):
    given = [solution if a == "SOLUTION" else a for a in arguments]
    code, _, err = cli("export", INSTANCE, *given)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_format_of_an_object_in_python_is_refused(solution):
    with pytest.raises(gadgetopt.InputError, match="format: 'torch-csv' is of files, expected"):
        gadgetopt.verify(INSTANCE, gadgetopt.read(solution), format="torch-csv")
    with pytest.raises(gadgetopt.InputError, match="format: is missing, expected one of"):
        gadgetopt.export(INSTANCE, gadgetopt.read(solution))
