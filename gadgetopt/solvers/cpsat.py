"""CP-SAT: integer linear models translated exactly, and native constraint models."""

from __future__ import annotations

import importlib.metadata
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Report, of_bounds, solver_report
from gadgetopt.solvers import highs
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.formulations.options import set_cpsat
from gadgetopt.solvers.interrupt import run_interruptibly
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm, recession_form
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.solvers.to_cpsat.integer_bounds import find_bounds
from gadgetopt.solvers.to_cpsat.integer_form import (
    IntegerForm,
    integer_form,
    is_improving_ray,
    satisfies,
)
from gadgetopt.solvers.to_cpsat.translation import Scaling, Translation, translate
from gadgetopt.system.result import (
    Limits,
    Status,
    TracePoint,
    solver_log,
)

#: In the search for a feasible point that proves unboundedness, unbounded variables are kept within
#: this distance of their other bound, or of zero. Tuned: `benchmarks/constants.py`.
BOX = 10**6


def solve_form(
    form: StandardForm,
    limits: Limits,
    seed: int = 0,
    warm_start: Floats | None = None,
    given: Mapping[str, Any] | None = None,
    scaling: Scaling = "exact",
) -> SolverOutcome:
    """Solve a compiled integer linear model with CP-SAT.

    Coefficients are read as the simplest rationals that round to them and scaled to integers
    exactly, so objective and bound are exact. Missing finite bounds are derived from the rows, or
    from the direction of the objective.

    Parameters
    ----------
    form : StandardForm
    limits : Limits
    seed : int
    warm_start : ndarray or None, shape (columns,)
        Values to hint, NaN where unknown.
    given : mapping, optional
        Further parameters of CP-SAT.
    scaling : "exact" or "outward"
        "outward" relaxes rows that do not fit into 64 bits instead of refusing them. The bound is
        then valid; an incumbent is returned only if it satisfies the original rows exactly; and the
        status is `OPTIMAL` only if such an incumbent's exact objective meets the bound.

    Returns
    -------
    SolverOutcome

    Raises
    ------
    ModelRefused
        If a variable is continuous or cannot be bounded, or numbers do not fit into 64 bits.
    """
    start, report = time.perf_counter(), solver_report()
    try:
        integers = integer_form(form)
        unbounded = find_bounds(integers)
        if unbounded:
            outcome = _solve_without_bounds(form, integers, unbounded, limits, seed)
            outcome.phases_s = {"solve": time.perf_counter() - start}
            return outcome
        translation = translate(integers, scaling)
    except TriviallyInfeasibleError as error:
        return SolverOutcome(Status.INFEASIBLE, reason=str(error))
    if warm_start is not None:
        _hint(translation, integers, warm_start)
    passed = time.perf_counter()
    outcome = _solve_translation(integers, translation, limits, seed, given, report)
    outcome.phases_s = {"pass": passed - start, "solve": time.perf_counter() - passed}
    return outcome


def solve_cp(
    model: cp_model.CpModel,
    limits: Limits,
    seed: int = 0,
    linearization_level: int | None = None,
    work_s: float | None = None,
) -> SolverOutcome:
    """Solve a native CP-SAT model.

    Parameters
    ----------
    model : ortools.sat.python.cp_model.CpModel
        With or without an objective.
    limits : Limits
    seed : int
    linearization_level : int, optional
        How much of the model CP-SAT adds to its linear relaxation: 0 nothing, 1 (its default) the
        constraints that it judges useful, 2 everything. Models whose linear relaxation is weak are
        faster at 0.
    work_s : float, optional
        CP-SAT's deterministic seconds, by which it stops after the same work on every machine,
        however busy. They are about seconds of the processor.

    Returns
    -------
    SolverOutcome
        `values[x.index]` is the value of a variable; `value_of` reads literals and their negations
        too. Objective and bound are exact if the model's objective has integer coefficients.
    """
    start, report = time.perf_counter(), solver_report()
    objective = _NativeObjective.of(model)
    given = None if work_s is None else {"max_deterministic_time": work_s}
    run = _run(model, limits, seed, float, linearization_level, given, report)
    values = list(run.response.solution) if run.has_solution else None
    bound: Number | None = None
    value: Number | None = None
    if objective.exact:
        bound = objective.value(run.response.inner_objective_lower_bound)
        if values is not None:
            value = objective.value(objective.inner(values))
    elif objective.present:
        bound = float(run.response.best_objective_bound)
        value = float(run.response.objective_value) if values is not None else None
    outcome = _outcome(run, values, value, bound if run.bounded else None, limits)
    outcome.phases_s = {"solve": time.perf_counter() - start}
    outcome.versions = {"ortools": importlib.metadata.version("ortools")}
    return outcome


