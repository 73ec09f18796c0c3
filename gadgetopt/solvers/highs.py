"""HiGHS: linear and mixed-integer linear models, handed over as arrays."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import highspy
import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Report, solver_report
from gadgetopt.solvers.constant import (
    constant_of,
    told_with_constant,
    with_constant,
    without_large_constant,
)
from gadgetopt.solvers.exact_optimum.bases import basis_of
from gadgetopt.solvers.interrupt import PATIENCE_S, LeftAlone, run_interruptibly
from gadgetopt.solvers.outcome import NO_RAY, SolverOutcome
from gadgetopt.solvers.scaling import scaling_of
from gadgetopt.solvers.silent_highs import new_highs
from gadgetopt.solvers.standard_form import StandardForm, recession_form
from gadgetopt.system.result import (
    Limits,
    Status,
    TracePoint,
    solver_log,
)

#: Absolute gap at which a MIP counts as solved; below it HiGHS's own tolerances decide.
#: Tuned: `benchmarks/constants.py`.
ABSOLUTE_GAP = 1e-6
#: Relative distance of a scaled objective to its bound below which the solve counts as closed.
#: Tuned: `benchmarks/constants.py`.
CLOSED = 1e-6
#: HiGHS treats numbers of this size as infinite. By definition.
INFINITE = 1e20
#: Smallest coefficient that HiGHS can be told to keep; it drops smaller ones. By definition.
SMALLEST_COEFFICIENT = 1e-12
#: Columns for each row beyond which a linear program is solved without HiGHS's presolve: of the
#: pairs of trees of a network (16,901 columns, 27 rows) it took 34 s, the simplex method 0.05 s.
#: Tuned: `benchmarks/constants.py`.
WIDE = 100
#: Seconds between two lines of the log, and between two points of the trace with one incumbent.
#: Tuned: `benchmarks/constants.py`.
LOG_INTERVAL_S = 5.0
BETWEEN_BOUNDS_S = 0.1
#: An improving direction of length one must improve by this much to count as a ray.
#: Tuned: `benchmarks/constants.py`.
RAY_TOLERANCE = 1e-6


def solve_form(
    form: StandardForm,
    limits: Limits,
    seed: int = 0,
    warm_start: Floats | None = None,
    given: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Solve a compiled model with HiGHS.

    `limits.memory_mb` is ignored: HiGHS has no memory limit.

    Parameters
    ----------
    form : StandardForm
    limits : Limits
    seed : int
        Non-negative.
    warm_start : ndarray or None, shape (columns,)
        Values to start from, NaN where unknown.
    given : mapping, optional
        Further options of HiGHS.

    Returns
    -------
    SolverOutcome
        `row_duals` is set for a linear program solved to optimality. The bound of a linear program
        is its optimum; a linear program that was stopped has no bound.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model as it is.
    """
    report = solver_report()
    if not form.columns:
        return _without_columns(form)
    clock = Clock(limits)
    whole, form = form, without_large_constant(form)
    scaling = scaling_of(form)
    constant_left_out = form is not whole
    form, warm_start = scaling.scaled(form), scaling.point(warm_start)
    if report is not None:
        if constant_left_out:
            report = told_with_constant(report, whole)
        report = scaling.told(report)
    highs = pass_form(form)
    passed_s = clock.elapsed_s
    outcome = _run(highs, form, limits, seed, warm_start, given, report)
    if outcome.status is Status.UNBOUNDED:
        # HiGHS says "unbounded or infeasible"; find out which.
        outcome = unbounded_or_infeasible(form, clock.limits(), seed)
    outcome.phases_s = {"pass": passed_s, "solve": clock.elapsed_s - passed_s}
    outcome = scaling.restored(outcome)
    return with_constant(outcome, whole) if constant_left_out else outcome


def pass_form(form: StandardForm) -> highspy.Highs:
    """Return a silent `highspy.Highs` that holds the model; see `fill`."""
    highs = new_highs()
    fill(highs, form)
    return highs


