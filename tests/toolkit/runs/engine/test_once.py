"""The commands `solve` and `verify` end within their limits, whatever a method or a file does."""

import json
import signal
import subprocess
import sys

import pytest

from gadgetopt.runs.engine.once import run_command
from gadgetopt.system.result import Limits


@pytest.fixture
def pile(piles):
    return piles(1) / "pile_0.json"


@pytest.fixture
def impatient(monkeypatch):
    """Make `solve` wait a second and a half, not five, beyond the time limit."""
    monkeypatch.setattr("gadgetopt.runs.engine.once.default_grace_s", lambda _: 1.5)


@pytest.mark.parametrize(
    ("method", "code", "status", "limit", "reason"),
    [
        ("greedy", 0, "feasible", None, None),
        ("sleeps", 1, "no_solution", "time_s", None),
        ("hands_over", 0, "feasible", "time_s", None),
        ("sleeps_deaf", 1, "error", "time_s", "ignored its time limit of 1 s; stopped after "),
        ("sleeps_on_the_lock", 1, "error", "time_s", "ignored its time limit of 1 s; stopped "),
        ("eats_memory", 1, "error", "memory_mb", "took more than 300 MB of memory"),
        ("segfaults", 1, "error", None, "crashed: killed by SIGSEGV"),
        ("aborts", 1, "error", None, "crashed: killed by SIGABRT (the matrix is singular)"),
        ("leaves", 1, "error", None, "crashed: exited with code 3"),
        ("exits", 1, "error", None, "SystemExit: that is enough "),
    ],
)
def test_solve_comes_back_with_one_result(
    cli, pile, impatient, method, code, status, limit, reason
):
    time_s = 1 if limit == "time_s" else 100
    command = ("solve", pile, "--method", method, "--time-limit", time_s, "--memory-mb", 300)
    returned, out, _ = cli(*command, "--json")
    row = json.loads(out)
    assert (returned, row["status"], row["limit_hit"]) == (code, status, limit)
    if reason is not None:
        told = [line for line in cli(*command)[1].splitlines() if line.startswith("reason")]
        assert len(told) == 1
        assert told[0].split(maxsplit=1)[1].startswith(reason)


def test_without_a_limit_a_solve_may_take_its_share_of_the_machine(cli, pile, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.supervisor.MEMORY_SHARE", 1e-5)
    _, out, _ = cli("solve", pile, "--method", "eats_memory", "--json")
    assert json.loads(out)["limit_hit"] == "memory_mb"


def test_what_a_method_prints_is_on_standard_error(cli, pile):
    code, out, err = cli("solve", pile, "--method", "prints", "--json")
    assert code == 0
    assert json.loads(out)["status"] == "feasible"
    assert "garbage" in err
    assert "more of it" in err


@pytest.mark.parametrize("method", ["hands_over_aloud", "watches_its_clock"])
def test_ctrl_c_returns_the_incumbent(pile, method):
    process = subprocess.Popen(
        [sys.executable, "-m", "gadgetopt", "solve", str(pile), "--method", method],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "feasible, stopped by interrupted" in out
    assert (process.returncode, err) == (0, "")


def test_a_second_ctrl_c_ends_a_method_that_is_deaf_to_the_first(pile):
    process = subprocess.Popen(
        [sys.executable, "-m", "gadgetopt", "solve", str(pile), "--method", "is_deaf_aloud"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "not now\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


# -- checks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "limits", "reason"),
    [
        ("checks_for_ever", Limits(time_s=0.5), "took more than 0.5 s"),
        ("checks_with_all_memory", Limits(memory_mb=300), "took more than 300 MB of memory"),
        ("crashes_the_check", Limits(), "crashed: killed by SIGSEGV"),
        ("fails_to_check", Limits(), "RuntimeError: two lines, and "),
    ],
)
def test_a_check_that_goes_too_far_is_one_line(torture, capsys, function, limits, reason):
    assert run_command(f"torture:{function}", (), limits) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"gadgetopt: not verified: {reason}")


def test_verify_takes_limits(cli, root, tmp_path):
    instance = root / "instances" / "quickstart" / "sjf_bco.json"
    proof = tmp_path / "proof.json"
    envelope = {"gadgetopt": 1, "problem": "sjf_bco", "kind": "certificate", "name": "slow"}
    # The model that these duals speak of takes seconds to build.
    proof.write_text(json.dumps({**envelope, "data": {"formulation": "gdp_hull", "row_duals": []}}))
    for option, value, reason in (
        ("--time-limit", 0.5, "took more than 0.5 s"),
        ("--memory-mb", 10, "took more than 10 MB of memory"),
    ):
        code, out, err = cli("verify", instance, "--bound", proof, option, value)
        assert (code, out, err) == (1, "", f"gadgetopt: not verified: {reason}\n")


def test_a_long_solve_says_what_it_waits_for_and_its_log_is_left_alone(cli, pile, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.once.EVERY_S", 0.2)
    command = ("solve", pile, "--method", "hands_over", "--time-limit", 1)
    _, _, err = cli(*command)
    said = err.splitlines()
    assert any(line.startswith("hands_over, ") and line.endswith("s of 1 s") for line in said)
    assert all(line.startswith("hands_over") for line in said)
    _, _, err = cli(*command, "--log")
    assert "hands_over, " not in err
