"""SCIP: nonconvex models through Pyomo's own interface."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import pyscipopt  # noqa: F401  # the extra `minlp`; missing, this import says so
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.core.base import ConcreteModel

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.through_pyomo.incumbent import LogStream, checked_incumbent, closed, finite
from gadgetopt.system.result import Limits, Status, solver_log

#: Largest seed that SCIP accepts.
LARGEST_SEED = 2**31 - 1


def solve_pyomo(
    model: ConcreteModel,
    limits: Limits,
    seed: int = 0,
    warm_start: bool = False,
    given: Mapping[str, Any] | None = None,
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
    given : mapping, optional
        Further options of SCIP.

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
        **(given or {}),
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
            tee=[LogStream()] if solver_log.isEnabledFor(logging.INFO) else False,
        )
    except InfeasibleConstraintException as error:
        return SolverOutcome(Status.INFEASIBLE, reason=str(error))
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ModelRefused(f"SCIP does not accept the model: {error}") from error
    outcome = _read(results, limits)
    if outcome.status in (Status.OPTIMAL, Status.FEASIBLE):
        checked_incumbent(model, outcome, results.solution_loader.get_vars())
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
    limit = {
        ends.maxTimeLimit: "time_s",
        ends.interrupted: "interrupted",
        ends.iterationLimit: "solver_option",
    }.get(end)
    if end == ends.unknown and limits.memory_mb is not None:
        limit = "memory_mb"
    if end != ends.convergenceCriteriaSatisfied and limit is None:
        return SolverOutcome(Status.ERROR, reason=f"SCIP ended with: {end.name}")
    if results.objective_bound is None:
        # A model without an objective has the objective 0.
        results.objective_bound = 0.0
        results.incumbent_objective = 0.0
    bound = finite(results.objective_bound)
    if results.solution_status == SolutionStatus.noSolution:
        return SolverOutcome(Status.NO_SOLUTION, bound=bound, limit_hit=limit)
    objective = finite(results.incumbent_objective)
    optimal = end == ends.convergenceCriteriaSatisfied
    if optimal and not closed(objective, bound):
        optimal, limit = False, "gap"
    return SolverOutcome(
        Status.OPTIMAL if optimal else Status.FEASIBLE,
        objective=objective,
        bound=bound,
        limit_hit=limit,
    )
