"""What all tests share: the instance library and the optional real data beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent

# Solves vary in time; the same examples every run.
settings.register_profile("repository", deadline=None, derandomize=True, database=None)
settings.load_profile("repository")


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

    from gadgetopt.cli.main import app

    return get_command(app)


@pytest.fixture
def cli(capfd, monkeypatch):
    """Run the command line in this process: `code, out, err = cli("list", "--json")`."""
    from gadgetopt.cli import main

    monkeypatch.setattr(main, "app", command())

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main.main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.fixture
def in_this_process(monkeypatch):
    """Let commands do here what they do in a watched process, which takes half a second to start.

    For tests of what a command says; that it ends whatever happens is tested with the process.
    """
    from gadgetopt.runs.engine import once, solver_process
    from gadgetopt.runs.engine.work import Call

    def call_here(function, arguments, limits):
        call = Call(function, arguments, limits, ())
        answer = solver_process._answer(call, lambda *_: None)
        if answer.error is not None:
            raise answer.error
        return answer

    monkeypatch.setattr(once, "call_apart", call_here)
