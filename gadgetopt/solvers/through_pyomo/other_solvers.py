"""GUROBI, CPLEX, XPRESS, CBC and GLPK through Pyomo, where they are installed.

Their word is taken only as far as it goes: a bound is one that the solver states of the whole
model, or the optimum of a run that ended by itself with a relative gap of 0; what it calls
unbounded counts only where its interface tells that from infeasible.
"""

from __future__ import annotations

import importlib.metadata
import logging
import math
import re
import subprocess
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pyomo.common.errors import ApplicationError, InfeasibleConstraintException
from pyomo.core.base import ConcreteModel, Objective, Var, maximize, value
from pyomo.opt import SolverFactory, SolverStatus, TerminationCondition

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.constant import with_constant, without_constant
from gadgetopt.solvers.formulations.backends import INSTALL, installed, program
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.scaling import scaling_of
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.solvers.through_pyomo.incumbent import LogStream, closed, finite
from gadgetopt.solvers.through_pyomo.plain import Plain, plain_model, told_apart
from gadgetopt.system.result import Limits, Status, solver_log

#: Seeds are below this for every solver. By definition.
LARGEST_SEED = 2**31 - 1
#: Least time limit that the programs accept. By definition.
LEAST_TIME_S = 1e-3


@dataclass(frozen=True)
class _Answer:
    """What a solver reports; `end` is the name of Pyomo's termination condition."""

    end: str
    found: Mapping[Any, float] | None
    bound: float | None
    nodes: int | None = None


def solve_form(
    form: StandardForm,
    limits: Limits,
    seed: int = 0,
    warm_start: Floats | None = None,
    given: Mapping[str, Any] | None = None,
    *,
    backend: str,
) -> SolverOutcome:
    """Solve a compiled linear model by another solver.

    Parameters
    ----------
    form : StandardForm
    limits : Limits
    seed : int
    warm_start : ndarray or None
        Ignored: the interfaces differ in what they take.
    given : mapping, optional
        Further options of the solver.
    backend : "gurobi", "cplex", "xpress", "cbc" or "glpk"

    Raises
    ------
    InputError, ModelRefused
        As `solve_plain`.
    """
    whole, form = form, without_constant(form)
    scaling = scaling_of(form)
    form = scaling.scaled(form)
    clock = Clock(limits)
    outcome = solve_plain(plain_model(form), limits, seed, given, backend=backend)
    if outcome.status is Status.UNBOUNDED:
        outcome = told_apart(form, outcome, clock.limits(), seed)
    return with_constant(scaling.restored(outcome), whole)


def solve_plain(
    plain: Plain,
    limits: Limits,
    seed: int = 0,
    given: Mapping[str, Any] | None = None,
    *,
    backend: str,
    linear: bool = True,
) -> SolverOutcome:
    """Solve a plain Pyomo model by another solver.

    Ctrl-C ends the solve without an incumbent. There is no trace, and `limits.memory_mb` is left to
    the process that supervises the run.

    Parameters
    ----------
    plain : Plain
        Linear; for GUROBI of any kind that its own expressions cover.
    limits : Limits
    seed : int
    given : mapping, optional
        Further options of the solver.
    backend : "gurobi", "cplex", "xpress", "cbc" or "glpk"
    linear : bool

    Raises
    ------
    InputError
        If the solver is not installed.
    ModelRefused
        If the solver does not accept the model, its size under the licence, or an option.
    """
    if not installed(backend):
        raise InputError(f"backend {backend} is not installed; it needs {INSTALL[backend]}")
    model = plain.model
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of licences and of Pyomo's use of the interfaces
            if backend == "gurobi":
                answer = _by_gurobi(model, linear, limits, seed, dict(given or {}))
            else:
                answer = _by_legacy_interface(model, backend, limits, seed, dict(given or {}))
    except InfeasibleConstraintException as error:
        return SolverOutcome(Status.INFEASIBLE, reason=str(error))
    except (ImportError, ApplicationError) as error:
        raise InputError(f"backend {backend} cannot be used: {_line(error)}") from error
    except (ModelRefused, InputError, MemoryError):
        raise
    except Exception as error:  # each solver raises errors of its own
        raise ModelRefused(f"{backend} does not accept the model: {_line(error)}") from error
    outcome = _outcome(model, backend, answer, limits, time.perf_counter() - start)
    if answer.found is not None and outcome.status in (Status.OPTIMAL, Status.FEASIBLE):
        outcome.values = plain.values(answer.found)
        plain.start_from(outcome.values)
        # CBC and GLPK state no bound; an option may have made them stop short of a proof.
        states_none = backend in ("cbc", "glpk")
        _settle(model, outcome, proves=states_none and limits.rel_gap == 0 and not given)
        if outcome.limit_hit == "gap" and states_none and given:
            outcome.limit_hit = "solver_option"
    outcome.phases_s = {"solve": time.perf_counter() - start}
    outcome.counts = {} if answer.nodes is None else {"nodes": answer.nodes}
    outcome.versions = _version(backend)
    return outcome


