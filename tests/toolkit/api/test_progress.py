"""Progress: shown in notebooks and at prompts, silent in scripts."""

import pytest

import gadgetopt
from gadgetopt.api import progress
from gadgetopt.numbers.compiling import DONE, SAID, tell


@pytest.fixture
def notebook(monkeypatch):
    """Pretend that outputs appear in a notebook; return what the display was given."""
    pytest.importorskip("IPython")
    drawn = []

    class Handle:
        def update(self, html):
            drawn.append(html.data)

    def display(html, display_id):
        drawn.append(html.data)
        return Handle()

    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(progress, "EVERY_S", 0)
    monkeypatch.setattr("IPython.display.display", display)
    return drawn


def test_a_notebook_shows_a_bar_and_removes_it(notebook, tiny):
    gadgetopt.compare(tiny, "first_fit", workers=0)
    assert 'value="0"' in notebook[0]
    assert "6 of 6 runs done" in notebook[-2]
    assert "sqlite" not in notebook[0]
    assert notebook[-1] == ""


def test_a_named_store_is_named(notebook, tiny, tmp_path):
    gadgetopt.compare(tiny, "first_fit", workers=0, store=tmp_path / "runs.sqlite")
    assert "runs.sqlite" in notebook[0]


def test_nothing_is_shown_where_it_is_not_wanted(notebook, tiny):
    gadgetopt.compare(tiny, "first_fit", workers=0, progress=False)
    assert notebook == []


def test_a_script_is_silent(tiny, capfd):
    gadgetopt.compare(tiny, "first_fit", workers=0)
    assert capfd.readouterr() == ("", "")


def test_a_solve_that_compiles_says_so_in_a_notebook(notebook):
    with progress.announced():
        tell("reading")
        tell("compiling")
        tell("compiled", 1.0)
        tell("compiling")
    assert notebook == [SAID, f"{DONE} 1.0 s", "", ""]


def test_a_solve_that_compiles_says_so_at_a_prompt(monkeypatch, capfd):
    monkeypatch.setattr(progress, "at_prompt", lambda: True)
    with progress.announced():
        tell("compiling")
    assert capfd.readouterr() == ("", f"{SAID}\n")


def test_a_solve_that_compiles_nothing_is_silent(notebook):
    with progress.announced():
        pass
    assert notebook == []
