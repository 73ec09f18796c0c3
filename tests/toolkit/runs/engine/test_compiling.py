"""Compiling is nobody's result: a run that compiles ends as the next one does, which does not."""

import json
from collections import Counter, deque

import pytest

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.compiling import SAID
from gadgetopt.runs.pace import Pace
from gadgetopt.runs.progress import Watch
from gadgetopt.runs.tally import Tally

MINE = """
import time

import gadgetopt
import slow_loops
from gadgetopt.search.clock import Clock
from torture import Choice


@gadgetopt.method("torture")
def takes_one(pile, limits):
    clock = Clock(limits)
    item = slow_loops.slowly_compiled(0)
    time.sleep(0.2)  # the supervisor looks at the memory
    return None if clock.expired else Choice(chosen=(item,))
"""

pytestmark = pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")


@pytest.fixture
def asked(piles, tmp_path, monkeypatch):
    """Return the options of a run that cannot compile within its limits, and an empty cache."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    pile = piles(1) / "pile_0.json"
    limits = ("--time-limit", 1.0, "--memory-mb", 450, "--plugin", tmp_path / "mine.py", "--json")
    return (pile, *limits)


def test_a_comparison_gives_the_same_with_a_cold_and_a_warm_cache(cli, asked, tmp_path):
    command = ("compare", *asked, "--methods", "takes_one", "--grace", 0.5, "--store")
    for store, said in (("cold", True), ("warm", False)):
        code, out, err = cli(*command, tmp_path / f"{store}.sqlite")
        (row,) = json.loads(out)
        assert (code, row["status"], row["limit_hit"]) == (0, "feasible", None)
        assert row["time_s"] < 1.0
        assert (SAID in err) is said


def test_a_solve_gives_the_same_with_a_cold_and_a_warm_cache(cli, asked, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.once.default_grace_s", lambda _: 0.5)
    for said in (True, False):
        code, out, err = cli("solve", *asked, "--method", "takes_one")
        row = json.loads(out)
        assert (code, row["status"], row["limit_hit"]) == (0, "feasible", None)
        assert err.count(f"gadgetopt: {SAID}\n") == said


def test_a_loop_that_is_compiled_for_ever_ends_the_run(cli, asked, monkeypatch):
    monkeypatch.setattr("gadgetopt.runs.engine.supervisor.MARGIN_S", 1.0)
    code, out, _ = cli("solve", *asked, "--method", "takes_one")
    row = json.loads(out)
    assert (code, row["status"]) == (1, "error")


def test_the_time_left_does_not_expect_compiling_again():
    times = {"method": deque([0.95] * 10)}
    tally = Tally(total=20, done=10, ended=10, seconds=9.5, to_do=Counter(method=10), times=times)
    pace = Pace()
    pace.started_s -= 30.0  # one run at a time, after 20 s of compiling
    left = pace.left({"mine": tally}, compiling_s=20.0)["mine"]
    assert left.seconds == pytest.approx(10.0, rel=0.01)


def test_progress_says_that_loops_are_compiled_while_they_are():
    watch = Watch()
    assert watch.meanwhile == ""
    watch.compiling("compiling", 0.0)
    watch.compiling("compiling", 0.0)  # in another process
    watch.compiling("compiled", 2.0)
    assert watch.meanwhile == f", {SAID}"
    watch.compiling("compiled", 1.5)
    watch.compiling("reading", 0.0)
    watch.compiling("read", 0.1)
    assert (watch.meanwhile, watch.compiling_s) == ("", 3.5)
