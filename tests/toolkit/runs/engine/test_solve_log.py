"""The log of a solve: `gadgetopt solve --log`."""

import json
import time
from fractions import Fraction

import pytest

from gadgetopt.runs.engine.solve_log import SolveLog
from gadgetopt.system.result import TracePoint

HEAD = ["time", "incumbent", "bound", "gap"]


def test_improvements_within_a_second_are_one_line_the_last():
    lines = []
    with SolveLog(lines.append, every_s=0.2) as log:
        for k in range(50):
            log.tell(TracePoint(k / 1000, 100 - k, 10))
        time.sleep(0.5)
    assert [line.split()[2] for line in lines[1:]] == ["100", "51"]


def test_a_point_without_news_has_no_line():
    lines = []
    with SolveLog(lines.append, every_s=0.05) as log:
        for time_s in (0.0, 0.1):
            log.tell(TracePoint(time_s, 4, Fraction(10, 3)))
            time.sleep(0.12)
    assert [line.split() for line in lines] == [
        HEAD,
        ["0.0", "s", "4", "3.333333333", "16.67%"],
    ]


@pytest.mark.parametrize("method", ["lpt_ils", "ladder", "time_indexed@highs", "cp_e"])
def test_the_log_goes_to_standard_error_and_leaves_standard_output_as_it_is(cli, tiny, method):
    command = ("solve", tiny / "e2_contention_pays.json", "--method", method, "--json")
    _, plain, quiet = cli(*command)
    code, out, err = cli(*command, "--log")
    assert (code, quiet) == (0, "")
    logged, unlogged = json.loads(out), json.loads(plain)
    assert list(logged) == list(unlogged)
    assert logged["objective"] == unlogged["objective"]
    head, *lines = err.splitlines()
    assert head.split() == HEAD
    assert lines
    assert lines[-1].split()[2] == str(logged["objective"])
    assert {len(line) for line in lines} == {len(head)}


def test_the_solvers_own_log_is_another_option(cli, tiny):
    command = ("solve", tiny / "e2_contention_pays.json", "--method", "cp_e")
    assert "CpSolverResponse" not in cli(*command, "--log")[2]
    assert "CpSolverResponse" in cli(*command, "--solver-log")[2]
