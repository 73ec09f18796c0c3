"""The public names of `gadgetopt`, for notebooks, `help` and type checkers."""

import pydoc
import subprocess
import sys

import pytest

import gadgetopt


def test_dir_lists_the_public_names_and_no_others():
    assert set(dir(gadgetopt)) == {*gadgetopt.__all__, "__version__"}
    for name in gadgetopt.__all__:
        assert getattr(gadgetopt, name) is not None


def test_help_describes_every_public_name():
    text = pydoc.render_doc(gadgetopt, renderer=pydoc.plaintext)
    head, _, rest = text.partition("PACKAGE CONTENTS")
    for name in gadgetopt.__all__:
        assert f"{name}(" in rest  # with its signature
        assert name in head


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = gadgetopt.nope


SNIPPET = """
from gadgetopt.system.data import Instance
import gadgetopt

class Mine(Instance):
    jobs: int

untold = gadgetopt.read("x.json")
told: gadgetopt.Document[Mine] = gadgetopt.read("x.json")
print(untold.data.jobs, told.data.jobs)
result: gadgetopt.Result = gadgetopt.solve(untold, "method")
pages: dict[str, int] = gadgetopt.write_report("runs.sqlite")
gadgetopt.nope()
told.data.jbos
result.objectiv
"""


@pytest.mark.slow
def test_a_type_checker_finds_misspelt_names(tmp_path, root):
    (tmp_path / "snippet.py").write_text(SNIPPET)
    # The cache of the project's own check: what it read need not be read again.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", tmp_path / "snippet.py"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 3, done.stdout
    for error, name in zip(errors, ("nope", "jbos", "objectiv"), strict=True):
        assert f'no attribute "{name}"' in error
