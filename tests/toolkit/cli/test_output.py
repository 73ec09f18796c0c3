"""Output of the command line: help, lists and wording; and output that cannot be written."""

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest
from toy import DOCUMENT

from gadgetopt.reporting.tables import render
from gadgetopt.reporting.words import in_words, lines_of, quantity
from gadgetopt.system.files import read
from gadgetopt.system.registry import problem_names, problems
from gadgetopt.trust.run import solve as run_method

pytestmark = pytest.mark.usefixtures("in_this_process")


def gadgetopt(arguments, **more):
    command = [sys.executable, "-m", "gadgetopt", *map(str, arguments)]
    return subprocess.run(command, text=True, check=False, stderr=subprocess.PIPE, **more)


@pytest.fixture
def store(tiny, tmp_path, cli):
    path = tmp_path / "runs.sqlite"
    arguments = ("--methods", "first_fit,energetic", "--workers", "0", "--store", path)
    assert cli("compare", tiny / "e1_co_locate.json", *arguments)[0] == 0
    return path


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("form", ["table", "csv", "json", "theorems"])
def test_ratios_to_a_full_disk_are_one_line(store, form):
    chosen = ["--theorems"] if form == "theorems" else ["--format", form]
    with open("/dev/full", "w") as full:
        done = gadgetopt(["ratios", store, *chosen], stdout=full)
    assert done.returncode == 2
    assert done.stderr == "gadgetopt: output: cannot be written: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["list"], ["list", "smd", "--json"], ["schema", "smd"], ["show", "knapsack"], []]
)
def test_any_output_to_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        done = gadgetopt(arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "gadgetopt: output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("end", [">&-", "2>&-", "2>/dev/full", "| true"])
def test_output_without_a_reader_is_no_traceback(store, end):
    command = f"{sys.executable} -m gadgetopt ratios {store} {end}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_mistake_keeps_its_exit_code_when_nobody_reads_its_line(tmp_path):
    command = f"{sys.executable} -m gadgetopt solve {tmp_path}/none.json 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 2


def test_list_is_a_line_a_system_and_a_hint(cli):
    lines = cli("list")[1].splitlines()
    assert [line.split()[0] for line in lines[:-2]] == problem_names()
    assert "list SYSTEM" in lines[-1]


def test_list_of_a_system_has_choices_help_and_whom_a_theorem_speaks_of(cli):
    out = cli("list", "knapsack", "--all")[1]
    assert "core_solver=auto (auto or enumeration or mip)" in out
    assert "problems: numbers from 0 or names with *" in out
    sjf_bco = cli("list", "sjf_bco", "--all")[1]
    assert "minimise makespan (slots)" in sjf_bco
    for name in problem_names():
        theorems = cli("list", name, "--all")[1].partition("  guarantees\n")[2]
        theorems = re.split(r"\n  (?=\S)", theorems)[0]
        entries = re.split(r"\n    (?=\S)", theorems)
        assert len(entries) == len(set(entries))  # none word for word what another says


def test_list_shows_all_choices_of_all_methods(cli):
    for system in problems():
        out = cli("list", system.name, "--all")[1]
        for method in system.methods:
            for values in method.choices.values():
                assert f"({' or '.join(values)})" in out


def test_solve_prints_notes_in_words(cli, tiny):
    out = cli("solve", tiny / "e2_contention_pays.json", "--method", "ladder")[1]
    assert re.search(r"^rungs +rung heuristics, lower 0, upper \d+$", out, re.MULTILINE)
    assert re.search(r"^makespan \(slots\) +3$", out, re.MULTILINE)
    assert not re.search(r"[{}\[\]']", out)


@pytest.mark.parametrize("name", problem_names())
def test_no_default_method_prints_marks_of_a_programming_language(name, cli, root):
    out = cli("solve", root / f"instances/quickstart/{name}.json", "--time-limit", 10)[1]
    assert not re.search(r"[{}\[\]']|None|True|False", out)


def test_values_in_words():
    assert in_words({"a_b": 1, "c": None}) == "a b 1, c none"
    assert in_words([1.0, 0.1 + 0.2]) == "1, 0.3"
    assert in_words([[1, 2], [3]]) == "1, 2; 3"
    assert in_words((True, "x")) == "yes, x"
    assert in_words({}) == in_words([]) == "none"
    assert lines_of([{"a": 1}, {"a": 2}]) == ["a 1", "a 2"]
    assert quantity("rate_gbyte_per_s") == "rate (GB/s)"
    assert quantity("total_utility") == "total utility"


def test_a_relaxation_with_its_bound_is_bound_only_everywhere(cli, tiny, tmp_path):
    instance = tiny / "e1_co_locate.json"
    solved = cli("solve", instance, "--method", "combinatorial")[1]
    assert re.search(r"^status +bound only$", solved, re.MULTILINE)
    row = json.loads(cli("solve", instance, "--method", "combinatorial", "--json")[1])
    assert row["status"] == "no_solution"  # what programs read is as it was
    arguments = ("--methods", "combinatorial", "--workers", "0", "--store", tmp_path / "s.sqlite")
    assert "bound only" in cli("compare", instance, *arguments)[1]


def test_a_result_says_its_state_in_words():
    states = {
        name: run_method(DOCUMENT, name).state
        for name in ("bound_only", "nothing", "best", "says_infeasible")
    }
    assert states == {
        "bound_only": "bound only",
        "nothing": "no solution",
        "best": "feasible",
        "says_infeasible": "infeasible",
    }


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [("gadgetopt so", 1, ["solve"]), ("gadgetopt list s", 2, ["sjf_bco", "smd", "spp"])],
)
def test_the_shell_completes_commands_and_systems(words, position, expected):
    environment = {
        "_GADGETOPT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(position),
    }
    done = gadgetopt([], stdout=subprocess.PIPE, env={**os.environ, **environment})
    assert [word for word in done.stdout.split() if word in problem_names()] == [
        word for word in expected if word in problem_names()
    ]
    assert set(expected) <= set(done.stdout.split())


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_enumeration_of_too_many_schedules_is_refused(backend, root):
    instance = read(root / "instances/quickstart/sjf_bco.json")
    made = run_method(instance, f"schedule_selection@{backend}")
    assert made.refused
    assert "expected at most" in made.reason


