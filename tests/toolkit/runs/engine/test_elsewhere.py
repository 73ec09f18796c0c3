"""Workers elsewhere tell their client what they compile and what they prove."""

import re

import pytest

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.compiling import SAID, listening
from gadgetopt.reporting.tables import ratios
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine.elsewhere import Heard
from gadgetopt.runs.engine.searches import following
from gadgetopt.runs.progress import Lines
from gadgetopt.system import registry
from gadgetopt.system.files import Document, write

COMPILES = """
import time

import gadgetopt
import slow_loops
from torture import Choice


@gadgetopt.method("torture")
def compiles(pile):
    item = slow_loops.slowly_compiled(0)
    time.sleep(0.2)
    return Choice(chosen=(item,))
"""


def cluster():
    """Return a scheduler and a worker of two threads in a process of its own."""
    from distributed import LocalCluster

    return LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None, memory_limit=0)


def test_a_comparison_says_what_workers_elsewhere_prove(torture, tmp_path):
    endless = registry.problem("endless")
    for k in range(2):
        data = endless.instance_type(what="sleeps" + " " * k)
        write(Document(endless, "instance", f"trouble_{k}", data), tmp_path / f"t/{k}.json")
    said, store = [], tmp_path / "runs.sqlite"
    watch = Lines(said.append, every_s=0.1)
    with cluster() as started:
        given = {"certify": "2", "scheduler": started.scheduler_address, "store": store}
        compare([tmp_path / "t"], ["claims"], watch=watch, **given)
    assert any(re.search(r", proving [12]: building model, \d s of 2 s$", s) for s in said), said
    assert str(watch.searches) == ""
    for entry in ratios(store):
        assert "building model" in entry.result.notes["proof"]["ended"]


@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_a_comparison_says_that_workers_elsewhere_compile(piles, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(COMPILES)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    said = []
    watch = Lines(said.append, every_s=0.1)
    with cluster() as started:
        mine = {"plugins": [tmp_path / "mine.py"], "scheduler": started.scheduler_address}
        compare([piles(1)], ["compiles"], watch=watch, **mine)
    assert any(SAID in line for line in said), said
    assert watch.beside == []
    assert watch.compiling_s > 1


def test_what_a_dead_worker_did_is_forgotten():
    heard, events = Heard("mine"), []
    with following("mine") as searches, listening(lambda event, _: events.append(event)):
        heard((0.0, ["run", "compiling", 0.0]))
        heard((0.0, ["run", "proving", 9.0]))
        heard((0.0, ["run", "doing", "building direct"]))
        assert str(searches) == "proving 1: building direct, 0 s of 9 s"
        heard.over("run")
        heard.over("run")
        assert str(searches) == ""
    assert events == ["compiling", "compiled"]
