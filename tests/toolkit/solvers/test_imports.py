"""Solvers coexist in one process, and are loaded only when used."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [("highspy", "ortools.sat.python.cp_model"), ("ortools.sat.python.cp_model", "highspy")],
)
def test_highs_and_ortools_load_in_either_order(first, second):
    done = run(f"import {first}, {second}; print(1)")
    assert done.stdout == "1\n", done.stderr


def test_importing_the_solver_layer_loads_no_solver():
    done = run(
        "import sys, gadgetopt, gadgetopt.solvers\n"
        "print([m for m in ('highspy', 'ortools', 'pyscipopt', 'pyomo') if m in sys.modules])"
    )
    assert done.stdout == "[]\n", done.stderr


def test_a_formulation_in_highs_loads_no_statistics(root):
    done = run(
        "import sys, gadgetopt\n"
        f"tiny = gadgetopt.read({str(root / 'instances/quickstart/parallel_machines.json')!r})\n"
        "print(gadgetopt.solve(tiny, 'assignment@highs').status)\n"
        "print([m for m in ('pyomo.core', 'scipy.sparse', 'scipy.stats') if m in sys.modules])"
    )
    assert done.stdout == "optimal\n['pyomo.core', 'scipy.sparse']\n", done.stderr


def test_missing_scip_names_the_extra():
    # None in sys.modules is how Python itself marks a module that cannot be imported.
    done = run(
        "import sys; sys.modules['pyscipopt'] = None\n"
        "from gadgetopt.solvers import import_backend\n"
        "import_backend('scip')"
    )
    assert "InputError: backend scip needs the extra `minlp`" in done.stderr