def fill(highs: Any, form: StandardForm, relaxed: Floats | None = None) -> None:
    """Give a HiGHS the model.

    Parameters
    ----------
    relaxed : ndarray of float, optional
        Costs of a minimisation; it then gets the relaxation with these, without the constant.

    Raises
    ------
    ModelRefused
        If HiGHS does not accept the model, or would drop a tiny coefficient.
    """
    if form.A.nnz and np.abs(form.A.data).min() <= SMALLEST_COEFFICIENT:
        tiny = np.abs(form.A.data).argmin()
        row = int(np.searchsorted(form.A.indptr, tiny, side="right")) - 1
        raise ModelRefused(
            f"{form.rows[row].name}: HiGHS would drop the coefficient {form.A.data[tiny]} of "
            f"{form.columns[form.A.indices[tiny]].name}; rescale the constraint"
        )
    highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
    is_max = relaxed is None and form.sense == "max"
    sense = highspy.ObjSense.kMaximize if is_max else highspy.ObjSense.kMinimize
    status = highs.passModel(
        len(form.columns),
        len(form.rows),
        form.A.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(sense),
        form.offset if relaxed is None else 0.0,
        form.c if relaxed is None else relaxed,
        form.col_lower,
        form.col_upper,
        form.row_lower,
        form.row_upper,
        form.A.indptr.astype(np.int32, copy=False),
        form.A.indices.astype(np.int32, copy=False),
        form.A.data,
        form.integer.astype(np.int32) if relaxed is None else np.zeros(len(form.c), np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise ModelRefused(
            "HiGHS does not accept the model: a coefficient is 1e15 or more, or a "
            "bound is not a number"
        )


def _without_columns(form: StandardForm) -> SolverOutcome:
    if np.any(form.row_lower > 0) or np.any(form.row_upper < 0):
        return SolverOutcome(Status.INFEASIBLE)
    constant = constant_of(form)
    return SolverOutcome(
        Status.OPTIMAL,
        values=np.empty(0),
        objective=constant,
        bound=constant,
        row_duals=np.zeros(len(form.rows)),
    )


def _wide(form: StandardForm) -> bool:
    """Return True for a linear program of many more columns than rows, which presolve delays."""
    columns = len(form.integer)
    return not form.integer.any() and columns > WIDE * max(1, form.A.shape[0])


def _run(
    highs: highspy.Highs,
    form: StandardForm,
    limits: Limits,
    seed: int,
    warm_start: Floats | None,
    given: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> SolverOutcome:
    options: dict[str, Any] = {
        **({"presolve": "off"} if _wide(form) else {}),
        **(given or {}),
        "threads": limits.threads,
        "random_seed": seed,
        "mip_rel_gap": limits.rel_gap,
        "mip_abs_gap": ABSOLUTE_GAP,
        "time_limit": math.inf if limits.time_s is None else max(0.0, limits.time_s),
    }
    for option, value in options.items():
        if highs.setOptionValue(option, value) == highspy.HighsStatus.kError:
            raise ModelRefused(f"HiGHS does not accept {value} for its option {option}")
    if warm_start is not None:
        known = np.flatnonzero(np.isfinite(warm_start))
        highs.setSolution(len(known), known.astype(np.int32), warm_start[known])
    events = _subscribe(highs, report)

    def solve() -> None:
        highs.run()
        # The scheduler belongs to this thread and keeps its number of threads until it is reset.
        highspy.Highs.resetGlobalScheduler(True)

    try:
        _, interrupted = run_interruptibly(solve, highs.cancelSolve, PATIENCE_S)
    except LeftAlone:
        return _found_so_far(events)
    outcome = _read(highs, form, interrupted)
    outcome.trace = tuple(events.trace)
    if form.integer.any():
        _measure_search(highs, outcome, events.root)
    elif outcome.status is Status.OPTIMAL:
        outcome.lp_bound = outcome.bound
    return outcome


def _measure_search(highs: highspy.Highs, outcome: SolverOutcome, root: list[float]) -> None:
    """Note the number of nodes, and the bound at the root."""
    nodes = int(highs.getInfo().mip_node_count)
    if nodes < 0:
        return
    outcome.counts = {"nodes": nodes}
    outcome.root_bound = root[-1] if root else None
    if nodes <= 1 and outcome.limit_hit is None and outcome.bound is not None:
        outcome.root_bound = float(outcome.bound)  # solved there, perhaps without a further event


@dataclass
class _Events:
    """What HiGHS has told during a solve.

    Attributes
    ----------
    root : list of float
        Dual bounds before the first node is branched on.
    best : ndarray or None, shape (columns,)
        The incumbent.
    """

    trace: list[TracePoint] = field(default_factory=list)
    root: list[float] = field(default_factory=list)
    best: Floats | None = None


def _found_so_far(events: _Events) -> SolverOutcome:
    """Return the outcome of a solve that does not end, by what it has told."""
    last = events.trace[-1] if events.trace else None
    found = last is not None and events.best is not None
    return SolverOutcome(
        Status.FEASIBLE if found else Status.NO_SOLUTION,
        values=events.best if found else None,
        objective=last.incumbent if last is not None and found else None,
        bound=None if last is None else last.bound,
        limit_hit="interrupted",
        trace=tuple(events.trace),
    )


def _subscribe(highs: highspy.Highs, report: Report | None) -> _Events:
    """Turn interruption, log and trace on; return the events, which fill during the solve.

    Parameters
    ----------
    report : callable or None
        Is told of each point of the trace.
    """
    highs.HandleUserInterrupt = True
    # Otherwise events within five seconds of the last are left out, among them the root's end.
    highs.setOptionValue("mip_min_logging_interval", 0.0)
    if solver_log.isEnabledFor(logging.INFO):
        highs.setOptionValue("mip_min_logging_interval", LOG_INTERVAL_S)
        highs.cbLogging.subscribe(lambda event: solver_log.info(event.message.rstrip("\n")))
    events = _Events()
    trace = events.trace
    start = time.perf_counter()

    def record(event: Any) -> None:
        incumbent = _finite(event.data_out.mip_primal_bound)
        bound = _finite(event.data_out.mip_dual_bound)
        if bound is not None and event.data_out.mip_node_count == 0:
            events.root.append(bound)
        now = time.perf_counter() - start
        last = trace[-1] if trace else None
        new = last is None or last.incumbent != incumbent
        better = last is not None and last.bound != bound
        if new or (better and now > trace[-1].time_s + BETWEEN_BOUNDS_S):
            trace.append(TracePoint(now, incumbent, bound))
            if report is not None:
                report(incumbent, bound)

    def keep(event: Any) -> None:
        events.best = np.array(event.data_out.mip_solution)
        record(event)

    highs.cbMipImprovingSolution.subscribe(keep)
    highs.cbMipLogging.subscribe(record)
    return events


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _read(highs: highspy.Highs, form: StandardForm, interrupted: bool) -> SolverOutcome:
    ends = highspy.HighsModelStatus
    end = highs.getModelStatus()
    info = highs.getInfo()
    mip = bool(form.integer.any())
    if end == ends.kInfeasible:
        return SolverOutcome(Status.INFEASIBLE)
    if end in (ends.kUnbounded, ends.kUnboundedOrInfeasible):
        return SolverOutcome(Status.UNBOUNDED)
    limit = {
        ends.kTimeLimit: "time_s",
        ends.kInterrupt: "interrupted",
        ends.kIterationLimit: "solver_option",
        ends.kSolutionLimit: "solver_option",
    }.get(end)
    if end != ends.kOptimal and limit is None:
        return SolverOutcome(
            Status.ERROR, reason=f"HiGHS ended with: {highs.modelStatusToString(end)}"
        )
    if interrupted and end != ends.kOptimal:
        limit = "interrupted"
    bound = _finite(info.mip_dual_bound) if mip else None
    feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    if end == ends.kOptimal and not feasible:
        return SolverOutcome(Status.ERROR, reason="HiGHS's optimal solution is not feasible")
    if not feasible:
        return SolverOutcome(Status.NO_SOLUTION, bound=bound, limit_hit=limit)
    solution = highs.getSolution()
    objective = float(info.objective_function_value)
    optimal = end == ends.kOptimal
    if mip and optimal and _open(objective, bound):
        optimal, limit = False, "gap"
    return SolverOutcome(
        Status.OPTIMAL if optimal else Status.FEASIBLE,
        values=np.array(solution.col_value),
        objective=objective,
        bound=objective if optimal and not mip else bound,
        limit_hit=limit,
        row_duals=np.array(solution.row_dual) if optimal and not mip else None,
        basis=basis_of(highs) if optimal and not mip else None,
    )


def _open(objective: float, bound: float | None) -> bool:
    if bound is None:
        return True
    return abs(objective - bound) > CLOSED * max(1.0, abs(objective), abs(bound))


def unbounded_or_infeasible(form: StandardForm, limits: Limits, seed: int) -> SolverOutcome:
    """Tell an unbounded model from an infeasible one.

    With rational data, a feasible point and an improving ray of the linear relaxation make a
    mixed-integer model unbounded; without the point it is infeasible.
    """
    clock = Clock(limits)
    feasibility = replace(form, c=np.zeros(len(form.columns)), offset=0.0)
    point = _run(pass_form(feasibility), feasibility, limits, seed, None)
    if point.status is not Status.OPTIMAL:
        return replace(point, values=None, objective=None, bound=None)
    cone = recession_form(form)
    ray = _run(pass_form(cone), cone, clock.limits(), seed, None)
    if ray.status is Status.OPTIMAL and ray.objective is not None:
        if abs(float(ray.objective)) > RAY_TOLERANCE:
            far = _bound_taken_for_infinite(form)
            if far is None:
                return SolverOutcome(Status.UNBOUNDED)
            return SolverOutcome(
                Status.ERROR, reason=f"{far}: HiGHS takes its bound of 1e20 or more for infinite"
            )
        return SolverOutcome(Status.ERROR, reason=NO_RAY)
    return replace(ray, status=Status.NO_SOLUTION, values=None, objective=None, bound=None)


def _bound_taken_for_infinite(form: StandardForm) -> str | None:
    """Return the name of a column or row with a finite bound that HiGHS treats as infinite."""
    for things, bounds in (
        (form.columns, (form.col_lower, form.col_upper)),
        (form.rows, (form.row_lower, form.row_upper)),
    ):
        for bound in bounds:
            far = np.flatnonzero(np.isfinite(bound) & (np.abs(bound) >= INFINITE))
            if far.size:
                return str(things[far[0]].name)
    return None
