"""What all tests share: the instance library and the optional real data beside the checkout."""

from __future__ import annotations

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


@pytest.fixture
def cli(capfd):
    """Run the command line in this process: `code, out, err = cli("list", "--json")`."""
    from gadgetopt.cli.main import main

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return stop.value.code or 0, out, err

    return run
