"""The declaration is a table of contents: each room names its own parts."""

import subprocess
import sys
from pathlib import Path

import gadgetopt.models.parallel_machines as system


def test_the_declaration_is_short_and_has_the_parts_of_all_rooms():
    assert len(Path(system.__file__).read_text().splitlines()) <= 80
    rooms = ("algorithms", "formulations", "heuristics", "exact", "bounds")
    declared = [m for room in rooms for m in getattr(system, room).METHODS]
    assert {m.name for m in declared} == {m.name for m in system.PROBLEM.methods}
    for method in declared:  # each part lies in the room that declares it
        room = method.run.package.rpartition(".")[2]
        assert method in getattr(system, room).METHODS


def test_declaring_imports_nothing_heavy():
    heavy = ("numpy", "pydantic", "pandas", "plotly", "pyomo", "highspy", "ortools")
    code = (
        "import sys, gadgetopt.models.parallel_machines; "
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
