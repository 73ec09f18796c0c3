"""The first minute: `gadgetopt` alone, `list`, versions, `-v`, and what the shell completes."""

import json
import logging
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from gadgetopt.cli.completion import method_names
from gadgetopt.system.registry import problem_names

SUMMARY_COLUMNS = 60


def test_without_a_command_three_are_named_to_try_first(cli):
    code, out, err = cli()
    tried = [line.split()[1] for line in out.splitlines() if line.startswith("  gadgetopt")]
    assert (code, err) == (0, "")
    assert tried == ["list", "generate", "compare"]
    assert len(out.splitlines()) < 12
    assert max(map(len, out.splitlines())) <= 100


def test_the_commands_to_try_first_work(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in cli()[1].splitlines():
        if line.startswith("  gadgetopt"):
            words = line.strip().split("   ")[0].split()[1:]
            limit = ["--time-limit", "5"] if words[0] == "compare" else []
            assert cli(*words, *limit)[0] == 0


def test_help_says_what_every_command_does_in_one_short_line(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands = cli("--help")[1].split("Commands:\n")[1].splitlines()
    assert len(commands) >= 18
    for line in commands:
        said = line.split(maxsplit=1)[1]
        assert said.endswith("."), line
        assert not said.endswith("..."), line
        assert len(said) <= SUMMARY_COLUMNS, line


def test_a_system_is_one_line_of_the_list(cli):
    lines = cli("list")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == problem_names()
    assert max(map(len, lines)) <= 100
    assert not any("…" in line for line in lines)


def test_a_theorem_under_several_assumptions_is_listed_once(cli):
    out = cli("list", "sjf_bco", "--all")[1]
    assert out.count("corrected  [proven]") == 1
    assert "of list_scheduling" in out


def test_choices_of_parameters_of_methods_and_presets_are_listed(cli):
    out = cli("list", "bgl_cache", "--all")[1]
    assert "policy=lru (lru or lfu or belady)" in out
    assert "order=free (free or given)" in out
    assert "order=given (given or free)" in out


def test_the_version_names_the_solvers_without_importing_them():
    code = (
        "import sys, gadgetopt.cli.main as m\n"
        "try: m.main(['--version'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pyomo', 'highspy', 'ortools', 'numpy', 'pyscipopt'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, *rest = done.stdout.splitlines()
    assert first == f"gadgetopt {version('gadgetopt')}"
    assert f"HiGHS (highspy) {version('highspy')}" in rest
    for part in ("Python", "OR-Tools", "PySCIPOpt", "Pyomo", "numpy", "platform"):
        assert any(line.startswith(part) for line in rest), part
    assert rest[-1] == "[]"


def test_verbose_says_what_is_done_on_standard_error(cli, tmp_path):
    before = list(logging.getLogger("gadgetopt").handlers)
    code, out, err = cli("generate", "sjf_bco", "--out", tmp_path, "-v")
    assert code == 0
    assert out.splitlines() == [str(tmp_path / "sjf_bco_quickstart_s0_0.json")]
    assert "instance of sjf_bco written" in err
    assert logging.getLogger("gadgetopt").handlers == before
    assert cli("generate", "sjf_bco", "--out", tmp_path)[2] == ""


def test_verbose_names_every_run_of_a_comparison(cli, tiny, tmp_path):
    file, store = tiny / "e1_co_locate.json", tmp_path / "runs.sqlite"
    given = ("--methods", "sjf_bco,first_fit", "--store", store, "--workers", "0", "-v")
    err = cli("compare", file, *given)[2]
    assert "e1_co_locate, sjf_bco: " in err
    assert "e1_co_locate, first_fit: " in err


def test_every_command_takes_verbose(cli):
    for line in cli("--help")[1].split("Commands:\n")[1].splitlines():
        assert "--verbose" in cli(line.split()[0], "--help")[1]


def completed(words, folder):
    """Return what bash is offered for the last word."""
    asked = {
        "_GADGETOPT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words) + ("" if words[-1] else " "),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from gadgetopt.cli.main import main; main()"],
        cwd=folder,
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["list", "sj"], {"sjf_bco"}),
        (["generate", "sjf_bco", "--preset", "mini"], {"mini_paper"}),
        (["show", "sjf_bco", "event"], {"event_based"}),
        (["solve", "FILE", "--method", "event"], {"event_based@highs", "event_based@cpsat"}),
        (["compare", "FILE", "--methods", "ladder,first"], {"ladder,first_fit"}),
        (["export", "FILE", "--formulation", "gdp"], {"gdp_bigm", "gdp_hull"}),
        (["import", "phi"], {"philly"}),
        (["plot", "FILE", "--picture", "g"], {"gantt"}),
        (["solve", ""], set()),  # the shell completes files
        (["generate", "nowhere", "--preset", "mini"], {"mini_paper"}),
    ],
)
def test_the_shell_completes_names_that_fit_what_stands_before(words, offered, root, tmp_path):
    shutil.copy(root / "instances" / "quickstart" / "sjf_bco.json", tmp_path / "FILE")
    assert set(completed(["gadgetopt", *words], tmp_path)) == offered


def test_a_completion_never_fails():
    assert method_names(context=None, incomplete="x") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_falls_back_to_names_of_files(tmp_path):
    program = Path(sys.executable).with_name("gadgetopt")
    if not program.exists():
        pytest.skip("the program is not beside this Python")
    script = f'eval "$({program} --show-completion bash)"; complete -p gadgetopt'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert "-o default" in done.stdout


def test_a_named_method_that_does_not_support_an_instance_is_no_error(cli, root, tmp_path):
    file, store = root / "instances/quickstart/sjf_bco.json", tmp_path / "runs.sqlite"
    given = ("--methods", "sjf_bco,schedule_selection@highs", "--store", store, "--workers", "0")
    code, out, err = cli("compare", file, *given)
    assert code == 0
    assert "not applicable" in out
    assert "expected at most 100,000" in " ".join(out.split())
    assert "error" not in out.lower() + err.lower()
    row = json.loads(cli("compare", file, *given, "--json")[1])[1]
    assert (row["status"], row["objective"], row["guarantee"]) == ("not_applicable", None, None)
    held = {
        m["method"]: m["statuses"] for m in json.loads(cli("status", store, "--json")[1])["methods"]
    }
    assert held["schedule_selection@highs"] == {"not_applicable": 1}
    assert cli("delete", store, "--status", "not_applicable", "--yes")[1].startswith(
        "deleted 1 run"
    )


def test_solving_by_a_method_that_does_not_apply_fails_with_the_reason(cli, root, in_this_process):
    file = root / "instances/quickstart/sjf_bco.json"
    code, out, _ = cli("solve", file, "--method", "schedule_selection@highs")
    assert code == 1
    assert "not applicable" in out
    assert "expected at most 100,000" in out


def test_a_vacuous_guarantee_is_shown_as_such(cli, root, tmp_path):
    file, store = root / "instances/quickstart/smd.json", tmp_path / "runs.sqlite"
    given = ("--methods", "smd", "--store", store, "--workers", "0")
    tables = [cli("compare", file, *given)[1]]
    tables += [cli("ratios", store, *more)[1] for more in ((), ("--theorems",))]
    tables += [cli("summary", store, "--format", form)[1] for form in ("table", "markdown")]
    tables.append(cli("ratios", store, "--format", "latex")[1])
    for table in tables:
        assert "> 1000" in table
        assert "15825043" not in table
        assert "e+07" not in table