def value_of(values: Floats, variable: Any) -> int:
    """Return the value that a `solve_cp` incumbent gives a variable, a literal or its negation."""
    index = int(variable.index)
    return round(values[index]) if index >= 0 else 1 - round(values[-index - 1])


@dataclass(frozen=True)
class _NativeObjective:
    """`scale * (sum(coefficients * x) + offset)`; exact if the scale is 1 or -1."""

    present: bool
    exact: bool
    columns: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()
    scale: int = 1
    offset: Fraction = Fraction(0)

    @classmethod
    def of(cls, model: cp_model.CpModel) -> _NativeObjective:
        if not model.has_objective():
            return cls(present=False, exact=False)
        # Reading `objective` of a model with a fractional objective would add an integer one.
        if model.proto.has_floating_point_objective():
            return cls(present=True, exact=False)
        written = model.proto.objective
        scale = written.scaling_factor or 1.0
        if abs(scale) != 1 or any(j < 0 for j in written.vars):
            return cls(present=True, exact=False)
        return cls(
            present=True,
            exact=True,
            columns=tuple(written.vars),
            coefficients=tuple(written.coeffs),
            scale=int(scale),
            offset=Fraction(written.offset),
        )

    def inner(self, values: list[int]) -> int:
        return sum(a * values[j] for j, a in zip(self.columns, self.coefficients, strict=True))

    def value(self, inner: int) -> Number:
        value = self.scale * (inner + self.offset)
        return int(value) if value.denominator == 1 else value