def _line(error: BaseException) -> str:
    """Return an error's message as one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300] or type(error).__name__


def _is_mip(model: ConcreteModel) -> bool:
    return any(not v.fixed and not v.is_continuous() for v in model.component_data_objects(Var))


def _objective(model: ConcreteModel) -> Any:
    return next(model.component_data_objects(Objective, active=True))


def _outcome(
    model: ConcreteModel, backend: str, answer: _Answer, limits: Limits, elapsed_s: float
) -> SolverOutcome:
    """Return status, bound and limit of an answer; the objective follows from the incumbent."""
    end = answer.end
    if end in ("infeasible", "provenInfeasible"):
        return SolverOutcome(Status.INFEASIBLE)
    if end in ("unbounded", "infeasibleOrUnbounded"):
        # It may be said of the linear relaxation only.
        reason = f"{backend} cannot tell whether the model is unbounded"
        return SolverOutcome(Status.UNBOUNDED, reason=reason)
    optimal = end in ("optimal", "convergenceCriteriaSatisfied")
    limit = None
    if not optimal:
        limit = _LIMITS.get(end)
        # Some interfaces call the end of the time "other" or an error.
        late = limits.time_s is not None and elapsed_s >= limits.time_s
        if limit in (None, "time_s"):
            limit = "time_s" if late else None
        if limit is None and answer.found is None:
            return SolverOutcome(Status.ERROR, reason=f"{backend} ended with: {end}")
    # The bound of a linear program that was stopped would be a value on the way.
    bound = answer.bound if optimal or _is_mip(model) else None
    if answer.found is None:
        return SolverOutcome(Status.NO_SOLUTION, bound=bound, limit_hit=limit)
    status = Status.OPTIMAL if optimal else Status.FEASIBLE
    return SolverOutcome(status, bound=bound, limit_hit=limit)


#: Limits by Pyomo's termination conditions. GLPK says `feasible` when its time is up.
_LIMITS = {
    "maxTimeLimit": "time_s",
    "feasible": "time_s",
    "maxIterations": "solver_option",
    "maxEvaluations": "solver_option",
    "iterationLimit": "solver_option",
    "objectiveLimit": "solver_option",
    "resourceInterrupt": "interrupted",
    "userInterrupt": "interrupted",
    "interrupted": "interrupted",
}


def _settle(model: ConcreteModel, outcome: SolverOutcome, *, proves: bool) -> None:
    """Set the objective of the checked incumbent; the status is optimal only if bounds meet.

    Parameters
    ----------
    proves : bool
        True if the end of a run proves its incumbent optimal, without stating a bound.
    """
    objective = _objective(model)
    outcome.objective = finite(value(objective.expr))
    if outcome.status is not Status.OPTIMAL:
        return
    if proves:
        outcome.bound = outcome.objective
    x, bound = outcome.objective, outcome.bound
    if not closed(None if x is None else float(x), None if bound is None else float(bound)):
        outcome.status = Status.FEASIBLE
        outcome.limit_hit = outcome.limit_hit or "gap"


# -- GUROBI ----------------------------------------------------------------------------------------


def _by_gurobi(
    model: ConcreteModel, linear: bool, limits: Limits, seed: int, given: dict[str, Any]
) -> _Answer:
    from pyomo.contrib.solver.common.factory import SolverFactory as NewSolverFactory
    from pyomo.contrib.solver.common.results import SolutionStatus

    solver = NewSolverFactory("gurobi_direct" if linear else "gurobi_direct_minlp")
    results = solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        time_limit=limits.time_s,
        threads=limits.threads,
        rel_gap=limits.rel_gap,
        solver_options={**given, "Seed": seed % LARGEST_SEED},
        tee=[LogStream()] if solver_log.isEnabledFor(logging.INFO) else False,
    )
    has = results.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal)
    found = results.solution_loader.get_vars() if has else None
    end = results.termination_condition.name
    info = results.extra_info
    nodes = info.NodeCount if "NodeCount" in info else None
    counted = int(nodes) if isinstance(nodes, int | float) else None
    return _Answer(end, found, finite(results.objective_bound), counted)


# -- the others ------------------------------------------------------------------------------------


def _by_legacy_interface(
    model: ConcreteModel, backend: str, limits: Limits, seed: int, given: dict[str, Any]
) -> _Answer:
    names = {"cplex": "cplex_direct", "xpress": "xpress_direct", "cbc": "cbc", "glpk": "glpk"}
    executable = {} if backend in ("cplex", "xpress") else {"executable": program(backend)}
    solver = SolverFactory(names[backend], **executable)
    for name, setting in {**given, **_settings(backend, limits, seed % LARGEST_SEED)}.items():
        solver.options[name] = setting
    results = solver.solve(
        model,
        load_solutions=False,
        tee=solver_log.isEnabledFor(logging.INFO),
        **_time(backend, limits),
    )
    end = TerminationCondition(results.solver.termination_condition).name
    return _Answer(end, _found(model, results), _bound(model, backend, results))


def _settings(backend: str, limits: Limits, seed: int) -> dict[str, Any]:
    """Return the solver's own names of limits and seed; 1e-4 is the usual default of the gap."""
    gap, threads = limits.rel_gap, limits.threads
    time_s = {} if limits.time_s is None else {"timelimit": max(LEAST_TIME_S, limits.time_s)}
    if backend == "cplex":
        return {
            "mip_tolerances_mipgap": gap,
            "threads": threads,
            "randomseed": seed,
            **time_s,
        }
    if backend == "xpress":
        return {"miprelstop": gap, "threads": threads, "randomseed": seed, **time_s}
    if backend == "cbc":
        # CBC reads `threads` as 0 unless it was built for several.
        more = {"threads": threads} if threads > 1 else {}
        return {"ratioGap": gap, "randomCbcSeed": seed, **more}
    return {"mipgap": gap, "seed": seed}


