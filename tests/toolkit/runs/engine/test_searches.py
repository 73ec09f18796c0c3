"""A comparison says how many bounds are being proved, and what the search does."""

import io
import re

import pytest
from rich.console import Console

from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine.searches import following, search_of
from gadgetopt.runs.progress import Lines, Live, Watch
from gadgetopt.system import registry
from gadgetopt.system.files import Document, write

BUILDING = r"proving {}: building model, \d s of 2 s"


@pytest.fixture
def sleeping(torture, tmp_path):
    """Return a function that writes instances whose model takes for ever to build."""
    endless = registry.problem("endless")

    def make(count):
        data = [endless.instance_type(what="sleeps" + " " * k) for k in range(count)]
        for k, each in enumerate(data):
            write(Document(endless, "instance", f"trouble_{k}", each), tmp_path / f"t/{k}.json")
        return tmp_path / "t"

    return make


def test_words_count_the_searches_of_a_session_and_name_the_step_of_the_first():
    with following("mine") as searches, following("other") as others:
        assert str(searches) == ""
        with search_of("mine", 45.0) as first:
            first.at("growing a tree on\x1bdirect")
            with search_of("mine", 9.0):
                assert str(searches) == r"proving 2: growing a tree on\x1bdirect, 0 s of 45 s"
            assert str(searches).startswith("proving 1: growing")
        assert str(searches) == str(others) == ""
    with search_of("nobody's", 1.0) as search:  # nobody follows it
        search.at("building")


@pytest.mark.parametrize(("workers", "runs"), [(0, 1), (2, 2)])
def test_lines_say_what_is_being_proved(sleeping, workers, runs):
    said = []
    watch = Lines(said.append, every_s=0.1)
    compare([sleeping(runs)], ["claims"], certify="2", workers=workers, watch=watch)
    words = BUILDING.format(runs)
    assert any(re.search(rf"of {runs} runs done, {runs} running, .*, {words}$", s) for s in said), (
        said
    )
    assert str(watch.searches) == ""


@pytest.mark.parametrize("workers", [0, 1])
def test_the_live_view_says_what_is_being_proved(sleeping, workers):
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    live = Live(console)
    try:
        compare([sleeping(1)], ["claims"], certify="2", workers=workers, watch=live)
    finally:
        live.end()
    shown = console.file.getvalue()
    assert re.search(BUILDING.format(1), shown)
    assert "1 running" in shown


def test_a_watch_without_searches_says_nothing_of_them():
    assert Watch().meanwhile == ""