@dataclass
class _Run:
    """CP-SAT's response, and what stopped the run."""

    response: Any
    status: Any
    interrupted: bool
    seconds: float
    trace: list[TracePoint]
    bound_reported: bool
    with_options: bool = False

    @property
    def has_solution(self) -> bool:
        return self.status in (cp_model.OPTIMAL, cp_model.FEASIBLE)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of the search; CP-SAT has no tree, so it has no nodes and no root."""
        response = self.response
        return {"branches": int(response.num_branches), "conflicts": int(response.num_conflicts)}

    @property
    def bounded(self) -> bool:
        """True if the response's bound is meaningful.

        If a run ended before its search began, the bound field is still zero.
        """
        return self.has_solution or (self.status == cp_model.UNKNOWN and self.bound_reported)


class _Watch(cp_model.CpSolverSolutionCallback):
    """Record incumbents and bounds, and stop the search at the requested gap.

    CP-SAT's relative gap refers to its own objective, which lacks the offset.
    """

    def __init__(
        self,
        solver: Any,
        rel_gap: float,
        scale: Callable[[float], float],
        report: Report | None,
    ):
        super().__init__()
        self.report = report
        self.solver = solver
        self.rel_gap = rel_gap
        self.scale = scale
        self.start = time.perf_counter()
        self.incumbent: float | None = None
        self.bound: float | None = None
        self.trace: list[TracePoint] = []

    def on_solution_callback(self) -> None:
        self.incumbent = self.scale(self.objective_value)
        self.bound = self.scale(self.best_objective_bound)
        self._record()

    def on_bound(self, bound: float) -> None:
        self.bound = self.scale(bound)
        self._record()

    def _record(self) -> None:
        elapsed = time.perf_counter() - self.start
        self.trace.append(TracePoint(elapsed, self.incumbent, self.bound))
        if self.report is not None:
            self.report(self.incumbent, self.bound)
        if self.rel_gap > 0 and _gap_closed(self.incumbent, self.bound, self.rel_gap):
            self.solver.stop_search()


def _gap_closed(incumbent: Number | None, bound: Number | None, rel_gap: float) -> bool:
    if incumbent is None or bound is None:
        return False
    if isinstance(incumbent, float) or isinstance(bound, float):
        apart, size = abs(float(incumbent) - float(bound)), abs(float(incumbent))
        return apart <= rel_gap * size
    allowed = Fraction(rel_gap) * max(abs(Fraction(incumbent)), Fraction(1, 10**10))
    return abs(Fraction(incumbent) - Fraction(bound)) <= allowed


def _run(
    model: cp_model.CpModel,
    limits: Limits,
    seed: int,
    scale: Callable[[float], float],
    linearization_level: int | None = None,
    given: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> _Run:
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    for name, value in (given or {}).items():
        if not set_cpsat(parameters, name, value):
            raise ModelRefused(f"CP-SAT does not accept {value} for its option {name}")
    parameters.num_workers = limits.threads
    parameters.random_seed = seed
    parameters.catch_sigint_signal = False
    if linearization_level is not None:
        parameters.linearization_level = linearization_level
    if limits.time_s is not None:
        parameters.max_time_in_seconds = max(0.0, limits.time_s)
    if limits.memory_mb is not None:
        parameters.max_memory_in_mb = max(1, int(limits.memory_mb))
    if solver_log.isEnabledFor(logging.INFO):
        parameters.log_search_progress = True
        parameters.log_to_stdout = False
        solver.log_callback = lambda line: solver_log.info(line.rstrip("\n"))
    watch = _Watch(solver, limits.rel_gap, scale, report if model.has_objective() else None)
    if model.has_objective():
        solver.best_bound_callback = watch.on_bound
    start = time.perf_counter()
    status, interrupted = run_interruptibly(lambda: solver.solve(model, watch), solver.stop_search)
    seconds = time.perf_counter() - start
    trace = watch.trace if model.has_objective() else []
    bounded = watch.bound is not None
    return _Run(solver.response_proto, status, interrupted, seconds, trace, bounded, bool(given))


def _outcome(
    run: _Run,
    values: list[int] | None,
    objective: Number | None,
    bound: Number | None,
    limits: Limits,
) -> SolverOutcome:
    """Return the outcome of a run whose objective and bound are those of the model."""
    if run.status == cp_model.INFEASIBLE:
        return SolverOutcome(Status.INFEASIBLE, counts=run.counts, trace=tuple(run.trace))
    if run.status == cp_model.MODEL_INVALID:
        return SolverOutcome(Status.ERROR, reason="CP-SAT rejects the model as invalid")
    if values is None:
        status = Status.NO_SOLUTION
    elif run.status == cp_model.OPTIMAL or _gap_closed(objective, bound, 0.0):
        status = Status.OPTIMAL
    else:
        status = Status.FEASIBLE
    exact = values is None or all(int(float(x)) == x for x in values)
    return SolverOutcome(
        status if exact else Status.ERROR,
        values=None if values is None else np.array(values, dtype=float),
        objective=objective,
        bound=bound,
        limit_hit=None if status is Status.OPTIMAL else _limit_hit(run, limits, objective, bound),
        reason=None if exact else "a value of the incumbent is too large for a double",
        counts=run.counts,
        trace=tuple(run.trace),
    )


def _limit_hit(
    run: _Run, limits: Limits, objective: Number | None = None, bound: Number | None = None
) -> str | None:
    if run.interrupted:
        return "interrupted"
    if limits.rel_gap > 0 and _gap_closed(objective, bound, limits.rel_gap):
        return "gap"
    if run.status == cp_model.OPTIMAL:
        return None
    # CP-SAT does not report which limit it met, and may give up presolve long before its time is
    # up.
    if limits.time_s is not None and (limits.memory_mb is None or run.seconds > limits.time_s / 2):
        return "time_s"
    if limits.memory_mb is not None:
        return "memory_mb"
    return "solver_option" if run.with_options else None


def _solve_translation(
    form: IntegerForm,
    translation: Translation,
    limits: Limits,
    seed: int,
    given: Mapping[str, Any] | None,
    report: Report | None,
) -> SolverOutcome:
    def scaled(inner: float) -> float:
        exact = translation.bound_constant + translation.bound_unit * Fraction(inner)
        return float(form.objective(exact))

    if report is not None and not translation.exact:  # an incumbent may not satisfy the exact rows
        report = of_bounds(report)
    run = _run(translation.model, limits, seed, scaled, given=given, report=report)
    values = list(run.response.solution)[: len(form.names)] if run.has_solution else None
    bound: Number | None = None
    if form.costs:
        if run.bounded:
            inner = run.response.inner_objective_lower_bound
            best = translation.bound_constant + translation.bound_unit * inner
            bound = form.objective(math.ceil(best))
    elif run.bounded:
        bound = form.objective(0)
    if not translation.exact:
        return _outcome_of_relaxation(form, run, values, bound, limits)
    objective = None if values is None else form.objective(form.inner(values))
    return _outcome(run, values, objective, bound, limits)


def _outcome_of_relaxation(
    form: IntegerForm, run: _Run, values: list[int] | None, bound: Number | None, limits: Limits
) -> SolverOutcome:
    """Return the outcome of a relaxed model, limited to claims that hold for the exact rows."""
    if values is not None and not satisfies(form, values):
        values = None
    objective = None if values is None else form.objective(form.inner(values))
    # An optimum of the relaxation proves nothing by itself; only a closed gap does. The trace's
    # incumbents solve the relaxation, so they are left out.
    trace = [replace(point, incumbent=None) for point in run.trace]
    honest = replace(run, trace=trace)
    outcome = _outcome(honest, values, objective, bound, limits)
    if outcome.status is Status.OPTIMAL and not _gap_closed(objective, bound, 0.0):
        outcome.status = Status.FEASIBLE
        outcome.limit_hit = _limit_hit(run, limits, objective, bound)
    return outcome


def _hint(translation: Translation, form: IntegerForm, warm_start: Floats) -> None:
    bounds = zip(form.lower, form.upper, strict=True)
    for variable, x, (low, high) in zip(
        translation.variables, warm_start.tolist(), bounds, strict=True
    ):
        if math.isfinite(x) and low is not None and high is not None:
            translation.model.add_hint(variable, min(max(round(x), low), high))


def _solve_without_bounds(
    form: StandardForm, integers: IntegerForm, unbounded: list[int], limits: Limits, seed: int
) -> SolverOutcome:
    """Prove a model with unbounded variables unbounded, or refuse it."""
    refusal = ModelRefused(
        f"{integers.names[unbounded[0]]} has no finite bounds and none follow from the "
        "constraints; CP-SAT needs them"
    )
    clock = Clock(limits)
    ray = highs.solve_form(recession_form(form), limits, seed)
    if ray.status is not Status.OPTIMAL or ray.values is None:
        raise refusal
    # A vertex of the recession cone in a box has small rational coordinates, up to rounding.
    direction = [Fraction(x).limit_denominator(1000) for x in ray.values.tolist()]
    if not is_improving_ray(integers, direction):
        raise refusal
    for j in unbounded:
        low, high = integers.lower[j], integers.upper[j]
        integers.lower[j] = (-BOX if high is None else high - BOX) if low is None else low
        integers.upper[j] = (BOX if low is None else low + BOX) if high is None else high
    try:
        boxed = translate(replace(integers, costs={}), "exact")
    except TriviallyInfeasibleError as error:
        raise refusal from error
    left = clock.limits()
    point = _run(boxed.model, left, seed, float)
    if point.has_solution:
        # A feasible point and a rational ray along which the objective improves without bound.
        return SolverOutcome(Status.UNBOUNDED)
    if point.status == cp_model.UNKNOWN:
        return SolverOutcome(Status.NO_SOLUTION, limit_hit=_limit_hit(point, left))
    raise refusal