@pytest.mark.slow
def test_methods_of_a_kind_that_refuse_an_instance_are_left_out(cli, root, tmp_path):
    arguments = ("--methods", "exact", "--time-limit", "1", "--store", tmp_path / "runs.sqlite")
    code, out, _ = cli("compare", root / "instances/quickstart/sjf_bco.json", *arguments)
    assert code == 0
    shown, _, note = out.partition("left out where they do not apply: ")
    assert "ladder" in shown
    assert "schedule_selection" not in shown
    assert "schedule_selection" in note
    assert "error" not in out


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx")


def test_a_csv_holds_no_formulas_and_numbers_stay_numbers():
    rows = [
        {"instance": name, "objective": -2.5, "seed": -1} for name in (*FORMULAS, "a=b", "x\r=1")
    ]
    text = render(rows, "csv", None, ("instance", "objective", "seed"))
    read_back = list(csv.reader(io.StringIO(text, newline="")))[1:]
    shown = [f"'{name}".replace("\r", "\n") for name in FORMULAS]
    assert [row[0] for row in read_back] == [*shown, "a=b", "x\n=1"]
    assert {tuple(row[1:]) for row in read_back} == {("-2.5", "-1")}
    assert json.loads(render(rows, "json", None))[0]["instance"] == "=1+1"


def test_a_csv_of_a_store_holds_no_formulas(cli, tiny, tmp_path):
    envelope = json.loads((tiny / "e1_co_locate.json").read_text())
    envelope["name"] = '=HYPERLINK("http://evil","x")'
    (tmp_path / "in.json").write_text(json.dumps(envelope))
    store = tmp_path / "runs.sqlite"
    cli("compare", tmp_path / "in.json", "--methods", "sjf_bco", "--store", store, "--workers", 0)
    for more in ((), ("--theorems",), ("--features",)):
        rows = list(csv.DictReader(io.StringIO(cli("ratios", store, "--format", "csv", *more)[1])))
        assert {row["instance"] for row in rows} == {"'" + envelope["name"]}
