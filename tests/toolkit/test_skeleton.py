"""The skeleton of CONTRIBUTING's recipe is a complete system, and its copy joins the library."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skeleton

from gadgetopt.system.files import Document
from gadgetopt.system.methods import methods
from gadgetopt.trust.run import solve

SOURCE = Path(skeleton.__file__)


@pytest.mark.parametrize("seed", range(20))
def test_its_methods_agree_with_brute_force_and_its_theorem_holds(seed):
    instance = skeleton.quickstart(np.random.default_rng(seed))
    values = (
        skeleton.evaluate(instance, skeleton.Choice(chosen=chosen))
        for k in range(len(instance.weight) + 1)
        for chosen in itertools.combinations(range(len(instance.weight)), k)
    )
    best = max(found.objective for found in values if found.feasible)
    document = Document(skeleton.PROBLEM, "instance", "test", instance)
    for method in methods(skeleton.PROBLEM):
        found = solve(document, method.name)
        if method.kind == "exact":
            assert found.objective == found.bound == best
        else:
            assert found.objective <= best <= 2 * found.objective


def test_copied_and_registered_it_is_in_every_command(tmp_path):
    # A package of its own with its entry point, as a third party would install it.
    (tmp_path / "mine.py").write_text(SOURCE.read_text().replace('"skeleton"', '"mine"'))
    metadata = tmp_path / "mine-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[gadgetopt.problems]\nmine = mine:PROBLEM\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def gadgetopt(*arguments):
        command = [sys.executable, "-m", "gadgetopt", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = gadgetopt("list", "mine")
    assert "plain@cpsat" in listed
    assert "half" in listed
    assert "the value of what fits" in gadgetopt("show", "mine", "plain")
    gadgetopt("generate", "mine", "--preset", "quickstart", "--out", "drawn")
    (drawn,) = (tmp_path / "drawn").glob("*.json")
    assert '"optimal"' in gadgetopt("compare", str(drawn), "--json", "--workers", "1")
