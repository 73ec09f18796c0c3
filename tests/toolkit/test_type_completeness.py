"""Type checkers of users see written types, as basedpyright measures them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "type_completeness"
BESIDE = Path(sys.executable).with_name("basedpyright")


@pytest.mark.slow
@pytest.mark.skipif(
    not BESIDE.exists() and not shutil.which("basedpyright"),
    reason="basedpyright is not installed",
)
def test_more_than_96_percent_of_the_public_symbols_have_a_written_type():
    run = subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr
