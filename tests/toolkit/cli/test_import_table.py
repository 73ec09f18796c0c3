"""`import table`: an instance of a CSV file, for any system."""

import json
import re
import shlex

import pytest

import gadgetopt
from gadgetopt.api.table_files import import_table
from gadgetopt.system.registry import problem_names

CSV = """user,num_gpus,iterations,name
ann,2,10,"a, first"
bob,1,4,
"""
OPTIONS = ("--system", "sjf_bco", "--like", "instances/quickstart/sjf_bco.json")
SERVERS = ("--set", "server_gpus=[4,4,8]", "--set", "horizon_slots=60")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(CSV)
    return path


def test_rows_become_the_records_of_an_instance_that_is_solved(cli, table, tmp_path):
    out = tmp_path / "mine"
    code, said, _ = cli(
        "import", "table", table, *OPTIONS, "--map", "gpus=num_gpus", *SERVERS, "--out", out
    )
    assert code == 0
    lines = said.splitlines()
    assert lines[0] == "instance: jobs"
    assert lines[1] == "columns not used: user"
    assert lines[2] == "taken from: sjf_bco_quickstart"
    assert lines[3].startswith("taken fields: inter_bw_mb_per_slot, intra_bw_mb_per_slot, gpu")
    assert lines[-1] == str(out / "jobs.json")
    made = gadgetopt.read(out / "jobs.json")
    assert made.data.server_gpus == (4, 4, 8)
    assert [(j.gpus, j.iterations, j.name) for j in made.data.jobs] == [
        (2, 10, "a, first"), (1, 4, None),
    ]  # fmt: skip
    assert made.origin["files"][0]["name"] == "jobs.csv"
    assert made.origin["taken_from"] == "sjf_bco_quickstart"
    assert gadgetopt.solve(made, "first_fit").objective is not None
    in_python = gadgetopt.instance(
        "sjf_bco", like="quickstart", server_gpus=[4, 4, 8], horizon_slots=60,
        jobs=[{"gpus": 2, "iterations": 10, "name": "a, first"}, {"gpus": 1, "iterations": 4}],
    )  # fmt: skip
    assert made.fingerprint == in_python.fingerprint


def test_as_json_it_names_files_and_what_was_taken(cli, table, tmp_path):
    said = cli(
        "import", "table", table, *OPTIONS, "--map", "gpus=num_gpus", *SERVERS,
        "--out", tmp_path, "--json",
    )[1]  # fmt: skip
    told = json.loads(said)
    assert told["files"] == [str(tmp_path / "jobs.json")]
    assert told["report"][0]["columns_not_used"] == ["user"]


def test_a_list_of_values_is_read_from_its_column(cli, tmp_path):
    (tmp_path / "times.csv").write_text("job,seconds\na,3\nb,2\nc,2\n")
    assert cli(
        "import", "table", tmp_path / "times.csv", "--system", "parallel_machines",
        "--map", "processing_s=seconds", "--set", "machines=2", "--out", tmp_path,
    )[0] == 0  # fmt: skip
    assert gadgetopt.read(tmp_path / "times.json").data.processing_s == (3, 2, 2)


def test_lists_in_cells_and_exact_decimals_are_kept(cli, tmp_path):
    file = tmp_path / "items.csv"
    file.write_text('groups,profit,weights\n0,0.1,"[1,2]"\n0,3,"[2,2]"\n1,1/3,"[1,1]"\n')
    code = cli(
        "import", "table", file, "--system", "knapsack", "--set", "capacities=[3,3]",
        "--out", tmp_path,
    )[0]  # fmt: skip
    assert code == 0
    groups = gadgetopt.read(tmp_path / "items.json").data.groups
    assert [[str(item.profit) for item in group] for group in groups] == [["1/10", "3"], ["1/3"]]


def as_cell(value):
    if isinstance(value, list | dict):
        return json.dumps(value)
    return "" if value is None else value


@pytest.mark.parametrize("system", problem_names())
def test_every_list_of_every_system_is_read_from_its_own_csv_file(root, tmp_path, system):
    example = root / "instances" / "quickstart" / f"{system}.json"
    document = gadgetopt.read(example)
    for name, table in document.tables().items():
        if table.empty:  # a file has at least one row
            continue
        file = tmp_path / f"{name}.csv"
        table.map(as_cell).to_csv(file, index=False)
        made, report = import_table(file, gadgetopt.problem(system), name, like=example)
        assert made.fingerprint == document.fingerprint, name
        assert "columns_not_used" not in report


