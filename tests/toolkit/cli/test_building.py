"""Commands that build a model end within their limits and at Ctrl-C, whatever its build does."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

PLUGIN = """
import time

import gadgetopt
from gadgetopt.system.declaration import Formulation


def endless(instance):
    while True:
        time.sleep(0.1)


def greedy(instance):
    eaten = []
    while True:
        eaten.append(bytearray(b"x") * 20_000_000)


def deaf(instance):
    while True:
        try:
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass


def hard(instance):
    # Five markets to be split among forty shops, which takes HiGHS minutes.
    import random

    import pyomo.environ as pyo

    draw = random.Random(1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), domain=pyo.Binary)
    m.s = pyo.Var(range(5), bounds=(0, None))
    m.market = pyo.ConstraintList()
    for k in range(5):
        a = [draw.randrange(100) for _ in range(40)]
        m.market.add(sum(a[j] * m.x[j] for j in range(40)) + m.s[k] >= sum(a) // 2)
        m.market.add(sum(a[j] * m.x[j] for j in range(40)) - m.s[k] <= sum(a) // 2)
    m.cost = pyo.Objective(expr=sum(m.s[k] for k in range(5)))
    return m


EXTENSION = gadgetopt.Extension(
    "knapsack",
    formulations=tuple(
        Formulation(f.__name__, model_class="ILP", strength="relaxation", summary="-",
                    equations="-", build=f, decode=None, backends=("highs",))
        for f in (endless, greedy, deaf, hard)
    ),
)
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "models.py"
    path.write_text(PLUGIN)
    return path


def command(name, formulation, root, tmp_path):
    file = root / "instances" / "quickstart" / "knapsack.json"
    if name == "show":
        return ("show", "knapsack", formulation, "--instance", file)
    if name == "formulations":
        return ("formulations", file, "--formulation", formulation)
    out = tmp_path / "out" / "model.mps"
    return ("export", file, "--formulation", formulation, "--format", "mps", "--out", out)


@pytest.mark.parametrize(("name", "undone"), [("show", "not shown"), ("export", "not written")])
@pytest.mark.parametrize(
    ("formulation", "limit", "reason"),
    [
        ("endless", ("--time-limit", 0.5), "took more than 0.5 s"),
        ("greedy", ("--memory-mb", 300), "took more than 300 MB of memory"),
    ],
)
def test_a_build_that_goes_too_far_is_one_line(
    cli, root, tmp_path, plugin, name, undone, formulation, limit, reason
):
    asked = command(name, formulation, root, tmp_path)
    code, out, err = cli(*asked, *limit, "--plugin", plugin)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == f"gadgetopt: {undone}: {reason}"
    assert len([line for line in err.splitlines() if line.startswith("gadgetopt")]) == 1
    assert list(tmp_path.glob("out/*")) == list(tmp_path.glob("out/.*")) == []


@pytest.mark.parametrize("name", ["show", "export", "formulations"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_build_at_once(root, tmp_path, plugin, name, number):
    asked = (*command(name, "deaf", root, tmp_path), "--plugin", plugin)
    code, out, err, took_s = interrupted(asked, number, marked(plugin, "deaf", tmp_path))
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert took_s < 10
    assert list(tmp_path.glob("out/*")) == list(tmp_path.glob("out/.*")) == []


@pytest.mark.parametrize(
    ("number", "json_too"), [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, True)]
)
def test_ctrl_c_keeps_the_rows_that_are_there(root, tmp_path, plugin, number, json_too):
    asked = (
        *command("formulations", "direct", root, tmp_path),
        *("--formulation", "deaf", "--formulation", "endless", "--plugin", plugin),
        *(["--json"] if json_too else []),
    )
    code, out, err, took_s = interrupted(asked, number, marked(plugin, "deaf", tmp_path))
    assert code == 130
    assert err.splitlines()[-1] == "gadgetopt: interrupted; not measured: deaf, endless"
    assert took_s < 10
    if json_too:
        (row,) = json.loads(out)
        assert (row["formulation"], round(row["lp_bound"], 2)) == ("direct", 8534.97)
    else:
        (line,) = (line for line in out.splitlines() if line.split()[:1] == ["direct"])
        assert line.split()[-1] == "8534.97"


def test_ctrl_c_in_a_solve_keeps_its_row_and_begins_no_other(root, tmp_path, plugin):
    asked = (
        *command("formulations", "hard", root, tmp_path),
        *("--formulation", "direct", "--solve", "--json", "--plugin", plugin),
    )
    there = marked(plugin, "hard", tmp_path)
    # The first build is for the size, the second for the solve.
    code, out, err, took_s = interrupted(asked, signal.SIGINT, lambda: there() == 2)
    assert code == 130
    (row,) = json.loads(out)
    assert (row["formulation"], row["limit_hit"]) == ("hard", "interrupted")
    left = "direct@highs, direct@cpsat"
    assert err.splitlines()[-1].startswith(f"gadgetopt: interrupted; not measured: {left}")
    assert took_s < 10


def marked(plugin, formulation, tmp_path):
    """Have a formulation say when it is built; return a function that counts its builds."""
    mark = tmp_path / "begun"
    head = f"def {formulation}(instance):"
    marking = f"{head}\n    with open({str(mark)!r}, 'a') as mark: mark.write('.')\n"
    plugin.write_text(PLUGIN.replace(head, marking))
    return lambda: len(mark.read_text()) if mark.exists() else 0


def interrupted(asked, number, begun):
    """Run a command, send it a signal once it has begun; return code, outputs and seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gadgetopt", *map(str, asked)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not begun():
        assert process.poll() is None
        time.sleep(0.02)
    sent = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err, time.monotonic() - sent


def test_a_model_reaches_a_pipe(root, tmp_path):
    asked = command("export", "direct", root, tmp_path)[:-1]
    done = subprocess.run(
        [sys.executable, "-m", "gadgetopt", *map(str, asked), "/dev/stdout"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "\nENDATA" in done.stdout
    assert done.stdout.endswith("/dev/stdout\n")


def test_a_proof_does_not_go_to_a_pipe_where_its_model_would_be_lost(root, tmp_path):
    file, proof = root / "instances" / "quickstart" / "knapsack.json", tmp_path / "proof.json"
    proof.write_text("{}")
    asked = ("export", file, "--proof", proof, "--format", "vipr", "--out", "/dev/stdout")
    done = subprocess.run(
        [sys.executable, "-m", "gadgetopt", *map(str, asked)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gadgetopt: --out: /dev/stdout is not a regular file, expected one: the model is written "
        "beside the proof\n"
    )


def test_formulations_go_on_after_builds_that_go_too_far(cli, root, tmp_path, plugin):
    asked = command("formulations", "endless", root, tmp_path)
    limits = ("--time-limit", 2, "--memory-mb", 500, "--plugin", plugin)
    code, out, _ = cli(*asked, "--formulation", "greedy", "--formulation", "direct", *limits)
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    assert "endless: building it took more than 2 s" in lines
    assert "greedy: took more than 500 MB of memory" in lines
    (row,) = (line for line in lines if line.split()[:1] == ["direct"])
    assert row.split()[-1] == "8534.97"
    assert re.fullmatch(r"(optimum|best solution found) .* by cg_core in at most 2 s", lines[-1])
