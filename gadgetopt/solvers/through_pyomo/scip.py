"""SCIP through Pyomo's own interface."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyscipopt  # noqa: F401  # the extra `minlp`; missing, this import says so
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Report, solver_report
from gadgetopt.solvers.constant import told_with_constant, with_constant, without_constant
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.scaling import scaling_of
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.solvers.through_pyomo.incumbent import LogStream, closed, finite
from gadgetopt.solvers.through_pyomo.plain import Plain, plain_model, told_apart
from gadgetopt.solvers.through_pyomo.scip_events import Events
from gadgetopt.system.result import Limits, Status, solver_log

#: Largest seed that SCIP accepts. By definition.
LARGEST_SEED = 2**31 - 1
#: SCIP drops coefficients of this size and below. By definition.
SMALLEST_COEFFICIENT = 1e-9


def solve_form(
    form: StandardForm,
    limits: Limits,
    seed: int = 0,
    warm_start: Floats | None = None,
    given: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Solve a compiled linear model with SCIP.

    Parameters and outcome are those of HiGHS. There are no duals.

    Raises
    ------
    ModelRefused
        If SCIP would take a number of the model for zero or for infinite.
    """
    clock, report = Clock(limits), solver_report()
    whole, form = form, without_constant(form)
    scaling = scaling_of(form)
    form, warm_start = scaling.scaled(form), scaling.point(warm_start)
    if report is not None:
        report = scaling.told(told_with_constant(report, whole))
    sizes = np.abs(form.A.data)
    if sizes.size and sizes.min() <= SMALLEST_COEFFICIENT:
        row = int(np.searchsorted(form.A.indptr, sizes.argmin(), side="right")) - 1
        raise ModelRefused(
            f"{form.rows[row].name}: SCIP would drop the coefficient {sizes.min()}; rescale the "
            "constraint"
        )
    outcome = solve_plain(plain_model(form), limits, seed, warm_start, given, report)
    if outcome.status is Status.UNBOUNDED:
        outcome = told_apart(form, outcome, clock.limits(), seed)
    return with_constant(scaling.restored(outcome), whole)


def solve_plain(
    plain: Plain,
    limits: Limits,
    seed: int = 0,
    warm_start: Floats | None = None,
    given: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> SolverOutcome:
    """Solve a plain Pyomo model, linear or not, with SCIP.

    SCIP handles Ctrl-C itself.

    Parameters
    ----------
    plain : Plain
    limits : Limits
    seed : int
    warm_start : ndarray or None, shape (columns,)
        Values of the integer variables to start from, NaN where unknown.
    given : mapping, optional
        Further options of SCIP.
    report : callable, optional
        Is told of incumbents and bounds.

    Returns
    -------
    SolverOutcome
        `UNBOUNDED` also where SCIP cannot tell that from infeasible.

    Raises
    ------
    ModelRefused
        If SCIP does not know a function of the model.
    """
    solver = SolverFactory("scip_direct")
    events = Events(report)
    _attach(solver, events)
    options: dict[str, Any] = {
        **(given or {}),
        "randomization/randomseedshift": seed % LARGEST_SEED,
        "limits/gap": limits.rel_gap,
    }
    if limits.memory_mb is not None:
        options["limits/memory"] = limits.memory_mb
    if warm_start is not None:
        plain.start_from(warm_start)
    whole = [v for v in plain.variables if v.is_integer()]
    start = time.perf_counter()
    try:
        results = solver.solve(
            plain.model,
            load_solutions=False,
            raise_exception_on_nonoptimal_result=False,
            time_limit=limits.time_s,
            threads=limits.threads,
            warmstart_discrete_vars=bool(whole) and all(v.value is not None for v in whole),
            solver_options=options,
            tee=[LogStream()] if solver_log.isEnabledFor(logging.INFO) else False,
        )
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ModelRefused(f"SCIP does not accept the model: {error}") from error
    outcome = _read(results, limits)
    outcome.trace = tuple(events.trace)
    if outcome.status in (Status.OPTIMAL, Status.FEASIBLE):
        outcome.values = plain.values(results.solution_loader.get_vars())
    seconds = time.perf_counter() - start
    optimize = results.timing_info.scip_time
    _measure(outcome, solver)
    outcome.phases_s = {"pass": max(0.0, seconds - optimize), "solve": optimize}
    return outcome


def _attach(solver: Any, events: Events) -> None:
    """Have Pyomo's interface to SCIP give each model that it makes a handler of events."""
    create = solver._create_solver_model

    def created(*arguments: Any) -> Any:
        made = create(*arguments)
        made[0].includeEventhdlr(events, "gadgetopt", "trace and criteria of the run")
        return made

    solver._create_solver_model = created


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
    if end in (ends.unbounded, ends.infeasibleOrUnbounded):
        told = None if end == ends.unbounded else UNDECIDED
        return SolverOutcome(Status.UNBOUNDED, reason=told)
    limit = {
        ends.maxTimeLimit: "time_s",
        ends.interrupted: "interrupted",
        ends.iterationLimit: "solver_option",
    }.get(end)
    if end == ends.unknown and limits.memory_mb is not None:
        limit = "memory_mb"
    if end != ends.convergenceCriteriaSatisfied and limit is None:
        return SolverOutcome(Status.ERROR, reason=f"SCIP ended with: {end.name}")
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


#: What SCIP says where it cannot tell two statuses apart.
UNDECIDED = "SCIP cannot tell whether the model is unbounded or infeasible"