@pytest.mark.parametrize(
    ("content", "options", "line"),
    [
        (CSV, (), "jobs: columns: missing 'gpus'; expected gpus, iterations"),
        (CSV, (), "--map gpus=COLUMN names one of: user, num_gpus, iterations, name"),
        (CSV, ("--map", "gpus=cards"), "jobs.csv: no column 'cards' for gpus (it has: user"),
        (CSV, ("--map", "cards=num_gpus"), "--map: 'cards' is no field of jobs (they are: gpus"),
        (CSV, ("--map", "gpus"), "--map: 'gpus' is not of the form field=column"),
        (CSV, ("--list", "machines"), "--list: 'machines' is no list of sjf_bco (it has: server"),
        (CSV, ("--set", "server=[4]"), "no field 'server' (it has: server_gpus"),
        (CSV, ("--set", "jobs=[]"), "--set: jobs: is what the file holds"),
        ("gpus,iterations\n2,10\n0,4\n", (), "jobs.csv: line 3, column gpus: 0 is not a positive"),
        (
            "n,iterations\n2,10\n0,4\n",
            ("--map", "gpus=n"),
            "jobs.csv: line 3, column n: gpus: 0 is not a positive integer",
        ),
        ("gpus,iterations\n2,10\nx,4\n", (), 'line 3, column gpus: "x" is not an integer'),
        ("gpus,iterations\n2,10\n,4\n", (), "jobs.csv: line 3, column gpus: is empty, expected gp"),
        ("gpus,iterations\n2,10\n7\n", (), "jobs.csv: line 3: has 1 cells, expected 2"),
        ("gpus,iterations\n2,10\n99,4\n", (), "jobs.csv: line 3, column gpus: sjf_bco: jobs[1].g"),
        ("gpus,iterations\n", (), "jobs.csv: has 1 rows, expected a header and rows"),
        ("gpus,gpus,iterations\n1,1,1\n", (), "header: column 'gpus' occurs twice"),
        ('gpus,iterations\n"1,1\n', (), "jobs.csv: line 2: "),
    ],
)
def test_what_cannot_be_used_is_one_line_with_file_line_and_column(
    cli, table, tmp_path, content, options, line
):
    table.write_text(content)
    code, out, err = cli("import", "table", table, *OPTIONS, *options, "--out", tmp_path / "o")
    assert (code, out) == (2, "")
    assert line in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["table", "jobs.csv"], "--system: is missing; say which system the table is for"),
        (["table", "no.csv", "--system", "knapsack"], "no.csv: cannot be read"),
        (["table", "no.csv", "--system", "a_srpt"], "--list: is missing, the lists of a_srpt are"),
        (["table", "no.csv", "--system", "bgl_resources"], "bgl_resources have no list that a"),
        (["philly", "jobs.csv", "--map", "a=b"], "--map: is for `import table` only"),
        (["philly", "jobs.csv", "--like", "paper"], "--like: is for `import table` only"),
    ],
)
def test_options_that_are_missing_or_too_many_are_named(cli, arguments, line):
    code, _, err = cli("import", *arguments)
    assert code == 2
    assert line in err


def test_the_page_on_own_data_is_what_happens(cli, root, tmp_path, monkeypatch):
    page = (root / "docs" / "own_data.md").read_text(encoding="utf-8")
    content, command, said = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[:3]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(content)
    code, out, _ = cli(*shlex.split(command.replace("\\\n", " "))[1:])
    assert code == 0
    for line, shown in zip(out.splitlines(), said.splitlines(), strict=True):
        assert line.startswith(shown.removesuffix("..."))
    mine = gadgetopt.read(tmp_path / "mine" / "jobs.json")
    for method, objective in (("sjf_bco", 60), ("first_fit", 317), ("lpt_ils", 56)):
        assert gadgetopt.solve(mine, method).objective == objective
        assert re.search(rf"\b{method}\b.* {objective} ", page)
    assert len(page.encode()) <= 6_000


def test_servers_are_a_name_for_their_gpus_and_a_list_needs_its_brackets(cli, tmp_path):
    table = tmp_path / "jobs.csv"
    table.write_text("gpus,iterations\n4,900\n8,400\n")
    command = ("import", "table", table, "--system", "sjf_bco", "--like", "quickstart")
    code, _, err = cli(*command, "--set", "servers=4,4,8", "--out", tmp_path / "mine")
    said = "gadgetopt: --set: server_gpus=4,4,8: is a list, expected it as server_gpus=[4,4,8]\n"
    assert (code, err) == (2, said)
    given = ("--set", "servers=[4,4,8]", "--set", "horizon_slots=3000")
    code, _, err = cli(*command, *given, "--out", tmp_path / "mine")
    assert code == 0, err
    made = gadgetopt.read(tmp_path / "mine" / "jobs.json")
    assert made.data.server_gpus == (4, 4, 8)
