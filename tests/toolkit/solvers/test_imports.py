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


def test_a_formulation_in_highs_loads_nothing_it_does_not_need(root):
    done = run(
        "import sys, gadgetopt\n"
        f"tiny = gadgetopt.read({str(root / 'instances/quickstart/parallel_machines.json')!r})\n"
        "print(gadgetopt.solve(tiny, 'assignment@highs').status)\n"
        "print([m for m in ('pyomo.core', 'pyomo.environ', 'scipy.sparse', 'scipy.stats',\n"
        "                   'numpy.f2py', 'numpy.ma') if m in sys.modules])\n"
        "import numpy as np\n"
        "print('f2py' in dir(np), 'f2py' in np.__all__, np.ma.array([1, 2]).sum())"
    )
    expected = "optimal\n['pyomo.core', 'scipy.sparse']\nTrue True 3\n"
    assert done.stdout == expected, done.stderr


def test_scipy_before_pyomo_loads_no_statistics_until_pyomo_asks():
    done = run(
        "import sys, scipy.sparse\n"
        "from gadgetopt.numbers.pyomo_numbers import spare_imports\n"
        "spare_imports()\n"
        "import gadgetopt.solvers.persistent\n"
        "print([m for m in ('pyomo.core', 'scipy.stats') if m in sys.modules])\n"
        "import scipy, pyomo.environ\n"
        "from pyomo.common import dependencies\n"
        "print(bool(dependencies.scipy_available), dependencies.scipy.stats.norm.cdf(0))\n"
        "print(scipy is sys.modules['scipy'], scipy.sparse.eye_array(2).nnz)"
    )
    assert done.stdout == "['pyomo.core']\nTrue 0.5\nTrue 2\n", done.stderr


def test_a_bound_that_is_exact_without_it_loads_no_linear_algebra(root):
    done = run(
        "import sys, gadgetopt\n"
        f"tiny = gadgetopt.read({str(root / 'instances/quickstart/knapsack.json')!r})\n"
        "print(gadgetopt.solve(tiny, 'direct@highs').status)\n"
        "print([m for m in ('scipy.sparse', 'scipy.linalg') if m in sys.modules])"
    )
    assert done.stdout == "optimal\n['scipy.sparse']\n", done.stderr


def test_missing_scip_names_the_extra():
    # None in sys.modules is how Python itself marks a module that cannot be imported.
    done = run(
        "import sys; sys.modules['pyscipopt'] = None\n"
        "from gadgetopt.solvers import import_backend\n"
        "import_backend('scip')"
    )
    assert "InputError: backend scip needs the extra `minlp`" in done.stderr