def _time(backend: str, limits: Limits) -> dict[str, Any]:
    """Return the time limit of a program, which Pyomo passes; GLPK takes whole seconds."""
    if backend not in ("cbc", "glpk") or limits.time_s is None:
        return {}
    time_s = max(LEAST_TIME_S, limits.time_s)
    return {"timelimit": math.ceil(time_s) if backend == "glpk" else time_s}


def _found(model: ConcreteModel, results: Any) -> Mapping[Any, float] | None:
    """Return the values of an incumbent by variable."""
    from pyomo.common.collections import ComponentMap

    if len(results.solution) == 0:
        return None
    before = [(v, v.value) for v in model.component_data_objects(Var)]
    for v, _ in before:
        if not v.fixed:
            v.set_value(None, skip_validation=True)
    results.solver.status = SolverStatus.ok  # others are loaded with a warning
    model.solutions.load_from(results)
    found = ComponentMap((v, v.value) for v, _ in before if not v.fixed and v.value is not None)
    for v, x in before:
        if not v.fixed:
            v.set_value(x, skip_validation=True)
    return found if len(found) else None


def _bound(model: ConcreteModel, backend: str, results: Any) -> float | None:
    """Return the dual bound that CPLEX or XPRESS states.

    What Pyomo reads from the logs of CBC and GLPK is no bound, or may be one of another model.
    """
    if backend in ("cbc", "glpk"):
        return None
    objective = _objective(model)
    problem = results.problem
    side = problem.upper_bound if objective.sense == maximize else problem.lower_bound
    try:
        return finite(float(side))
    except (TypeError, ValueError):
        return None


def _version(backend: str) -> dict[str, str]:
    package = {"gurobi": "gurobipy"}.get(backend, backend)
    if backend in ("cbc", "glpk"):
        return {package: program_version(backend)}
    try:
        return {package: importlib.metadata.version(package)}
    except importlib.metadata.PackageNotFoundError:
        return {package: "unknown"}


@cache
def program_version(backend: str) -> str:
    """Return the version that CBC or GLPK tells of itself, "unknown" if it tells none."""
    asked = {"cbc": "-quit", "glpk": "--version"}[backend]
    try:
        said = subprocess.run(
            [str(program(backend)), asked], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = re.search(r"(?:Version:|CBC|GLPK LP/MIP Solver,?)\s+v?(\S+)", said)
    return found[1] if found else "unknown"
