"""Solvers behind one function: compile a Pyomo model, solve it, check and load the incumbent.

standard_form        Pyomo models compiled into arrays (compiler, linear_terms, domains)
exact_form           the same model in exact numbers
exact_optimum        optima of linear programs in rational numbers
linear               compile, solve, check and load a linear model
recheck              an incumbent checked against rows and bounds, without the solver
highs                HiGHS (scaling: units)
persistent           a linear program that stays in HiGHS while it grows
columns              the columns of a restricted master, and what each stands for
cpsat                CP-SAT (to_cpsat: the model in integers)
through_pyomo        SCIP, GUROBI, CPLEX, XPRESS, CBC, GLPK; nonlinear models
formulations         formulations as methods: the gate of all models, backends, options, measures
dual_bounds          dual bounds of linear programs from duals, in exact arithmetic
outcome              what a backend reports
interrupt            Ctrl-C during a solve
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    import numpy as np
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

BACKENDS = ("highs", "cpsat", "scip")

#: Further solvers, used where they are installed; see `gadgetopt.solvers.formulations.backends`.
OTHER_BACKENDS = ("gurobi", "cplex", "xpress", "cbc", "glpk")

#: Backends that take nonlinear models.
NONLINEAR = ("scip", "gurobi")

#: The package that each backend needs.
PACKAGES = {"highs": "highspy", "cpsat": "ortools", "scip": "pyscipopt"}

_MODULES = {"scip": "through_pyomo.scip"} | dict.fromkeys(
    OTHER_BACKENDS, "through_pyomo.other_solvers"
)


def import_backend(name: str) -> Any:
    """Import and return the module of a backend.

    Raises
    ------
    InputError
        If there is no such backend, or its package is missing or cannot be loaded.
    """
    if name not in (*BACKENDS, *OTHER_BACKENDS):
        known = ", ".join((*BACKENDS, *OTHER_BACKENDS))
        raise InputError(f"backend {name!r} is not one of {known}")
    try:
        return importlib.import_module(f"gadgetopt.solvers.{_MODULES.get(name, name)}")
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
    """Draw a seed that every backend accepts; 0 without a generator."""
    return 0 if rng is None else int(rng.integers(2**31 - 1))


def solve_model(
    model: ConcreteModel,
    backend: str = "highs",
    limits: Limits | None = None,
    seed: int = 0,
    warm_start: bool = False,
    options: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Solve a Pyomo model and load the incumbent into its variables.

    Parameters
    ----------
    model : ConcreteModel
        Linear; over integer variables for "cpsat"; for "scip" and "gurobi" also nonlinear. Linear
        rows are collected in exact arithmetic, each number read as it was written: constants,
        repeated and fixed variables, products with parameters, integers of any size.
    backend : str
        "highs", "cpsat" or "scip"; "gurobi", "cplex", "xpress", "cbc" or "glpk" if installed.
    limits : Limits, optional
        Default: one thread, no other limit.
    seed : int
    warm_start : bool
        Start from the values that the model's variables hold.
    options : mapping, optional
        Further options of the solver, by its own names.

    Returns
    -------
    SolverOutcome
        With the seconds of the phases "compile", "pass" and "solve" and the backend's version.
        Integers are rounded, and rows, bounds and objective are checked again: exactly where all
        variables are integers, else within 1e-6 of a row's own size. The continuous variables of a
        mixed model are then computed in rational numbers, with its integers fixed, and the
        objective is exact; where that is not reached, the status is `FEASIBLE`. Where an incumbent
        fails, or a row or the costs are beyond what doubles resolve, CP-SAT decides if it can; lost
        costs without its word leave `FEASIBLE`; a wrong incumbent that cannot be mended gives the
        status `ERROR` (`NO_SOLUTION` if a limit was hit) with a reason, and nothing is loaded. A
        bound that the incumbent refutes is dropped. A linear program has its `exact` optimum in
        rational numbers where every number of the model is known exactly.
        A nonlinear model is solved again with another seed; `reason` says so where its optimum is
        not confirmed. `OPTIMAL` means that objective and bound meet; a run that ended because of
        `limits.rel_gap` is `FEASIBLE` with the limit "gap".

    Raises
    ------
    InputError
        If the backend is unknown or not installed, or a coefficient or bound is not a number, or
        `model` is no model.
    ModelRefused
        If the backend cannot represent the model exactly.
    """
    from gadgetopt.solvers.exact_optimum.values import forget_exact_values
    from gadgetopt.solvers.formulations.gate import check_is_model
    from gadgetopt.solvers.linear import solve_linear
    from gadgetopt.solvers.standard_form import NotLinearModel

    limits = limits or Limits()
    import_backend(backend)
    check_is_model(model)
    forget_exact_values(model)
    try:
        outcome = solve_linear(model, backend, limits, seed, warm_start, options)
    except NotLinearModel:
        if backend not in NONLINEAR:
            raise
        from gadgetopt.solvers.through_pyomo.nonlinear import solve_nonlinear

        run = _nonlinear_run(backend, options)
        outcome = solve_nonlinear(model, run, backend, limits, seed, warm_start)
    if backend in PACKAGES:
        package = PACKAGES[backend]
        outcome.versions |= {package: importlib.metadata.version(package)}
    return outcome


def solve_arrays(
    form: StandardForm,
    backend: str = "highs",
    limits: Limits | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Solve a linear model that is given as arrays and exact numbers.

    Parameters, outcome and errors are those of `solve_model`; nothing is loaded, and the outcome
    has the values.
    """
    from gadgetopt.solvers.linear import solve_form

    import_backend(backend)
    outcome = solve_form(form, backend, limits or Limits(), seed, given=options)
    if backend in PACKAGES:
        package = PACKAGES[backend]
        outcome.versions |= {package: importlib.metadata.version(package)}
    return outcome


def _nonlinear_run(backend: str, options: Mapping[str, Any] | None) -> Any:
    """Return how a backend solves a plain model that is not linear."""
    solver = import_backend(backend)
    if backend == "scip":
        return lambda plain, limits, seed, report: solver.solve_plain(
            plain, limits, seed, None, options, report
        )
    return lambda plain, limits, seed, _: solver.solve_plain(
        plain, limits, seed, options, backend=backend, linear=False
    )
