"""The command line: outputs, exit codes, and one line for every mistake."""

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gadgetopt.cli.printing import say
from gadgetopt.runs.comparison import ROW_KEYS

pytestmark = pytest.mark.usefixtures("in_this_process")


def run(*arguments, cwd):
    command = [sys.executable, "-m", "gadgetopt", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def solution(tiny, tmp_path, cli):
    path = tmp_path / "solution.json"
    assert cli("solve", tiny / "e1_co_locate.json", "--method", "sjf_bco", "--out", path)[0] == 0
    return path


def test_list_names_every_part_of_a_system(cli):
    code, out, _ = cli("list", "sjf_bco", "--all")
    assert code == 0
    for word in ("time_indexed@highs", "nonconvex", "Theorem 5", "quickstart", "philly"):
        assert word in out
    described = json.loads(cli("list", "--json")[1])
    assert {"name", "formulations", "methods", "guarantees"} <= set(described[0])


def test_show_prints_the_page_and_a_formulation_on_paper(cli):
    assert "## " in cli("show", "sjf_bco")[1]
    assert "TI-9" in cli("show", "sjf_bco", "time_indexed")[1]


def test_show_with_an_instance_writes_the_model_out(cli, tiny):
    code, out, _ = cli(
        "show", "sjf_bco", "time_indexed", "--instance", tiny / "e1_co_locate.json", "--rows", 2
    )
    assert code == 0
    assert "jobs: 2" in out
    assert "variables" in out
    assert "more" in out


def test_generate_is_reproducible_and_numbered(cli, tmp_path):
    for folder in ("a", "b"):
        out = cli("generate", "sjf_bco", "--count", 3, "--seed", 5, "--out", tmp_path / folder)[1]
        assert len(out.splitlines()) == 3
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_generate_takes_parameters_of_the_preset(cli, tmp_path):
    arguments = ("--preset", "paper", "--set", "jobs=10", "--set", "servers=3", "--out", tmp_path)
    path = cli("generate", "sjf_bco", *arguments)[1].strip()
    assert len(json.loads(Path(path).read_text())["data"]["server_gpus"]) == 3


def test_solve_writes_what_verify_accepts(cli, tiny, solution):
    code, out, _ = cli("verify", tiny / "e1_co_locate.json", solution)
    assert code == 0
    assert "makespan (slots)" in out
    verdict = json.loads(cli("verify", tiny / "e1_co_locate.json", solution, "--json")[1])
    assert verdict["feasible"]
    assert verdict["objective"] == 2


def test_verify_of_a_violated_solution_exits_1_and_says_where(cli, tiny, solution):
    envelope = json.loads(solution.read_text())
    envelope["data"]["placement"][0] = {"1": 2}
    envelope["data"]["placement"][1] = {"1": 2}
    solution.write_text(json.dumps(envelope))
    code, out, _ = cli("verify", tiny / "e1_co_locate.json", solution)
    assert code == 1
    assert "capacity at server 1, slots 0-1: by 2" in out


def test_solve_json_is_a_row_and_the_solution(cli, tiny):
    code, out, _ = cli("solve", tiny / "e1_co_locate.json", "--method", "ladder", "--json")
    row = json.loads(out)
    assert code == 0
    assert list(row) == [*ROW_KEYS, "solution"]
    assert (row["status"], row["objective"], row["bound"], row["gap"]) == ("optimal", 2, 2, 0.0)


def test_a_relaxation_is_done_when_it_has_a_bound(cli, tiny):
    assert cli("solve", tiny / "e1_co_locate.json", "--method", "energetic")[0] == 0


def test_solve_of_a_method_that_fails_exits_1(cli, tiny, tmp_path):
    envelope = json.loads((tiny / "e3_staggered_start.json").read_text())
    envelope["data"]["horizon_slots"] = 9
    (tmp_path / "short.json").write_text(json.dumps(envelope))
    assert cli("solve", tmp_path / "short.json", "--method", "sjf_bco")[0] == 1


def test_an_instance_without_a_schedule_in_its_horizon_is_infeasible_not_an_error(
    cli, tiny, tmp_path
):
    envelope = json.loads((tiny / "e3_staggered_start.json").read_text())
    envelope["data"]["horizon_slots"] = 10
    (tmp_path / "short.json").write_text(json.dumps(envelope))
    for method in ("time_indexed@highs", "cp_e", "ladder"):
        code, out, _ = cli("solve", tmp_path / "short.json", "--method", method, "--json")
        assert code == 0
        assert json.loads(out)["status"] == "infeasible"


def test_solve_draws_a_picture_and_logs(cli, tiny, tmp_path):
    picture = tmp_path / "gantt.html"
    code, _, err = cli(
        "solve", tiny / "e1_co_locate.json", "--method", "cp_e", "--plot", picture, "--solver-log"
    )
    assert code == 0
    assert "plotly" in picture.read_text()[:10000].lower()
    assert "CpSolverResponse" in err


def test_compare_json_has_the_promised_keys_and_ends_with_ratios(cli, tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    code, out, err = cli(
        "compare", tiny, "--methods", "sjf_bco,energetic", "--store", store, "--json"
    )
    rows = json.loads(out)
    assert code == 0
    assert err == f"gadgetopt: new store {store}\n"
    assert all(tuple(row) == ROW_KEYS for row in rows)
    assert all(row["ratio_low"] >= 1 for row in rows if row["objective"] is not None)
    assert json.loads(cli("ratios", store, "--json")[1]) == rows


def test_compare_prints_the_table_people_look_at(cli, tiny, tmp_path):
    store = tmp_path / "s"
    given = ("compare", tiny, "--methods", "sjf_bco,ladder", "--store", store)
    out = cli(*given, "--details")[1]
    for column in (
        "instance",
        "method",
        "objective",
        "dual bound",
        "gap",
        "ratio",
        "theorem",
        "time",
    ):
        assert column in out
    # E4(a): three jobs refute the printed theorem (claimed ratio 1, measured 3/2).
    refuted = (
        "Refuted claim: system sjf_bco, method sjf_bco, instance e4a_three_jobs: "
        "ratio 1.500 > 1.000 claimed by 'Theorem 5'"
    )
    assert refuted in " ".join(out.split())
    out = cli(*given, "--no-details")[1]
    assert refuted.replace(": ratio", " (worst of 2 runs): ratio") in " ".join(out.split())
    assert "dual bound" not in out


def test_a_long_table_is_cut_and_says_so(cli, tiny, tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    cli("compare", tiny, "--methods", "first_fit", "--store", store)
    rows = len(json.loads(cli("ratios", store, "--json")[1]))
    monkeypatch.setattr("gadgetopt.cli.comparing.MOST_ROWS", 3)
    code, out, err = cli("ratios", store)
    assert (code, out.count("first_fit")) == (0, 3)
    more = f"gadgetopt: {rows - 3} more rows; `gadgetopt ratios --format csv` has all runs\n"
    assert err == more


def test_a_batch_goes_on_when_nobody_reads_its_progress(monkeypatch):
    class Nobody(io.StringIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Nobody())
    say("1 of 2 runs done")


@pytest.mark.parametrize("form", ["csv", "latex"])
def test_ratios_speak_other_formats(cli, tiny, tmp_path, form):
    store = tmp_path / "runs.sqlite"
    cli("compare", tiny, "--methods", "first_fit", "--store", store)
    code, out, _ = cli("ratios", store, "--format", form)
    assert code == 0
    assert "e1" in out


def test_ratios_write_parquet(cli, tiny, tmp_path):
    import pandas as pd

    store, path = tmp_path / "runs.sqlite", tmp_path / "ratios.parquet"
    cli("compare", tiny, "--methods", "first_fit", "--store", store)
    assert cli("ratios", store, "--format", "parquet", "--out", path)[0] == 0
    assert list(pd.read_parquet(path).columns) == list(ROW_KEYS)


def test_ratios_hold_theorems_against_measurements(cli, tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    cli("compare", tiny / "e4a_three_jobs.json", "--methods", "sjf_bco,ladder", "--store", store)
    rows = json.loads(cli("ratios", store, "--theorems", "--json")[1])
    claimed = next(r for r in rows if r["standing"] == "claimed")
    assert (claimed["guarantee"], claimed["ratio_low"], claimed["verdict"]) == (1, 1.5, "exceeded")
    assert all(r["verdict"] != "exceeded" for r in rows if r["standing"] == "proven")


@pytest.mark.parametrize("form", ["mps", "lp", "cpsat"])
def test_export_writes_a_model(cli, tiny, tmp_path, form):
    path = tmp_path / f"model.{form}"
    arguments = ("--formulation", "time_indexed", "--format", form, "--out", path)
    assert cli("export", tiny / "e1_co_locate.json", *arguments)[0] == 0
    assert path.stat().st_size > 1000


def test_an_exported_model_has_the_same_optimum(cli, tiny, tmp_path):
    import highspy

    path = tmp_path / "model.mps"
    cli("export", tiny / "e2_contention_pays.json", "--formulation", "time_indexed", "--format",
        "mps", "--out", path)  # fmt: skip
    highs = highspy.Highs()
    highs.silent()
    highs.readModel(str(path))
    highs.run()
    assert round(highs.getObjectiveValue()) == 3


def test_export_of_a_nonlinear_model_as_mps_is_refused(cli, tiny, tmp_path):
    arguments = ("--formulation", "nonconvex", "--format", "cpsat", "--out", tmp_path / "m")
    code, _, err = cli("export", tiny / "e1_co_locate.json", *arguments)
    assert code == 2
    assert len(err.splitlines()) == 1


def test_schema_is_json(cli):
    assert set(json.loads(cli("schema", "sjf_bco")[1])) == {
        "instance",
        "solution",
        "certificate",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve"], "Missing argument 'FILE'"),
        (["solve", "none.json"], "none.json: no such instance file"),
        (["solve", "TINY", "--method", "magic"], "method 'magic': sjf_bco has no such method"),
        (["solve", "TINY", "--method", "sjf_bco:tehta=1"], "no parameter 'tehta'"),
        (["solve", "TINY", "--time-limit", "0"], "'--time-limit': '0' is not a positive number"),
        (
            ["solve", "TINY", "--time-limit", "nan"],
            "'--time-limit': 'nan' is not a positive number",
        ),
        (
            ["solve", "TINY", "--time-limit", "soon"],
            "'--time-limit': 'soon' is not a positive number",
        ),
        (["solve", "TINY", "--gap", "1"], "'--gap': '1' is not a number in [0, 1)"),
        (
            ["solve", "TINY", "--plot", "x.jpg"],
            "--plot: x.jpg: .jpg, expected one of .html, .json, .png, .svg, .pdf",
        ),
        (["compare", "TINY", "--methods", "magic"], "method 'magic'"),
        (["compare", "TINY", "--methods", ","], "names no method"),
        (["compare", "TINY", "--seeds", "0"], "'--seeds': '0' is not a positive integer"),
        (["generate", "sjf_bko"], "'sjf_bko' is not a known problem (known: "),
        (["generate", "sjf_bco", "--preset", "x"], "--preset: 'x', expected one of quickstart"),
        (["generate", "sjf_bco", "--set", "jobs"], "'jobs' is not of the form name=value"),
        (["generate", "sjf_bco", "--set", "jobs=few"], "jobs: 'few' is not of the type"),
        (["generate", "sjf_bco", "--set", "jobs=0"], "--preset quickstart"),
        (["import", "phily", "x.csv"], "FORMAT: 'phily', expected one of"),
        (["import", "philly", "none.csv", "--system", "sjf_bco"], "none.csv"),
        (["export", "TINY", "--formulation", "x", "--format", "mps"], "no such formulation"),
        (["export", "TINY", "--formulation", "time_indexed", "--format", "gms"], "--format: 'gms'"),
        (["ratios", "none.sqlite"], "none.sqlite: no such store"),
        (["ratios", "TINY"], "cannot be used as a store"),
        (["schema", "sjf_bco", "--kind", "x"], "--kind: 'x'"),
        (["show", "sjf_bco", "x"], "formulation 'x'"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(cli, tiny, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    given = [str(tiny / "e1_co_locate.json") if a == "TINY" else a for a in arguments]
    code, out, err = cli(*given)
    assert code == 2
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_help_starts_no_solver_and_little_else(tmp_path):
    code = (
        "import sys, gadgetopt, gadgetopt.cli.main\n"
        "heavy = {'pyomo', 'highspy', 'ortools', 'pandas', 'numpy', 'pydantic', 'distributed'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("asked", [["list"], ["list", "knapsack"]])
def test_a_plain_list_loads_no_parser_of_options(asked, cli):
    code = (
        "import sys, gadgetopt.cli.main as m\n"
        f"try: m.main({asked!r})\n"
        "except SystemExit: pass\n"
        "print(sorted({'typer', 'pydantic', 'rich', 'numpy', 'pyomo'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *listed, loaded = done.stdout.splitlines()
    assert loaded == "[]"
    assert listed == cli(*asked, "-v")[1].splitlines()


def test_ctrl_c_during_compare_keeps_and_prints_what_is_finished(tiny, tmp_path):
    store = tmp_path / "runs.sqlite"
    hard = tmp_path / "hard.json"
    generated = run("generate", "sjf_bco", "--preset", "contended_small", "--set", "jobs=14",
                    "--set", "servers=7", "--out", tmp_path, cwd=tmp_path)  # fmt: skip
    os.rename(generated.stdout.strip(), hard)
    methods = "first_fit,cp_e,list_scheduling"
    process = subprocess.Popen(
        [sys.executable, "-m", "gadgetopt", "compare", str(tiny / "e1_co_locate.json"), str(hard),
         "--methods", methods, "--store", str(store), "--time-limit", "300",
         "--workers", "1"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_rows(store, 4)  # three on the easy instance, first_fit on the hard one
    time.sleep(1)  # well into cp_e on the hard one
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "e1_co_locate" in out
    assert "Traceback" not in out + err
    assert "interrupted: 4 of 6 runs are done" in err
    assert process.returncode == 130
    rows = json.loads(run("ratios", store, "--json", cwd=tmp_path).stdout)
    assert [row["limit_hit"] for row in rows] == [None] * 4 + ["interrupted"]


def wait_for_rows(store, wanted, patience_s=120):
    begin, rows = time.monotonic(), 0
    while rows < wanted and time.monotonic() - begin < patience_s:
        time.sleep(0.2)
        if store.exists():
            with sqlite3.connect(store) as connection:
                tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                if tables:
                    rows = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    assert rows >= wanted


def test_a_pipe_that_closes_is_no_error(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -m gadgetopt schema sjf_bco | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_certificate_is_written_and_proves_its_bound_without_a_solver(tiny, tmp_path, cli):
    instance, proof = tiny / "e1_co_locate.json", tmp_path / "proof.json"
    assert cli("solve", instance, "--method", "combinatorial", "--certificate", proof)[0] == 0
    code, out, _ = cli("verify", instance, "--bound", proof, "--json")
    assert code == 0
    assert json.loads(out) == {
        "instance": "e1_co_locate",
        "problem": "sjf_bco",
        "bound": 2,
        "gap": None,
    }


def test_a_solution_and_a_certificate_together_give_the_gap(tiny, tmp_path, cli, solution):
    instance, proof = tiny / "e1_co_locate.json", tmp_path / "proof.json"
    cli("solve", instance, "--method", "energetic", "--certificate", proof)
    out = cli("verify", instance, solution, "--bound", proof)[1]
    assert "dual bound" in out
    assert "relative gap" in out


def test_a_method_without_a_certificate_says_so(tiny, tmp_path, cli):
    proof = tmp_path / "proof.json"
    instance = tiny / "e1_co_locate.json"
    code, _, err = cli("solve", instance, "--method", "first_fit", "--certificate", proof)
    assert err == "gadgetopt: no certificate to write: the run has no bound\n"
    assert code == 1
    assert not proof.exists()


def test_pictures_are_drawn_by_name(tiny, tmp_path, cli, solution):
    picture = tmp_path / "gantt.html"
    instance = tiny / "e1_co_locate.json"
    assert cli("plot", instance, solution, "--picture", "gantt", "--out", picture)[0] == 0
    page = picture.read_text()
    assert "plotly" in page[:10000].lower()
    assert '"showSendToCloud": false' in page


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["verify", "TINY"], "verify: neither a SOLUTION nor --bound CERTIFICATE is given"),
        (
            ["plot", "TINY", "--picture", "x"],
            "picture 'x': sjf_bco has no such picture (it has: gantt)",
        ),
        (["plot", "TINY"], "plot: the picture 'gantt' is of a solution, expected SOLUTION"),
        (
            ["plot", "TINY", "--out", "x.jpg"],
            "--out: x.jpg: .jpg, expected one of .html, .json, .png, .svg, .pdf",
        ),
        (["verify", "TINY", "--bound", "TINY"], "TINY: kind: 'instance', expected 'certificate'"),
    ],
)
def test_mistakes_about_certificates_and_pictures_have_their_line(arguments, line, tiny, cli):
    path = str(tiny / "e1_co_locate.json")
    code, _, err = cli(*(path if a == "TINY" else a for a in arguments))
    assert code == 2
    assert err == f"gadgetopt: {line.replace('TINY', path)}\n"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            ("generate", "knapsack", "--items"),
            "No such option: --items; a parameter is given as --set items=VALUE",
        ),
        (
            ("import", "philly", "x.csv", "--window-hours"),
            "No such option: --window-hours; a parameter is given as --set window_hours=VALUE",
        ),
        (
            ("compare", "x.json", "--param", "tries=3"),
            "No such option: --param; a method's parameter is given with its name, "
            "--methods METHOD:param=VALUE",
        ),
        (
            ("solve", "x.json", "--tries", "3"),
            "No such option: --tries (Possible options: --target, --threads); a method's parameter "
            "is given with its name, --method METHOD:tries=VALUE",
        ),
        (
            ("compare", "x.json", "--time-limi", "3"),
            "No such option: --time-limi (Possible options: --time-limit)",
        ),
        (("errata", "--items", "3"), "No such option: --items"),
    ],
)
def test_a_wrong_option_is_told_how_parameters_are_given(command, line, cli):
    assert cli(*command) == (2, "", f"gadgetopt: {line}\n")
