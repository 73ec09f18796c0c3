"""The declaration is a table of contents: each room names its own parts."""

import importlib
import subprocess
import sys
from pathlib import Path

import gadgetopt.models.spp as system


def test_the_declaration_is_short_and_has_the_parts_of_all_rooms():
    assert len(Path(system.__file__).read_text().splitlines()) <= 80
    for method in system.PROBLEM.methods:  # each part lies in the room that declares it
        module = importlib.import_module(system.__name__ + "." + method.room.replace("/", "."))
        assert method.run.resolve().__module__.startswith(module.__name__ + ".")


def test_declaring_imports_nothing_heavy():
    heavy = ("numpy", "pydantic", "pandas", "plotly", "pyomo", "highspy", "ortools", "networkx")
    code = (
        "import sys, gadgetopt.models.spp; "
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
