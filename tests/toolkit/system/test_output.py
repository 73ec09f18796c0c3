"""Files are written whole or not at all, and never replace other files by accident."""

import json
import os
import resource
import subprocess
import sys

import pytest
from toy import TOY, Knapsack

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Generator
from gadgetopt.system.files import read, read_instance
from gadgetopt.system.generation import Draw, generate
from gadgetopt.system.output import whole_file, write_text

pytestmark = pytest.mark.usefixtures("in_this_process")


def test_a_failed_write_leaves_what_was_there_and_nothing_beside_it(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")

    def half_way():
        with whole_file(path) as part:
            part.write_text("new")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half_way()
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, root):
    """A limit on the size of files fails a write in its middle, as a full disk does.

    Nothing is compiled meanwhile: Python keeps a compiled file that was cut off, and later fails to
    read it.
    """

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    instance = root / "instances/quickstart/sjf_bco.json"
    export = ("--formulation", "time_indexed", "--format", "mps", "--out", tmp_path / "m.mps")
    for arguments in (
        ("generate", "sjf_bco", "--preset", "paper", "--out", tmp_path),
        ("export", instance, *export),
    ):
        done = subprocess.run(
            [sys.executable, "-B", "-m", "gadgetopt", *map(str, arguments)],
            preexec_fn=small_files,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "cannot be written: File too large" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    write_text(tmp_path / "folder" / "file", "one")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    write_text(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "two"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_folder_in_the_place_of_the_file_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot be written: Is a directory"):
        write_text(tmp_path, "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["lp", "mps", "nl", "cpsat"])
def test_an_export_says_its_file_and_nothing_else(tiny, tmp_path, form):
    path = tmp_path / f"model.{form}"
    done = subprocess.run(
        [sys.executable, "-m", "gadgetopt", "export", tiny / "e1_co_locate.json",
         "--formulation", "time_indexed", "--format", form, "--out", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
    beside = {"model.col", "model.row"} if form == "nl" else set()
    assert {p.name for p in tmp_path.iterdir()} == {path.name} | beside


@pytest.mark.parametrize("form", ["lp", "mps", "cpsat"])
def test_a_refused_export_leaves_no_file(cli, root, tmp_path, form):
    instance = root / "instances/quickstart/smd.json"
    arguments = ("--formulation", "minlp", "--format", form, "--out", tmp_path / "m" / "model")
    code, out, err = cli("export", instance, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_generate_never_replaces_another_instance_unless_told_to(cli, tmp_path):
    path = tmp_path / "sjf_bco_quickstart_s0_0.json"
    assert cli("generate", "pd_ors", "--out", tmp_path)[0] == 0
    (tmp_path / "pd_ors_quickstart_s0_0.json").rename(path)
    other = path.read_text()
    code, out, err = cli("generate", "sjf_bco", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"gadgetopt: {path}: already exists with other content; --force replaces it\n"
    assert path.read_text() == other
    assert cli("generate", "sjf_bco", "--out", tmp_path, "--force")[0] == 0
    assert read_instance(path).problem.name == "sjf_bco"
    assert cli("generate", "sjf_bco", "--out", tmp_path)[0] == 0  # the same once more
    path.write_text("a note")
    assert cli("generate", "sjf_bco", "--out", tmp_path)[0] == 2
    assert path.read_text() == "a note"


def test_two_systems_are_generated_into_one_folder(cli, tmp_path):
    for system in ("knapsack", "parallel_machines"):
        assert cli("generate", system, "--out", tmp_path)[0] == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "knapsack_quickstart_s0_0.json",
        "parallel_machines_quickstart_s0_0.json",
    ]


def test_generated_names_say_system_options_seed_and_index(cli, tmp_path):
    arguments = ("generate", "sjf_bco", "--count", 2, "--seed", 4, "--out", tmp_path)
    assert cli(*arguments)[0] == 0
    assert cli(*arguments, "--set", "jobs=3")[0] == 0
    assert sorted(p.stem for p in tmp_path.iterdir()) == [
        "sjf_bco_quickstart_s4_0",
        "sjf_bco_quickstart_s4_1",
        "sjf_bco_quickstart_s4_jobs=3_0",
        "sjf_bco_quickstart_s4_jobs=3_1",
    ]


LOG = "arrival_s,class\n" + "".join(f"{600 * k},sensitive\n" for k in range(20))


def test_an_import_with_another_seed_is_another_file(cli, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    arguments = ("import", "arrivals-csv", tmp_path / "log.csv", "--set", "jobs=4")
    for seed in (0, 1):
        assert cli(*arguments, "--seed", seed, "--out", tmp_path / "out")[0] == 0
    made = sorted((tmp_path / "out").iterdir())
    assert [p.stem for p in made] == ["log_4x100_s0_0", "log_4x100_s1_0"]
    assert len({read_instance(p).fingerprint for p in made}) == 2


def test_an_import_with_other_options_replaces_nothing(cli, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    arguments = ("import", "arrivals-csv", tmp_path / "log.csv", "--out", tmp_path / "out")
    assert cli(*arguments, "--set", "jobs=4")[0] == 0
    (path,) = (tmp_path / "out").iterdir()
    before = path.read_bytes()
    code, _, err = cli(*arguments, "--set", "jobs=4", "--set", "work_scale=0.5")
    assert code == 2
    assert "already exists with other content; --force replaces it" in err
    assert path.read_bytes() == before
    again = (*arguments, "--set", "jobs=4", "--set", "work_scale=0.5", "--force")
    assert cli(*again)[0] == 0
    assert path.read_bytes() != before


def test_the_origin_of_a_file_is_what_its_generator_was_called_with():
    """A declaration may differ from its function's defaults; the file then says the former."""

    def draw(rng, *, items=2):
        return Knapsack(capacity=3, weight=(1,) * items, value=(1,) * items)

    made = generate(
        TOY,
        Generator("preset", summary="-", generate=draw, parameters={"items": 5}),
        Draw("name", {}, 0, 0),
        "here",
    )
    assert made.origin["parameters"] == {"items": 5}
    assert len(made.data.weight) == 5


def test_an_export_by_name_stays_in_the_folder(cli, tiny, tmp_path, monkeypatch):
    envelope = json.loads((tiny / "e1_co_locate.json").read_text())
    envelope["name"] = "../up/x"
    (tmp_path / "in.json").write_text(json.dumps(envelope))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    arguments = ("--formulation", "time_indexed", "--format", "mps")
    code, out, _ = cli("export", tmp_path / "in.json", *arguments)
    assert (code, out) == (0, ".._up_x.time_indexed.mps\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "in.json"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "IN", "--method", "first_fit", "--out", "IN"),
        ("solve", "IN", "--method", "first_fit", "--certificate", "LINK"),
        ("solve", "IN", "--method", "first_fit", "--plot", "IN"),
        ("export", "IN", "--formulation", "time_indexed", "--format", "mps", "--out", "IN"),
        ("ratios", "IN", "--format", "csv", "--out", "IN"),
        ("plot", "IN", "IN", "--out", "IN"),
    ],
)
def test_no_command_writes_over_what_it_reads(arguments, cli, tiny, tmp_path):
    path, link = tmp_path / "in.json", tmp_path / "link.json"
    path.write_text((tiny / "e1_co_locate.json").read_text())
    link.symlink_to(path)
    before = path.read_bytes()
    given = [{"IN": path, "LINK": link}.get(a, a) for a in arguments]
    code, out, err = cli(*given)
    assert (code, out) == (2, "")
    assert err.endswith("is the file that is read, expected another file to write to\n")
    assert path.read_bytes() == before


def test_a_solution_and_a_picture_are_not_written_over_one_another(cli, tiny, tmp_path):
    same = tmp_path / "same.json"
    code, _, err = cli("solve", tiny / "e1_co_locate.json", "--out", same, "--plot", same)
    assert code == 2
    assert err == f"gadgetopt: {same}: is given twice, expected another file to write to\n"


def test_an_output_that_is_named_replaces_the_last_one(cli, tiny, tmp_path):
    out = tmp_path / "solution.json"
    for name in ("e1_co_locate", "e2_contention_pays"):
        assert cli("solve", tiny / f"{name}.json", "--method", "first_fit", "--out", out)[0] == 0
        assert read(out).name == name
