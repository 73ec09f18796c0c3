"""Backends behind one function: compile a Pyomo model once, solve it, load the incumbent."""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.result import Limits, Status

if TYPE_CHECKING:
    import numpy as np
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.outcome import SolverOutcome

BACKENDS = ("highs", "cpsat", "scip")

#: What each backend is installed as.
PACKAGES = {"highs": "highspy", "cpsat": "ortools", "scip": "pyscipopt"}


def import_backend(name: str) -> Any:
    """Import and return the module of a backend, `gadgetopt.solvers.<name>`.

    Raises
    ------
    InputError
        If there is no such backend, or its package is missing or cannot be loaded.
    """
    if name not in BACKENDS:
        raise InputError(f"backend {name!r} is not one of {', '.join(BACKENDS)}")
    try:
        return importlib.import_module(f"gadgetopt.solvers.{name}")
    except ModuleNotFoundError as error:
        if name == "scip":
            raise InputError(
                "backend scip needs the extra `minlp`: pip install 'gadgetopt[minlp]'"
            ) from error
        raise InputError(f"backend {name} needs the package {PACKAGES[name]}: {error}") from error
    except ImportError as error:
        raise InputError(
            "highspy 1.15 and ortools cannot be loaded into one process; install 'highspy<1.15' "
            f"({error})"
        ) from error


def seed_of(rng: np.random.Generator | None) -> int:
    """Draw a seed that every backend takes; 0 without a generator."""
    return 0 if rng is None else int(rng.integers(2**31 - 1))


def solve_model(
    model: ConcreteModel,
    backend: str = "highs",
    limits: Limits | None = None,
    seed: int = 0,
    warm_start: bool = False,
) -> SolverOutcome:
    """Solve a Pyomo model and load the incumbent into its variables.

    Parameters
    ----------
    model : ConcreteModel
        Linear for "highs"; linear over integer variables for "cpsat"; anything for "scip".
    backend : "highs", "cpsat" or "scip"
    limits : Limits, optional
        Unlimited on one thread if left out.
    seed : int
    warm_start : bool
        Start from the values that the model's variables hold.

    Returns
    -------
    SolverOutcome
        With the seconds of the phases "compile", "pass" and "solve" and the backend's version. The
        status is `ERROR` if the incumbent leaves an integer variable more than 1e-5 from an
        integer; nothing is loaded then.

    Raises
    ------
    InputError
        If the backend is unknown or not installed, or the model holds something that is no number.
    ModelRefused
        If the backend cannot represent the model exactly.
    """
    limits = limits or Limits()
    solver = import_backend(backend)
    if backend == "scip":
        outcome: SolverOutcome = solver.solve_pyomo(model, limits, seed, warm_start)
    else:
        outcome = _solve_linear(solver, model, limits, seed, warm_start)
    package = PACKAGES[backend]
    outcome.versions = {package: importlib.metadata.version(package)}
    return outcome


def _solve_linear(
    solver: Any, model: ConcreteModel, limits: Limits, seed: int, warm_start: bool
) -> SolverOutcome:
    from gadgetopt.certificate import rational_duals
    from gadgetopt.solvers import standard_form
    from gadgetopt.solvers.outcome import SolverOutcome

    start = time.perf_counter()
    try:
        form = standard_form.compile_model(model)
    except standard_form.TriviallyInfeasibleError as error:
        phases = {"compile": time.perf_counter() - start, "pass": 0.0, "solve": 0.0}
        return SolverOutcome(Status.INFEASIBLE, reason=str(error), phases_s=phases)
    compiled = time.perf_counter()
    values = standard_form.current_values(form) if warm_start else None
    outcome: SolverOutcome = solver.solve_form(form, limits, seed, values)
    outcome.phases_s = {
        "compile": compiled - start,
        "pass": outcome.phases_s.get("pass", 0.0),
        "solve": outcome.phases_s.get("solve", 0.0),
    }
    if outcome.values is not None and outcome.status is not Status.ERROR:
        try:
            outcome.values = standard_form.rounded_values(form, outcome.values)
        except standard_form.NotIntegralError as error:
            outcome.status, outcome.reason = Status.ERROR, str(error)
        else:
            standard_form.load_values(form, outcome.values)
    if outcome.row_duals is not None:
        proved = rational_duals(form, outcome.row_duals)
        outcome.exact_duals = None if proved is None else proved[1]
    return outcome
