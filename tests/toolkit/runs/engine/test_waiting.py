"""Lines that say what a command waits for."""

import re
import threading

import pytest

from gadgetopt.runs.engine.waiting import Waiting, said_while_waiting


def test_a_line_names_the_work_its_step_and_its_time():
    waiting = Waiting("proving", 40)
    assert str(waiting) == "proving, 0 s of 40 s"
    waiting.at("building time_indexed")
    assert str(waiting) == "proving: building time_indexed, 0 s of 40 s"
    assert str(Waiting("reading")) == "reading, 0 s"


def test_long_work_is_said_again_and_again_until_it_ends():
    lines, enough = [], threading.Event()

    def write(line):
        lines.append(line)
        if len(lines) == 3:
            enough.set()

    with said_while_waiting("building", write=write, every_s=0.01) as waiting:
        waiting.at("step\x1b[2J")
        assert enough.wait(10)
    count = len(lines)
    assert all(re.fullmatch(r"building: step\\x1b\[2J, 0 s", line) for line in lines), lines
    threading.Event().wait(0.05)
    assert len(lines) == count


def test_short_work_says_nothing(capsys):
    with pytest.raises(KeyError), said_while_waiting("building"):
        raise KeyError
    assert capsys.readouterr().err == ""
