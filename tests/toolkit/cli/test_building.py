"""Commands that build a model end within their limits and at Ctrl-C, whatever its build does."""

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


EXTENSION = gadgetopt.Extension(
    "knapsack",
    formulations=tuple(
        Formulation(f.__name__, model_class="ILP", strength="relaxation", summary="-",
                    equations="-", build=f, decode=None, backends=("highs",))
        for f in (endless, greedy, deaf)
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
    asked = command(name, "deaf", root, tmp_path)
    mark = tmp_path / "begun"
    text = PLUGIN.replace(
        "def deaf(instance):", f"def deaf(instance):\n    open({str(mark)!r}, 'w')"
    )
    plugin.write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "gadgetopt", *map(str, asked), "--plugin", str(plugin)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.02)
    sent = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert time.monotonic() - sent < 10
    assert list(tmp_path.glob("out/*")) == list(tmp_path.glob("out/.*")) == []


def test_a_model_reaches_a_pipe(root, tmp_path):
    asked = command("export", "direct", root, tmp_path)[:-1]
    done = subprocess.run(
        [sys.executable, "-m", "gadgetopt", *map(str, asked), "/dev/stdout"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "\nENDATA" in done.stdout
    assert done.stdout.endswith("/dev/stdout\n")


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
