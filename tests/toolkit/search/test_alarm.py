"""An alarm ends what looks at no clock, but no import."""

import importlib
import random
import signal
import sys
import time

import pytest

from gadgetopt.search.alarm import TimeUp, ended_after

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

SLOW = """
import time

until = time.monotonic() + 0.3
while time.monotonic() < until:
    pass
whole = True
"""


@pytest.fixture
def alarm_before():
    """Return what handles the alarm; it is so again after the test."""
    before = signal.getsignal(signal.SIGALRM)
    yield before
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Return a folder from which modules are imported, which are forgotten with the test."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("gadgetopt.numbers.alarm.AGAIN_S", 0.05)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def import_and_sleep(name):
    with ended_after(0.05) as alarm:
        importlib.import_module(name)
        assert not alarm.rang
        time.sleep(60)


def test_a_module_is_imported_whole_before_the_alarm_rings(modules):
    (modules / "slow_to_import.py").write_text(SLOW)
    with pytest.raises(TimeUp):
        import_and_sleep("slow_to_import")
    assert sys.modules["slow_to_import"].whole


def test_an_alarm_that_is_set_during_an_import_rings(modules):
    (modules / "script.py").write_text(
        "import time\n"
        "from gadgetopt.search.alarm import TimeUp, ended_after\n"
        "try:\n"
        "    with ended_after(0.05) as alarm:\n"
        "        time.sleep(60)\n"
        "except TimeUp:\n"
        "    pass\n"
    )
    assert importlib.import_module("script").alarm.rang


def ended(seconds, after_s):
    """Return whether a busy block was ended."""
    until = time.perf_counter() + seconds
    try:
        with ended_after(after_s):
            while time.perf_counter() < until:
                pass
    except TimeUp:
        return True
    return False


def test_an_alarm_that_rings_at_the_end_of_its_block_leaves_no_timer(alarm_before):
    rng = random.Random(0)
    until = time.perf_counter() + 2
    while time.perf_counter() < until:
        ended(rng.uniform(0.0008, 0.00102), 0.001)
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getsignal(signal.SIGALRM) is alarm_before


def test_an_alarm_whose_block_was_never_left_rings_nowhere_else(alarm_before, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    def block():
        with ended_after(0.02):
            monkeypatch.setattr(signal, "getsignal", interrupted)

    with pytest.raises(KeyboardInterrupt):
        block()
    monkeypatch.undo()
    time.sleep(0.05)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_alarm_of_an_outer_block_rings_after_an_inner_one(alarm_before):
    def blocks():
        with ended_after(0.05):
            assert ended(10, 0.01)
            time.sleep(60)

    with pytest.raises(TimeUp):
        blocks()
    assert signal.getsignal(signal.SIGALRM) is alarm_before


class SlowToEnd:
    """An object whose end outlasts an alarm; Python swallows what is raised there."""

    def __del__(self):
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass


def end_an_object_and_sleep():
    with ended_after(0.02):
        slow = SlowToEnd()
        del slow
        time.sleep(60)


def test_an_alarm_that_python_swallowed_rings_again_at_once(alarm_before, monkeypatch):
    monkeypatch.setattr("gadgetopt.numbers.alarm.AGAIN_S", 50.0)
    swallowed = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)
    before = sys.unraisablehook
    began = time.monotonic()
    with pytest.raises(TimeUp):
        end_an_object_and_sleep()
    assert time.monotonic() - began < 50
    assert not swallowed
    assert sys.unraisablehook == before


def test_what_else_python_swallows_is_told(alarm_before, monkeypatch):
    swallowed = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)

    class Broken:
        def __del__(self):
            raise ValueError("no end")

    with ended_after(60):
        broken = Broken()
        del broken
    assert [str(raised.exc_value) for raised in swallowed] == ["no end"]
