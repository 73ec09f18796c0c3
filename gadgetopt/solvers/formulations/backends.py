"""Which backends can solve a formulation, and whether they are installed here."""

from __future__ import annotations

import importlib
import importlib.util
import shutil

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Formulation

#: Solvers of linear models through Pyomo; GUROBI also takes products and other nonlinear terms.
THROUGH_PYOMO = ("gurobi", "cplex", "xpress", "cbc", "glpk")

_LINEAR = ("highs", "scip", *THROUGH_PYOMO)
_NONLINEAR = ("scip", "gurobi")

#: What to install for a backend that does not come with gadgetopt.
INSTALL = {
    "scip": "pip install 'gadgetopt[minlp]'",
    "gurobi": "pip install gurobipy, and a licence beyond 2000 variables",
    "cplex": "pip install cplex, and a licence beyond 1000 variables",
    "xpress": "pip install xpress, and a licence beyond 5000 rows and columns",
    "cbc": "the program cbc, such as by apt install coinor-cbc, or pip install cbcbox",
    "glpk": "the program glpsol, such as by apt install glpk-utils",
}

_MODULES = {"scip": "pyscipopt", "gurobi": "gurobipy", "cplex": "cplex", "xpress": "xpress"}


def capable(formulation: Formulation) -> tuple[str, ...]:
    """Return the backends that can solve a formulation, declared ones first."""
    found = _NONLINEAR if formulation.model_class == "MINLP" else _LINEAR
    if formulation.model_class == "ILP":
        found = (*found, "cpsat")
    return tuple(dict.fromkeys((*formulation.backends, *found)))


def check_backend(problem: str, formulation: Formulation, backend: str) -> None:
    """Refuse a backend that cannot solve a formulation, or is not installed.

    Raises
    ------
    InputError
        With the backends that can, or what to install.
    """
    what = f"method {f'{formulation.name}@{backend}'!r}"
    able = capable(formulation)
    if backend not in able:
        known = ", ".join(able)
        raise InputError(
            f"{what}: {problem} has no such method: {backend!r} does not solve the "
            f"{formulation.model_class} {formulation.name}, expected one of {known}"
        )
    if not installed(backend):
        raise InputError(f"{what}: {backend} is not installed; it needs {INSTALL[backend]}")


def installed(backend: str) -> bool:
    """Return True if a backend's package or program is found."""
    if backend in _MODULES:
        return importlib.util.find_spec(_MODULES[backend]) is not None
    if backend in ("cbc", "glpk"):
        return program(backend) is not None
    return True


def program(backend: str) -> str | None:
    """Return the path of the program of CBC or GLPK; None if there is none."""
    found = shutil.which({"cbc": "cbc", "glpk": "glpsol"}[backend])
    if found is None and backend == "cbc" and importlib.util.find_spec("cbcbox") is not None:
        found = str(importlib.import_module("cbcbox").cbc_bin_path())
    return found
