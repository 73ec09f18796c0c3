"""SCIP: nonconvex models through Pyomo's own interface."""

from __future__ import annotations

import io
import logging
import math
import time
from typing import Any

import pyscipopt  # noqa: F401  # the extra `minlp`; missing, this import says so
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.core.base import ConcreteModel, Constraint, Var, value
from pyomo.core.expr.numeric_expr import SumExpression

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.domains import value_nearest_zero
from gadgetopt.solvers.linear_terms import NotExactError, TermReader
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import (
    INTEGRALITY_TOLERANCE,
    NotIntegralError,
)
from gadgetopt.system.result import Limits, Status, solver_log

#: Allowed violation of a row, relative to the largest of 1, its side and its terms: ten times
#: SCIP's own tolerance, which applies to its transformed problem.
FEASIBILITY_TOLERANCE = 1e-5
#: Relative distance of an objective to its bound below which the solve counts as closed.
CLOSED = 1e-6
#: Largest seed that SCIP accepts.
LARGEST_SEED = 2**31 - 1


class _LogStream(io.TextIOBase):
    """Passes complete lines to the solver log."""

    def __init__(self) -> None:
        self.rest = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            solver_log.info(line)
        return len(text)


def solve_pyomo(
    model: ConcreteModel, limits: Limits, seed: int = 0, warm_start: bool = False
) -> SolverOutcome:
    """Solve a Pyomo model, linear or not, with SCIP and load the incumbent into its variables.

    SCIP handles Ctrl-C itself. There is no trace.

    Parameters
    ----------
    model : ConcreteModel
    limits : Limits
    seed : int
    warm_start : bool
        Start from the values of the integer variables.

    Returns
    -------
    SolverOutcome
        `values` is None: the incumbent is in the model's variables. The status is `ERROR` if an
        integer variable is more than 1e-5 from an integer, or if the incumbent, its integers
        rounded, violates a row: exactly where it is linear over integers, else by more than
        `FEASIBILITY_TOLERANCE`.

    Raises
    ------
    ModelRefused
        If Pyomo cannot express the model for SCIP.
    """
    solver = SolverFactory("scip_direct")
    options: dict[str, Any] = {
        "randomization/randomseedshift": seed % LARGEST_SEED,
        "limits/gap": limits.rel_gap,
    }
    if limits.memory_mb is not None:
        options["limits/memory"] = limits.memory_mb
    start = time.perf_counter()
    try:
        results = solver.solve(
            model,
            load_solutions=False,
            raise_exception_on_nonoptimal_result=False,
            time_limit=limits.time_s,
            threads=limits.threads,
            warmstart_discrete_vars=warm_start,
            solver_options=options,
            tee=[_LogStream()] if solver_log.isEnabledFor(logging.INFO) else False,
        )
    except InfeasibleConstraintException as error:
        return SolverOutcome(Status.INFEASIBLE, reason=str(error))
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ModelRefused(f"SCIP does not accept the model: {error}") from error
    outcome = _read(results, limits)
    if outcome.status in (Status.OPTIMAL, Status.FEASIBLE):
        try:
            _load(model, results)
        except (NotIntegralError, TriviallyInfeasibleError) as error:
            outcome.status, outcome.reason = Status.ERROR, str(error)
        else:
            wrong = _violated(model)
            if wrong is not None:
                outcome.status, outcome.reason = Status.ERROR, f"its incumbent violates {wrong}"
    seconds = time.perf_counter() - start
    optimize = results.timing_info.scip_time
    _measure(outcome, solver)
    outcome.phases_s = {"compile": max(0.0, seconds - optimize), "pass": 0.0, "solve": optimize}
    return outcome


def _measure(outcome: SolverOutcome, solver: Any) -> None:
    """Note the bound at the root and the number of nodes, which Pyomo's results do not have."""
    scip = solver._solver_model
    if scip is None or scip.getNTotalNodes() < 1:
        return
    outcome.counts = {"nodes": int(scip.getNTotalNodes())}
    bound = scip.getDualboundRoot()
    if abs(bound) < scip.infinity():
        outcome.root_bound = float(bound)


def _read(results: Results, limits: Limits) -> SolverOutcome:
    ends = TerminationCondition
    end = results.termination_condition
    if end == ends.provenInfeasible:
        return SolverOutcome(Status.INFEASIBLE)
    if end == ends.unbounded:
        return SolverOutcome(Status.UNBOUNDED)
    if end == ends.infeasibleOrUnbounded:
        return SolverOutcome(
            Status.ERROR, reason="SCIP cannot tell whether the model is unbounded or infeasible"
        )
    limit = {ends.maxTimeLimit: "time_s", ends.interrupted: "interrupted"}.get(end)
    if end == ends.unknown and limits.memory_mb is not None:
        limit = "memory_mb"
    if end != ends.convergenceCriteriaSatisfied and limit is None:
        return SolverOutcome(Status.ERROR, reason=f"SCIP ended with: {end.name}")
    if results.objective_bound is None:
        # A model without an objective has the objective 0.
        results.objective_bound = 0.0
        results.incumbent_objective = 0.0
    bound = _finite(results.objective_bound)
    if results.solution_status == SolutionStatus.noSolution:
        return SolverOutcome(Status.NO_SOLUTION, bound=bound, limit_hit=limit)
    objective = _finite(results.incumbent_objective)
    optimal = end == ends.convergenceCriteriaSatisfied
    if optimal and not _closed(objective, bound):
        optimal, limit = False, "gap"
    return SolverOutcome(
        Status.OPTIMAL if optimal else Status.FEASIBLE,
        objective=objective,
        bound=bound,
        limit_hit=limit,
    )


def _closed(objective: float | None, bound: float | None) -> bool:
    if objective is None or bound is None:
        return False
    return abs(objective - bound) <= CLOSED * max(1.0, abs(objective), abs(bound))


def _finite(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(x)


def _load(model: ConcreteModel, results: Results) -> None:
    found = results.solution_loader.get_vars()
    for v in model.component_data_objects(Var):
        if v.fixed:
            continue
        if v not in found:
            v.set_value(value_nearest_zero(v), skip_validation=True)
            continue
        x = found[v]
        if v.is_integer():
            if abs(x - round(x)) > INTEGRALITY_TOLERANCE:
                raise NotIntegralError(
                    f"{v.name}: the backend returned {x} for an integer variable"
                )
            x = round(x)
        v.set_value(x, skip_validation=True)


def _violated(model: ConcreteModel) -> str | None:
    """Return the name of a constraint that the variables' values violate; None if there is none."""
    reader = TermReader()
    for con in model.component_data_objects(Constraint, active=True):
        if not _holds(reader, con):
            return str(con.name)
    return None


def _holds(reader: TermReader, con: Any) -> bool:
    lower, body, upper = con.to_bounded_expression()
    try:
        linear = reader.read(body)
        low, high = (None if x is None else reader.constant(x) for x in (lower, upper))
        variables = [reader.variables[key] for key in linear.terms]
        if all(v.is_integer() for v in variables):
            pairs = zip(linear.terms.values(), variables, strict=True)
            total = linear.constant + sum(a * int(v.value) for a, v in pairs)
            return (low is None or low <= total) and (high is None or total <= high)
    except (NotExactError, InputError):
        pass
    parts = body.args if isinstance(body, SumExpression) else (body,)
    size = max(1.0, *(abs(value(part)) for part in parts))
    at = value(body)
    return all(
        x is None or sign * (value(x) - at) <= FEASIBILITY_TOLERANCE * max(size, abs(value(x)))
        for sign, x in ((1, lower), (-1, upper))
    )
