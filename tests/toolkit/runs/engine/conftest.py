"""Fixtures: the torture problem as a third party's package, and its instances."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from gadgetopt.system import registry
from gadgetopt.system.files import Document, write

HERE = Path(__file__).parent


@pytest.fixture
def torture(tmp_path, monkeypatch):
    """Install `torture` and `endless` here and in every process started from here."""
    package = tmp_path / "site" / "torture-1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: torture\nVersion: 1\n")
    problems = "torture = torture:PROBLEM\nendless = endless:PROBLEM\n"
    (package / "entry_points.txt").write_text(f"[gadgetopt.problems]\n{problems}")
    for path in (HERE, package.parent):
        monkeypatch.syspath_prepend(path)
    searched = [str(package.parent), str(HERE), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, searched)))
    forget()
    yield registry.problem("torture")
    monkeypatch.undo()
    forget()


def forget():
    registry._entries.cache_clear()
    registry._loaded.cache_clear()


@pytest.fixture
def piles(torture, tmp_path):
    """Return a function that writes a number of instances and returns their folder."""
    pile_type = torture.instance_type

    def make(count):
        folder = tmp_path / "piles"
        for k in range(count):
            dice = random.Random(k)
            pile = pile_type(
                capacity=15,
                weight=tuple(dice.randint(2, 9) for _ in range(8)),
                value=tuple(dice.randint(1, 9) for _ in range(8)),
            )
            document = Document(torture, "instance", f"pile_{k}", pile)
            write(document, folder / f"pile_{k}.json")
        return folder

    return make


@pytest.fixture
def background():
    """Return a function that starts a Python module; what is left of it is ended with the test."""
    started = []

    def start(*command, **more):
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, command)],
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "text": True, **more},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
