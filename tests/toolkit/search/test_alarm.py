"""An alarm ends what looks at no clock, but no import."""

import importlib
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
def modules(tmp_path, monkeypatch):
    """Return a folder from which modules are imported, which are forgotten with the test."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("gadgetopt.search.alarm.AGAIN_S", 0.05)
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
