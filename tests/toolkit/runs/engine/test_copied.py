"""A solver process that begins as a copy of the command line's own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gadgetopt.runs.engine.copied import may_copy

SCRIPT = """
import os, signal, sys, time
from gadgetopt.runs.engine.copied import Copy

def answer():
    print(sys.stdin.readline().strip(), os.environ["GIVEN"], os.getsid(0) == os.getpid())
    print("heard", file=sys.stderr)

def fail():
    raise ValueError("wrong")

print("said before", end="")
copy = Copy(answer, {"GIVEN": "7"})
print(copy.poll())
copy.stdin.write(b"asked\\n")
copy.stdin.close()
print(copy.stdout.read(), copy.stderr.read(), copy.wait(), copy.poll())
copy = Copy(fail, {})
print(copy.stderr.read().decode().split("\\n")[-2], copy.wait())
copy = Copy(lambda: time.sleep(60), {})
copy.kill()
print(copy.wait())
copy.kill()
copy = Copy(lambda: time.sleep(60), {})
copy.send_signal(signal.SIGTERM)
print(copy.wait(), "GIVEN" in os.environ)
"""


def test_a_copy_has_streams_and_environment_of_its_own_and_tells_how_it_ended():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.split("\n") == [
        "said beforeNone",
        "b'asked 7 True\\n' b'heard\\n' 0 0",
        "ValueError: wrong 1",
        "-9",
        "-15 False",
        "",
    ]


def test_only_the_command_line_is_copied_and_only_with_one_thread():
    assert not may_copy()
    asked = (
        "import threading\n"
        "from gadgetopt.runs.engine.copied import allow, may_copy\n"
        "allow()\n"
        "print(may_copy())\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print(may_copy())\n"
    )
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(sys.platform == "linux"), "False"]
    closed = ["sh", "-c", '"$0" -c "$1" <&-', sys.executable, asked]
    done = subprocess.run(closed, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


PLUGIN = """
import os, sys
import gadgetopt

@gadgetopt.method("parallel_machines", kind="heuristic")
def tells(instance):
    "Say what is loaded, and die."
    loaded = "gadgetopt.cli.solving" in sys.modules
    print("loaded", loaded, "one of", os.environ["OMP_NUM_THREADS"], flush=True)
    os._exit(3)
"""


def test_a_solve_of_the_command_line_is_done_by_a_copy_of_it(tmp_path, root):
    (tmp_path / "tells.py").write_text(PLUGIN)
    instance = root / "instances" / "quickstart" / "parallel_machines.json"
    command = [
        *(sys.executable, "-m", "gadgetopt", "solve", str(instance), "--method", "tells"),
        *("--plugin", str(tmp_path / "tells.py")),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert f"loaded {sys.platform == 'linux'} one of 1" in done.stderr
    assert "crashed: exited with code 3" in done.stdout
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies the command line")
def test_a_copy_has_the_instance_that_was_read(root):
    path = root / "instances" / "quickstart" / "parallel_machines.json"
    asked = (
        "from gadgetopt.runs.engine.copied import allow\n"
        "from gadgetopt.runs.engine.once import Once\n"
        "from gadgetopt.system import files\n"
        "from gadgetopt.system.methods import find_method\n"
        "from gadgetopt.system.result import Limits\n"
        "allow()\n"
        f"tiny = files.read_instance({str(path)!r})\n"
        "files.document_text = files.parse = None  # neither written nor read again\n"
        "call = find_method(tiny.problem, 'lpt')\n"
        "print(Once(1).solve(tiny, call, Limits(time_s=60), 0).result.status)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], check=False, capture_output=True, text=True
    )
    assert done.stdout == "feasible\n", done.stderr


@pytest.mark.parametrize(
    ("method", "status", "reason"),
    [
        ("greedy", "feasible", None),
        ("sleeps_deaf", "error", "ignored its time limit of 1 s"),
        ("eats_memory", "error", "took more than 300 MB of memory"),
        ("segfaults", "error", "crashed: killed by SIGSEGV"),
    ],
)
def test_a_copy_comes_back_with_one_result(piles, background, method, status, reason):
    path = piles(1) / "pile_0.json"
    time_s = 1 if method == "sleeps_deaf" else 100
    command = ("gadgetopt", "solve", path, "--method", method, "--time-limit", time_s)
    asked = (*command, "--memory-mb", 300)
    out, _ = background(*asked, "--json", stdout=subprocess.PIPE).communicate(timeout=60)
    assert json.loads(out)["status"] == status
    if reason is not None:
        out, _ = background(*asked, stdout=subprocess.PIPE).communicate(timeout=60)
        assert reason in out
