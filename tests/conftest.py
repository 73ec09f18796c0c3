"""What all tests share: the instance library and the optional real data beside the checkout."""

from __future__ import annotations

import gc
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent

# Solves vary in time; the same examples every run.
settings.register_profile("repository", deadline=None, derandomize=True, database=None)
settings.load_profile("repository")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among the tests and what they import: millions of objects that stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def tiny() -> Path:
    return ROOT / "instances" / "sjf_bco" / "tiny"


@cache
def command():
    """Return the commands, which a process needs to put together only once."""
    from typer.main import get_command

    from gadgetopt.cli.commands import app

    return get_command(app)


@pytest.fixture
def cli(capfd, monkeypatch):
    """Run the command line in this process: `code, out, err = cli("list", "--json")`."""
    from gadgetopt.cli import commands, main

    monkeypatch.setattr(commands, "app", command())

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main.main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """Let commands do here what they do in watched processes, which take a second each to start.

    For tests of what a command says or keeps; that it ends whatever happens is tested with the
    processes. Solves that print a log, and those of a scheduler, still have theirs.
    """
    from gadgetopt.runs import comparison
    from gadgetopt.runs.engine import once, solver_process
    from gadgetopt.runs.engine.finish import run_here
    from gadgetopt.runs.engine.work import Call
    from gadgetopt.system.files import document_text, parse

    started, watched, executed = once.Once._started, once.Once._watched, comparison._executed

    def call_here(function, arguments, limits):
        call = Call(function, arguments, limits, ())
        answer = solver_process._answer(call, lambda *_: None)
        if answer.error is not None:
            raise answer.error
        return answer

    def not_started(self, document=None):
        return started(self, document) if self.options else SimpleNamespace(stop=bool, silent=bool)

    def solved_here(self, work, document):
        if self.options:
            return watched(self, work, document)
        return run_here(work, parse(document_text(document), "text"))

    def compared_here(batch, scheduler, workers, watch):
        return executed(batch, scheduler, workers if scheduler else 0, watch)

    monkeypatch.setattr(once, "call_apart", call_here)
    monkeypatch.setattr(once.Once, "_started", not_started)
    monkeypatch.setattr(once.Once, "_watched", solved_here)
    monkeypatch.setattr(comparison, "_executed", compared_here)
